// SPDX-License-Identifier: Apache-2.0
// The tests of strong components, for any space: known graphs with literal results, chains and cycles, and random
// graphs compared with the serial verifier, before and after updates.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "../../algorithms/strong_components.hpp"
#include "../support/verify_structure.hpp"
#include "structure_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class strong_components_test : public structure_test<Space> {
 protected:
  using typename structure_test<Space>::edges;
  using typename structure_test<Space>::ids;
  static constexpr graph::options directed{.directed = true, .self_loops = true};

  auto of(graph::any_graph const& g) { return algorithms::strong_components(this->space_of(g), g.view()); }
  auto of(std::size_t n, edges const& all) { return of(this->make(n, all, directed)); }
  void expect_verified(graph::any_graph const& g, algorithms::components_result const& got) {
    ids const want = serial_strong_components(g.to_csr());
    ASSERT_EQ(got.label, want);
    std::map<graph::vertex_id, std::size_t> sizes;
    for (graph::vertex_id const v : want) ++sizes[v];
    ASSERT_EQ(got.count, sizes.size() - (g.vertices() - g.present_vertices()));
    std::size_t largest = 0;
    for (auto const& [v, size] : sizes) largest = std::max(largest, size);
    ASSERT_EQ(got.largest, g.present_vertices() == 0 ? 0 : largest);
  }
  void expect_verified(graph::any_graph const& g) { expect_verified(g, of(g)); }
};

TYPED_TEST_SUITE_P(strong_components_test);

TYPED_TEST_P(strong_components_test, known_graphs) {
  using ids = typename TestFixture::ids;
  auto const none = this->of(0, {});
  EXPECT_TRUE(none.label.empty());
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(none.largest, 0u);
  auto const isolated = this->of(3, {{1, 1}});
  EXPECT_EQ(isolated.label, (ids{0, 1, 2}));
  EXPECT_EQ(isolated.count, 3u);
  EXPECT_EQ(isolated.largest, 1u);
  // A cycle of three, an arc to a pair, and a vertex before and one behind all.
  auto const several = this->of(7, {{6, 4}, {4, 2}, {2, 5}, {5, 4}, {2, 3}, {3, 1}, {1, 3}, {1, 0}});
  EXPECT_EQ(several.label, (ids{0, 1, 2, 1, 2, 2, 6}));
  EXPECT_EQ(several.count, 4u);
  EXPECT_EQ(several.largest, 3u);
  // Two cycles with a common vertex are one component; with an arc between them they are two.
  EXPECT_EQ(this->of(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}}).label, (ids{0, 0, 0, 0, 0}));
  EXPECT_EQ(this->of(6, {{3, 4}, {4, 5}, {5, 3}, {0, 1}, {1, 2}, {2, 0}, {4, 1}}).label, (ids{0, 0, 0, 3, 3, 3}));
}

TYPED_TEST_P(strong_components_test, absent_vertices) {
  using ids = typename TestFixture::ids;
  auto g = this->make(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}, {4, 5}}, this->directed);
  g.remove_vertices({1, 5});
  auto const got = this->of(g);
  EXPECT_EQ(got.label, (ids{0, 1, 2, 2, 2, 5}));
  EXPECT_EQ(got.count, 2u);
  EXPECT_EQ(got.largest, 3u);
  g.remove_vertices({0, 2, 3, 4});
  EXPECT_EQ(this->of(g).count, 0u);
  EXPECT_EQ(this->of(g).largest, 0u);
}

TYPED_TEST_P(strong_components_test, undirected_graphs_have_connected_components) {
  std::mt19937 random(seeded(1));
  auto const g = this->make(400, this->random_edges(random, 400, 380), {.self_loops = true});
  auto const want = algorithms::components(this->space_of(g), g.view());
  auto const got = this->of(g);
  EXPECT_EQ(got.label, want.label);
  auto const space = this->space_of(g);
  algorithms::strong_component_finder finder(space);
  auto const run = finder.run(g.view());
  EXPECT_EQ(exec::copy_out(space, finder.label(), 400), want.label);
  EXPECT_EQ(run.count, want.count);
  EXPECT_EQ(run.largest, want.largest);
}

