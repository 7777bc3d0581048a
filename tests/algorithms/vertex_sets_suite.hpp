// SPDX-License-Identifier: Apache-2.0
// The tests of independent sets and colourings, for any space: known graphs with literal results, and random graphs
// whose results are compared with serial programs, and checked by the definitions, before and after updates.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "../../algorithms/colouring.hpp"
#include "../../algorithms/independent_set.hpp"
#include "../support/verify_structure.hpp"
#include "structure_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class vertex_sets_test : public structure_test<Space> {
 protected:
  using priority = algorithms::independent_set_options::priority;
  using members = std::vector<std::uint8_t>;
  using colours = std::vector<std::uint32_t>;
  static constexpr std::uint32_t none = algorithms::colouring_result::none;

  auto set_of(graph::any_graph const& g, algorithms::independent_set_options const& o = {}) {
    return algorithms::independent_set(this->space_of(g), g.view(), o);
  }
  auto colours_of(graph::any_graph const& g, std::uint64_t seed = 0) {
    return algorithms::colouring(this->space_of(g), g.view(), {.seed = seed});
  }
  /// The vertices in the order in which they are processed.
  static std::vector<graph::vertex_id> in_order(graph::any_graph const& g, algorithms::detail::vertex_rank by,
                                                std::uint64_t seed) {
    Space const space = vertex_sets_test::space_of(g);
    algorithms::detail::rounds<Space> rounds(space);
    algorithms::detail::ordered_vertices<Space> ordered(space);
    ordered.make(g.view(), by, seed, rounds);
    auto const ranks = exec::copy_out(space, ordered.order().ranks, g.vertices());
    std::vector<graph::vertex_id> all(ranks.size());
    std::iota(all.begin(), all.end(), graph::vertex_id{0});
    std::stable_sort(all.begin(), all.end(), [&](auto u, auto v) { return ranks[u] < ranks[v]; });
    return all;
  }
  /// Checks both results for a graph of which these vertices are absent.
  void expect_valid(graph::any_graph const& g, std::set<graph::vertex_id> const& absent = {}) {
    graph::csr const rows = g.to_csr();
    for (priority const prefer : {priority::random, priority::small_degrees}) {
      auto set = set_of(g, {.prefer = prefer, .seed = 5});
      ASSERT_EQ(std::accumulate(set.member.begin(), set.member.end(), std::size_t{0}), set.size);
      ASSERT_EQ(set.member, set_of(g, {.prefer = prefer, .seed = 5}).member);
      for (graph::vertex_id const v : absent) {
        ASSERT_EQ(set.member[v], 0);
        set.member[v] = 1;  // has no neighbours
      }
      ASSERT_EQ(fault_of_independent_set(rows, set.member), "");
    }
    auto result = colours_of(g, 5);
    ASSERT_EQ(result.colour, colours_of(g, 5).colour);
    for (graph::vertex_id const v : absent) {
      ASSERT_EQ(result.colour[v], none);
      result.colour[v] = 0;
    }
    ASSERT_EQ(fault_of_colouring(rows, result.colour), "");
    std::uint32_t const most =
        g.present_vertices() == 0 ? 0 : *std::max_element(result.colour.begin(), result.colour.end()) + 1;
    ASSERT_EQ(result.colours, most);
  }
};

TYPED_TEST_SUITE_P(vertex_sets_test);

