// SPDX-License-Identifier: Apache-2.0
// Tests algorithms on chains of paths and fans: frontiers of one vertex, which a team processes, many in one launch,
// and frontiers that are larger than a team processes, in turn.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../algorithms/betweenness.hpp"
#include "../../algorithms/bfs.hpp"
#include "../../algorithms/core_numbers.hpp"
#include "../../algorithms/detail/rounds.hpp"
#include "../../algorithms/sssp.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/any_graph.hpp"
#include "../../graph/types.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class small_rounds_test : public any_graph_test<Space> {
 protected:
  /// A chain: for each width a path of `length` edges, and then the width of vertices between the end of the path and
  /// the beginning of the next one. Vertices are numbered by their distances from vertex 0.
  struct chain {
    std::vector<graph::edge> edges;
    std::vector<std::uint32_t> distance;
    std::uint32_t last = 0;  // vertex

    chain(std::uint32_t length, std::vector<std::uint32_t> const& widths) : distance{0} {
      for (std::uint32_t const width : widths) {
        for (std::uint32_t i = 0; i < length; ++i) append({last});
        std::uint32_t const from = last;
        std::vector<std::uint32_t> fan;
        for (std::uint32_t i = 0; i < width; ++i) {
          last = from;
          append({from});
          fan.push_back(last);
        }
        append(fan);
      }
    }
    /// Appends a vertex after others, which have the same distance.
    void append(std::vector<std::uint32_t> const& after) {
      auto const v = static_cast<std::uint32_t>(distance.size());
      for (std::uint32_t const u : after) edges.push_back({u, v});
      distance.push_back(distance[after.front()] + 1);
      last = v;
    }
    [[nodiscard]] std::size_t vertices() const { return distance.size(); }
  };
  static chain mixed() { return chain(20, {3, 40, 3000, 1, 700, 2}); }
};

TYPED_TEST_SUITE_P(small_rounds_test);

TYPED_TEST_P(small_rounds_test, a_team_ends_before_a_large_frontier) {
  auto const c = typename TestFixture::chain(20, {3000, 1});
  auto const g = this->make(c.vertices(), c.edges);
  auto const space = this->space_of(g);
  algorithms::detail::rounds<TypeParam> rounds(space);
  exec::buffer<std::uint32_t, TypeParam> distances(space, c.vertices());
  exec::buffer<algorithms::detail::search_totals, TypeParam> totals(space, 1);
  exec::buffer<graph::vertex_id, TypeParam> source(space, 1);
  exec::write(space, source.data(), graph::vertex_id{0});
  rounds.begin(g.view());
  exec::for_each_lane<32>(space, 1, algorithms::detail::begin_search{g.view(), source.data(), rounds.now()});
  algorithms::detail::visit_frontier const visit{g.view(), distances.data(), 0, {}, {}, totals.data()};
  std::uint32_t const small = algorithms::detail::small_frontier(space);
  ASSERT_LT(small, 3000u);
  bool const has_team = exec::has_tiles<TypeParam>;
  ASSERT_EQ(small > 0, has_team);

  auto const path = rounds.do_small(visit, 0, small);
  EXPECT_EQ(path.rounds, has_team ? 21u : 0u);
  EXPECT_EQ(path.items, has_team ? 3000u : 1u);
  auto const none = rounds.do_small(visit, 21, small);  // the frontier is large
  EXPECT_EQ(none.rounds, 0u);
  EXPECT_EQ(none.items, path.items);
  EXPECT_EQ(rounds.left(), path.items);
  std::uint32_t const number = rounds.enqueue(visit, path.rounds, has_team ? 1 : 22);
  EXPECT_EQ(number, 22u);
  EXPECT_EQ(rounds.left(), 12u);  // parts of a vertex with 3001 neighbours
  EXPECT_GE(rounds.run(visit, number), 45u);
  EXPECT_EQ(rounds.left(), 0u);
  EXPECT_EQ(exec::copy_out(space, distances.data(), c.vertices()), c.distance);
}