TYPED_TEST_P(strong_components_test, paths_and_cycles) {
  auto const n = static_cast<graph::vertex_id>(this->sized(3'000, 100));
  auto const names = this->random_names(n, 5);
  for (bool const is_cycle : {false, true}) {
    auto edges = this->path(n, is_cycle);
    EXPECT_EQ(this->of(n, edges).count, is_cycle ? 1u : n);
    EXPECT_EQ(this->of(n, this->renamed(edges, names)).largest, is_cycle ? n : 1u);
    for (graph::edge& e : edges) e = {e.target, e.source};
    EXPECT_EQ(this->of(n, edges).largest, is_cycle ? n : 1u);
  }
}

TYPED_TEST_P(strong_components_test, chains_of_components) {
  // Pairs, each with an arc to the next one, in ascending and in descending order of ids, and in another one.
  auto const pairs = static_cast<graph::vertex_id>(this->sized(1'000, 40));
  for (unsigned order = 0; order < 3; ++order) {
    SCOPED_TRACE(order);
    typename TestFixture::edges edges;
    auto names = this->random_names(2 * std::size_t{pairs}, 6);
    if (order < 2) std::sort(names.begin(), names.end());
    if (order == 1) std::reverse(names.begin(), names.end());
    for (graph::vertex_id p = 0; p < pairs; ++p) {
      edges.push_back({2 * p, 2 * p + 1});
      edges.push_back({2 * p + 1, 2 * p});
      if (p + 1 < pairs) edges.push_back({2 * p, 2 * p + 2});
    }
    auto const g = this->make(names.size(), this->renamed(edges, names), this->directed);
    auto const got = this->of(g);
    EXPECT_EQ(got.count, pairs);
    EXPECT_EQ(got.largest, 2u);
    this->expect_verified(g, got);
  }
}

TYPED_TEST_P(strong_components_test, agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 30 + this->sized(300, 60) * seed;
    auto g = this->make(n, this->random_edges(random, n, n * (seed % 4 + 2) / 2), this->directed);
    ASSERT_NO_FATAL_FAILURE(this->expect_verified(g));
    g.erase(this->random_edges(random, n, n));
    g.insert(this->random_edges(random, n, n / 4));
    ASSERT_NO_FATAL_FAILURE(this->expect_verified(g));
    g.remove_vertices({1, static_cast<graph::vertex_id>(n - 1), 7});
    ASSERT_NO_FATAL_FAILURE(this->expect_verified(g));
  }
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  for (std::size_t const factor : {1u, 8u}) {
    auto edges = this->skewed(log2, factor << log2);
    ASSERT_NO_FATAL_FAILURE(this->expect_verified(this->make(std::size_t{1} << log2, edges, this->directed)));
    for (graph::edge& e : edges) e = {e.target, e.source};
    edges.push_back({0, 3});
    ASSERT_NO_FATAL_FAILURE(this->expect_verified(this->make(std::size_t{1} << log2, edges, this->directed)));
  }
}

TYPED_TEST_P(strong_components_test, of_many_components_of_all_sizes) {
  // Random graphs side by side, with arcs from each to later ones, under other names.
  std::mt19937 random(seeded(9));
  typename TestFixture::edges edges;
  graph::vertex_id n = 0;
  for (unsigned block = 0; block < 40; ++block) {
    graph::vertex_id const size = 1 + static_cast<graph::vertex_id>(random() % (block % 10 == 0 ? 60 : 6));
    for (unsigned i = 0; i < 2 * size; ++i)
      edges.push_back(
          {n + static_cast<graph::vertex_id>(random() % size), n + static_cast<graph::vertex_id>(random() % size)});
    n += size;
    if (block > 0)
      for (unsigned i = 0; i < 3; ++i)
        edges.push_back({static_cast<graph::vertex_id>(random() % (n - size)),
                         n - 1 - static_cast<graph::vertex_id>(random() % size)});
  }
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    this->expect_verified(this->make(n, this->renamed(edges, this->random_names(n, seed)), this->directed));
}

TYPED_TEST_P(strong_components_test, a_finder_serves_graphs_of_any_size) {
  auto const space = this->space_of(this->make(0, {}));
  algorithms::strong_component_finder finder(space);
  std::mt19937 random(seeded(11));
  for (std::size_t const n : {0u, 40u, 700u, 33u, 1200u, 64u}) {
    auto const g =
        this->make(n, n > 0 ? this->random_edges(random, n, 2 * n) : typename TestFixture::edges(), this->directed);
    auto const run = finder.run(g.view());
    this->expect_verified(g, {exec::copy_out(space, finder.label(), n), run.count, run.largest});
  }
}

TYPED_TEST_P(strong_components_test, errors) {
  auto const g = this->make(3, {{0, 1}}, {.directed = true, .in_neighbours = false});
  try {
    this->of(g);
    FAIL() << "accepted a graph without in-neighbours";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument);
  }
  auto const h = this->make(4, {{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 2}}, this->directed);
  auto const space = this->space_of(h);
  algorithms::strong_component_finder finder(space);
  std::size_t failures = 0;
  EXPECT_EQ(this->with_failures([&] { return finder.run(h.view()).count; }, failures), 2u);
  EXPECT_GE(failures, 6u);
  EXPECT_EQ(exec::copy_out(space, finder.label(), 4), (typename TestFixture::ids{0, 0, 2, 2}));
}

REGISTER_TYPED_TEST_SUITE_P(strong_components_test, known_graphs, absent_vertices,
                            undirected_graphs_have_connected_components, paths_and_cycles, chains_of_components,
                            agree_with_the_verifier, of_many_components_of_all_sizes,
                            a_finder_serves_graphs_of_any_size, errors);

}  // namespace wyrm::tests