TYPED_TEST_P(vertex_sets_test, of_known_graphs) {
  using members = typename TestFixture::members;
  using colours = typename TestFixture::colours;
  auto const empty = this->make(0, {});
  EXPECT_TRUE(this->set_of(empty).member.empty());
  EXPECT_EQ(this->set_of(empty).size, 0u);
  EXPECT_TRUE(this->colours_of(empty).colour.empty());
  EXPECT_EQ(this->colours_of(empty).colours, 0u);

  auto const isolated = this->make(3, {{1, 1}}, {.self_loops = true});
  EXPECT_EQ(this->set_of(isolated).member, (members{1, 1, 1}));
  EXPECT_EQ(this->set_of(isolated).size, 3u);
  EXPECT_EQ(this->colours_of(isolated).colour, (colours{0, 0, 0}));
  EXPECT_EQ(this->colours_of(isolated).colours, 1u);

  // The ends of a path have the smallest degrees, and the middle the largest.
  auto const path = this->make(3, this->path(3));
  EXPECT_EQ(this->set_of(path).member, (members{1, 0, 1}));
  EXPECT_EQ(this->colours_of(path).colour, (colours{1, 0, 1}));
  // A vertex with a leaf at each neighbour: leaves are in the set, and so is the vertex.
  auto const spider = this->make(7, {{3, 0}, {3, 1}, {3, 2}, {0, 4}, {1, 5}, {2, 6}});
  EXPECT_EQ(this->set_of(spider).member, (members{0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(this->colours_of(spider).colour, (colours{1, 1, 1, 0, 0, 0, 0}));
}

TYPED_TEST_P(vertex_sets_test, of_stars_and_cliques) {
  auto const n = static_cast<graph::vertex_id>(this->sized(30'000, 1'000));
  typename TestFixture::edges star;
  for (graph::vertex_id v = 0; v < n; ++v) star.push_back({v, n});
  auto const g = this->make(n + std::size_t{1}, star);
  EXPECT_EQ(this->set_of(g).size, n);
  EXPECT_EQ(this->colours_of(g).colours, 2u);
  EXPECT_EQ(this->colours_of(g).colour[n], 0u);
  // The colours of a clique need bitmaps of more words than a tile has lanes.
  auto const m = static_cast<graph::vertex_id>(this->sized(600, 290));
  auto const clique = this->make(m, this->clique(m));
  EXPECT_EQ(this->set_of(clique).size, 1u);
  auto got = this->colours_of(clique);
  EXPECT_EQ(got.colours, m);
  std::sort(got.colour.begin(), got.colour.end());
  for (graph::vertex_id v = 0; v < m; ++v) ASSERT_EQ(got.colour[v], v);
}

TYPED_TEST_P(vertex_sets_test, are_functions_of_the_seed) {
  using members = typename TestFixture::members;
  using colours = typename TestFixture::colours;
  auto const cycle = this->make(10, this->path(10, true));
  // Equal in every space.
  EXPECT_EQ(this->set_of(cycle, {.seed = 1}).member, (members{0, 1, 0, 1, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(this->colours_of(cycle, 1).colour, (colours{2, 0, 1, 0, 2, 1, 0, 1, 0, 1}));
  std::set<members> sets;
  std::set<colours> colourings;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    sets.insert(this->set_of(cycle, {.seed = seed << 30}).member);
    colourings.insert(this->colours_of(cycle, seed << 30).colour);
  }
  EXPECT_GT(sets.size(), 5u);
  EXPECT_GT(colourings.size(), 5u);
}

TYPED_TEST_P(vertex_sets_test, are_those_of_a_serial_program) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 20 + this->sized(300, 50) * seed;
    auto g = this->make(n, this->random_edges(random, n, n * (seed + 1)), {.self_loops = true});
    g.remove_vertices({2, 9});
    graph::csr const rows = g.to_csr();
    auto const vertices = [&](algorithms::detail::vertex_rank by) {
      auto all = this->in_order(g, by, seed);
      std::erase_if(all, [&](graph::vertex_id v) { return v == 2 || v == 9; });
      return all;
    };
    using algorithms::detail::vertex_rank;
    using priority = typename TestFixture::priority;
    ASSERT_EQ(this->set_of(g, {.prefer = priority::random, .seed = seed}).member,
              serial_independent_set(rows, vertices(vertex_rank::random)));
    ASSERT_EQ(this->set_of(g, {.prefer = priority::small_degrees, .seed = seed}).member,
              serial_independent_set(rows, vertices(vertex_rank::small_degrees_first)));
    ASSERT_EQ(this->colours_of(g, seed).colour,
              serial_colouring(rows, vertices(vertex_rank::large_degrees_first), this->none));
  }
}

TYPED_TEST_P(vertex_sets_test, small_degrees_give_larger_sets) {
  auto const log2 = static_cast<unsigned>(this->sized(13, 10));
  auto const g = this->make(std::size_t{1} << log2, this->skewed(log2, std::size_t{8} << log2));
  auto const small = this->set_of(g, {.prefer = TestFixture::priority::small_degrees});
  auto const random = this->set_of(g, {.prefer = TestFixture::priority::random});
  EXPECT_GT(small.size, random.size);
}

TYPED_TEST_P(vertex_sets_test, are_valid) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 30 + this->sized(400, 80) * seed;
    auto g = this->make(n, this->random_edges(random, n, n * (seed % 4 + 1)), {.self_loops = seed % 2 == 0});
    ASSERT_NO_FATAL_FAILURE(this->expect_valid(g));
    g.erase(this->random_edges(random, n, n));
    g.insert(this->random_edges(random, n, n / 4));
    ASSERT_NO_FATAL_FAILURE(this->expect_valid(g));
    g.remove_vertices({1, 7, static_cast<graph::vertex_id>(n - 1)});
    ASSERT_NO_FATAL_FAILURE(this->expect_valid(g, {1, 7, static_cast<graph::vertex_id>(n - 1)}));
  }
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  ASSERT_NO_FATAL_FAILURE(
      this->expect_valid(this->make(std::size_t{1} << log2, this->skewed(log2, std::size_t{8} << log2))));
}

TYPED_TEST_P(vertex_sets_test, finders_serve_graphs_of_any_size) {
  auto const space = this->space_of(this->make(0, {}));
  algorithms::independent_set_finder set(space);
  algorithms::colouring_finder colouring(space);
  std::mt19937 random(seeded(11));
  for (std::size_t const n : {0u, 40u, 700u, 33u, 1200u, 64u}) {
    auto const g = this->make(n, n > 0 ? this->random_edges(random, n, 2 * n) : typename TestFixture::edges());
    std::size_t failures = 0;
    EXPECT_EQ(this->with_failures([&] { return set.run(g.view()); }, failures), this->set_of(g).size);
    EXPECT_EQ(exec::copy_out(space, set.member(), n), this->set_of(g).member);
    EXPECT_GE(failures, n == 40 ? 3u : 0u);
    EXPECT_EQ(this->with_failures([&] { return colouring.run(g.view()); }, failures), this->colours_of(g).colours);
    EXPECT_EQ(exec::copy_out(space, colouring.colour(), n), this->colours_of(g).colour);
    EXPECT_GE(failures, n == 40 ? 4u : 0u);
  }
}

TYPED_TEST_P(vertex_sets_test, of_directed_graphs_are_refused) {
  auto const g = this->make(3, {{0, 1}}, {.directed = true});
  EXPECT_THROW(this->set_of(g), error);
  EXPECT_THROW(this->colours_of(g), error);
  EXPECT_EQ(this->colours_of(g.as_undirected()).colours, 2u);
}

REGISTER_TYPED_TEST_SUITE_P(vertex_sets_test, of_known_graphs, of_stars_and_cliques, are_functions_of_the_seed,
                            are_those_of_a_serial_program, small_degrees_give_larger_sets, are_valid,
                            finders_serve_graphs_of_any_size, of_directed_graphs_are_refused);

}  // namespace wyrm::tests