TYPED_TEST_P(small_rounds_test, distances_of_breadth_first_search) {
  auto const c = this->mixed();
  for (bool const directed : {false, true}) {
    auto const g = this->make(c.vertices(), c.edges, {.directed = directed});
    algorithms::bfs_searcher<TypeParam> searcher(this->space_of(g));
    for (bool const pull : {false, true})
      for (graph::vertex_id const source : {graph::vertex_id{0}, c.last}) {
        auto const run = searcher.run(g.view(), std::span(&source, 1), {.pull = pull});
        auto const found = exec::copy_out(this->space_of(g), searcher.distance(), c.vertices());
        std::uint32_t const longest = c.distance[c.last];
        if (source == 0) {
          EXPECT_EQ(found, c.distance);
        } else {
          for (std::size_t v = 0; v < c.vertices(); ++v) {
            bool const is_source = v == source;
            ASSERT_EQ(found[v], directed && !is_source ? algorithms::bfs_result::unreached : longest - c.distance[v]);
          }
        }
        bool const all = !directed || source == 0;
        EXPECT_EQ(run.reached, all ? c.vertices() : 1u);
        EXPECT_EQ(run.rounds, all ? longest + 1 : 1u);
      }
  }
}

// A path is peeled from both ends; the fans, which are cycles, have the core number 2.
TYPED_TEST_P(small_rounds_test, core_numbers) {
  auto c = this->mixed();
  auto const inner = static_cast<std::uint32_t>(c.vertices());
  for (int i = 0; i < 50; ++i) c.append({c.last});
  auto const g = this->make(c.vertices(), c.edges);
  auto const found = algorithms::core_numbers(this->space_of(g), g.view());
  std::vector<std::uint32_t> expected(c.vertices(), 2);
  for (std::uint32_t v = 0; v < 20; ++v) expected[v] = 1;
  for (std::uint32_t v = inner; v < c.vertices(); ++v) expected[v] = 1;
  EXPECT_EQ(found.degeneracy, 2u);
  EXPECT_EQ(found.core, expected);
}

// From vertex 0, the dependency on a vertex is the number of vertices behind it, divided among the vertices of a fan.
TYPED_TEST_P(small_rounds_test, betweenness_from_one_end) {
  auto const c = this->mixed();
  auto const g = this->make(c.vertices(), c.edges, {.directed = true});
  graph::vertex_id const source = 0;
  auto const found = algorithms::betweenness(this->space_of(g), g.view(), std::span(&source, 1));
  std::vector<std::uint32_t> at(c.distance.back() + std::size_t{1});  // vertices at each distance
  for (std::uint32_t const d : c.distance) ++at[d];
  double behind = 0;
  for (std::size_t v = c.vertices(); v-- > 1;) {
    std::uint32_t const d = c.distance[v];
    if (v + 1 < c.vertices() && c.distance[v + 1] != d) behind += at[d + 1];
    ASSERT_NEAR(found.score[v], behind / at[d], 1e-9 * behind) << "vertex " << v;
  }
  EXPECT_EQ(found.score[0], 0);
}

// The first edge of each fan is the shortest, so one path goes through it; the others wait in the far pile, which is
// large or small.
TYPED_TEST_P(small_rounds_test, distances_with_lengths) {
  auto const c = this->mixed();
  std::vector<std::uint32_t> lengths(c.edges.size(), 5);
  std::vector<double> expected(c.vertices());
  std::uint32_t from = 0;  // the source of the last edge
  for (std::size_t e = 0; e < c.edges.size(); ++e) {
    auto const [u, v] = c.edges[e];
    if (u == from && c.distance[v] == c.distance[v - 1]) lengths[e] = 5 + v % 1000;
    from = u;
    double const through = expected[u] + lengths[e];
    expected[v] = expected[v] == 0 ? through : std::min(expected[v], through);
  }
  auto const g = this->make(c.vertices(), c.edges, {.directed = true, .values = graph::number_type::u32}, lengths);
  for (double const delta : {0.0, 6.0, 1e9}) {
    auto const found = algorithms::sssp(this->space_of(g), g.view(), 0, {.delta = delta});
    EXPECT_EQ(found.distance, expected);
    EXPECT_EQ(found.reached, c.vertices());
  }
}

REGISTER_TYPED_TEST_SUITE_P(small_rounds_test, a_team_ends_before_a_large_frontier, distances_of_breadth_first_search,
                            core_numbers, betweenness_from_one_end, distances_with_lengths);

}  // namespace wyrm::tests
