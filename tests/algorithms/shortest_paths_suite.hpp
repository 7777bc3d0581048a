// SPDX-License-Identifier: Apache-2.0
// The tests of trees of BFS and of shortest paths with lengths, for any space: known graphs with literal results, and
// random graphs compared with serial verifiers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../algorithms/bfs.hpp"
#include "../../algorithms/sssp.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "../support/verify_paths.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class shortest_paths_test : public any_graph_test<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;
  using numbers = std::vector<double>;
  static constexpr graph::vertex_id none = graph::no_vertex;
  static constexpr double far = std::numeric_limits<double>::infinity();

  /// A graph with values of type Value.
  template <class Value>
  static graph::any_graph weighted(std::size_t n, std::vector<graph::edge> const& edges, std::vector<Value> const& w,
                                   bool directed = false, bool in_neighbours = true) {
    return any_graph_test<Space>::make(n, edges,
                                       {.directed = directed,
                                        .in_neighbours = in_neighbours,
                                        .self_loops = true,
                                        .values = graph::number_type_of<Value>},
                                       graph::host_numbers(w));
  }
  static auto bfs(graph::any_graph const& g, ids const& sources, algorithms::bfs_options const& o = {}) {
    return algorithms::bfs(any_graph_test<Space>::space_of(g), g.view(), sources, o);
  }
  static auto sssp(graph::any_graph const& g, graph::vertex_id source, algorithms::sssp_options const& o = {}) {
    return algorithms::sssp(any_graph_test<Space>::space_of(g), g.view(), source, o);
  }
  /// The edges, each in one direction only if `directed` is false, in their order, without repeats.
  static std::vector<graph::edge> distinct(std::vector<graph::edge> const& edges, bool directed) {
    std::set<std::pair<graph::vertex_id, graph::vertex_id>> seen;
    std::vector<graph::edge> kept;
    for (graph::edge e : edges) {
      if (!directed && e.source > e.target) std::swap(e.source, e.target);
      if (seen.emplace(e.source, e.target).second) kept.push_back(e);
    }
    return kept;
  }
  /// The smallest in-neighbour one arc nearer, from the definition.
  static ids parents_of(graph::csr const& g, std::vector<std::uint32_t> const& distance) {
    ids parent(distance.size(), none);
    for (graph::vertex_id u = 0; u < distance.size(); ++u) {
      if (distance[u] == 0) parent[u] = u;
      for (auto i = g.offsets[u]; i < g.offsets[u + 1] && distance[u] != none; ++i)
        if (distance[g.targets[i]] == distance[u] + 1) parent[g.targets[i]] = std::min(parent[g.targets[i]], u);
    }
    return parent;
  }
  static void expect_tree(graph::any_graph const& g, ids const& sources) {
    graph::csr const rows = g.to_csr();
    auto const want = serial_distances(rows, sources);
    for (bool const pull : {true, false}) {
      auto const got = bfs(g, sources, {.pull = pull, .parents = true});
      ASSERT_EQ(got.distance, want);
      ASSERT_EQ(got.parent, parents_of(rows, want));
    }
    ASSERT_TRUE(bfs(g, sources).parent.empty());
  }
  /// Compares with the verifiers, for a delta that adapts, and for others.
  static void expect_paths(graph::any_graph const& g, graph::vertex_id source, numbers const& lengths,
                           numbers const& deltas) {
    graph::csr const rows = g.to_csr();
    auto const want = serial_lengths(rows, source, lengths);
    auto const tree = serial_parents(rows, source, lengths, want);
    std::size_t const reached = want.size() - static_cast<std::size_t>(std::count(want.begin(), want.end(), far));
    for (double const delta : deltas) {
      SCOPED_TRACE(delta);
      auto const got = sssp(g, source, {.parents = true, .delta = delta});
      ASSERT_EQ(got.distance, want);
      ASSERT_EQ(got.reached, reached);
      ASSERT_EQ(got.parent, tree);
    }
  }
  template <class Value>
  static numbers lengths_of(graph::any_graph const& g) {
    numbers lengths;
    for (Value const value : g.values<Value>()) lengths.push_back(static_cast<double>(value));
    return lengths;
  }
  /// Random edges and a hub with an arc to all, with weights that draw() returns.
  template <class Value, class Draw>
  static void expect_random_paths(std::mt19937& random, std::size_t n, std::size_t edges, bool directed,
                                  bool in_neighbours, Draw const& draw, numbers const& deltas) {
    auto drawn = random_edges(random, n, edges);
    if (edges > n)
      for (graph::vertex_id v = 0; v < n; ++v) drawn.push_back({3, v});
    drawn = distinct(drawn, directed);
    std::vector<Value> weights;
    for (std::size_t i = 0; i < drawn.size(); ++i) weights.push_back(draw(random));
    auto const g = weighted(n, drawn, weights, directed, in_neighbours);
    for (graph::vertex_id const source : {graph::vertex_id{0}, static_cast<graph::vertex_id>(random() % n)})
      ASSERT_NO_FATAL_FAILURE(expect_paths(g, source, lengths_of<Value>(g), deltas));
  }
};

TYPED_TEST_SUITE_P(shortest_paths_test);

TYPED_TEST_P(shortest_paths_test, trees_of_known_graphs) {
  using ids = typename TestFixture::ids;
  constexpr auto none = TestFixture::none;
  EXPECT_TRUE(this->bfs(this->make(0, {}), {}, {.parents = true}).parent.empty());
  EXPECT_EQ(this->bfs(this->make(3, {{0, 1}}), {}, {.parents = true}).parent, (ids{none, none, none}));
  // Vertex 5 is at distance 2 from 0 through 1, 2 and 4; an edge among vertices at the same distance counts for
  // nothing.
  std::vector<graph::edge> const edges{{0, 4}, {0, 2}, {0, 1}, {1, 2}, {4, 5}, {2, 5}, {5, 6}, {6, 3}, {7, 8}};
  auto const g = this->make(10, edges);
  EXPECT_EQ(this->bfs(g, {0}, {.parents = true}).parent, (ids{0, 0, 0, 6, 0, 2, 5, none, none, none}));
  EXPECT_EQ(this->bfs(g, {6, 8}, {.parents = true}).parent, (ids{2, 2, 5, 6, 5, 6, 6, 8, 8, none}));
  for (bool const in_neighbours : {true, false}) {
    auto const arcs = this->make(9, edges, {.directed = true, .in_neighbours = in_neighbours});
    EXPECT_EQ(this->bfs(arcs, {0}, {.parents = true}).parent, (ids{0, 0, 0, 6, 0, 2, 5, none, none}));
    EXPECT_EQ(this->bfs(arcs, {5}, {.parents = true}).parent, (ids{none, none, none, 6, none, 5, 5, none, none}));
  }
}

TYPED_TEST_P(shortest_paths_test, trees_agree_with_the_definition) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 50 + 150 * seed;
    auto g = this->make(n, random_edges(random, n, n * (seed % 4 + 1)),
                        {.directed = seed % 2 == 1, .in_neighbours = seed % 4 != 3, .self_loops = seed >= 4});
    this->expect_tree(g, {static_cast<graph::vertex_id>(random() % n)});
    g.erase(random_edges(random, n, n));
    g.insert(random_edges(random, n, n / 4));
    g.remove_vertices({1, 2, 9});
    this->expect_tree(g, {0, static_cast<graph::vertex_id>(random() % n), 2});
  }
  // Rows of several tiles: all vertices of the middle have both hubs, and the last vertex all of the middle.
  auto const middle = static_cast<graph::vertex_id>(this->sized(4000, 2500));
  std::vector<graph::edge> edges;
  for (graph::vertex_id v = 2; v < middle + 2; ++v) {
    edges.push_back({0, v});
    edges.push_back({1, v});
    edges.push_back({v, middle + 2});
  }
  for (bool const in_neighbours : {true, false})
    this->expect_tree(this->make(middle + 3, edges, {.directed = true, .in_neighbours = in_neighbours}), {1, 0});
  this->expect_tree(this->make(middle + 3, edges), {1});
}

TYPED_TEST_P(shortest_paths_test, lengths_of_known_graphs) {
  using ids = typename TestFixture::ids;
  using numbers = typename TestFixture::numbers;
  constexpr auto none = TestFixture::none;
  constexpr double far = TestFixture::far;
  std::vector<graph::edge> const edges{{0, 1}, {0, 2}, {2, 1}, {1, 3}, {2, 3}, {3, 4}, {6, 5}, {4, 4}};
  auto const g = this->weighted(7, edges, std::vector<std::uint32_t>{9, 2, 5, 1, 6, 0, 3, 4}, true);
  auto const got = this->sssp(g, 0, {.parents = true});
  EXPECT_EQ(got.distance, (numbers{0, 7, 2, 8, 8, far, far}));
  EXPECT_EQ(got.parent, (ids{0, 2, 0, 1, 3, none, none}));
  EXPECT_EQ(got.reached, 5u);
  auto const without = this->sssp(g, 0, {.weighted = false, .parents = true});
  EXPECT_EQ(without.distance, (numbers{0, 1, 1, 2, 3, far, far}));
  EXPECT_EQ(without.parent, (ids{0, 0, 0, 1, 3, none, none}));
  EXPECT_TRUE(this->sssp(g, 0).parent.empty());
  EXPECT_EQ(this->sssp(g, 5).distance, (numbers{far, far, far, far, far, 0, far}));
  EXPECT_EQ(this->sssp(g, 5).reached, 1u);
  // Without values, and of both directions.
  auto const plain = this->sssp(this->make(5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), 1, {.parents = true});
  EXPECT_EQ(plain.distance, (numbers{1, 0, 1, 2, far}));
  EXPECT_EQ(plain.parent, (ids{1, 1, 1, 0, none}));
  EXPECT_EQ(this->sssp(this->make(1, {}), 0, {.parents = true}).parent, ids{0});
}

TYPED_TEST_P(shortest_paths_test, arcs_that_add_nothing_make_no_circles) {
  using ids = typename TestFixture::ids;
  using numbers = typename TestFixture::numbers;
  // A circle 1-2-3-4 of edges of length zero, entered at 4 and, by an edge that is rounded away, left to 0 and 5.
  auto const g = this->weighted(8, {{7, 4}, {1, 2}, {2, 3}, {3, 4}, {1, 4}, {2, 5}, {5, 0}, {0, 6}},
                                std::vector<double>{1e20, 0, 0, 0, 0, 1, 1, 1e6});
  auto const got = this->sssp(g, 7, {.parents = true});
  EXPECT_EQ(got.distance, (numbers{1e20, 1e20, 1e20, 1e20, 1e20, 1e20, 1e20 + 1e6, 0}));
  EXPECT_EQ(got.parent, (ids{5, 4, 1, 4, 7, 2, 0, 7}));
  // Everything at distance zero.
  auto const zero = this->weighted(5, {{3, 1}, {3, 4}, {1, 0}, {4, 0}, {0, 2}, {1, 4}}, std::vector<float>(6, 0.0f));
  EXPECT_EQ(this->sssp(zero, 3, {.parents = true}).parent, (ids{1, 3, 0, 3, 3}));
}

TYPED_TEST_P(shortest_paths_test, lengths_agree_with_the_verifier) {
  using numbers = typename TestFixture::numbers;
  auto const n = this->sized(1500, 300);
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    bool const directed = seed % 2 == 1;
    bool const in = seed != 3;
    std::size_t const edges = n * (seed < 2 ? 1 : 6);
    // Small integers, with zeros and many ties; integers of 63 bits, which are rounded; fractions; all magnitudes.
    this->template expect_random_paths<std::uint32_t>(
        random, n, edges, directed, in, [](auto& r) { return static_cast<std::uint32_t>(r() % 4); },
        numbers{0, 1, 0.25, TestFixture::far});
    this->template expect_random_paths<std::int64_t>(
        random, n, edges, directed, in,
        [](auto& r) { return static_cast<std::int64_t>(std::uint64_t{r()} << 31 ^ r()); }, numbers{0, 1e15});
    this->template expect_random_paths<float>(
        random, n, edges, directed, in, [](auto& r) { return std::uniform_real_distribution<float>(0, 1)(r); },
        numbers{0, 0.05});
    this->template expect_random_paths<double>(
        random, n, edges, directed, in,
        [](auto& r) { return std::ldexp(std::uniform_real_distribution<>(0, 1)(r), static_cast<int>(r() % 120) - 60); },
        numbers{0, 1e-3, 1e6});
  }
}

TYPED_TEST_P(shortest_paths_test, lengths_of_long_paths_and_stars) {
  using numbers = typename TestFixture::numbers;
  auto const n = static_cast<graph::vertex_id>(this->sized(20'000, 400));
  std::vector<graph::edge> path;
  for (graph::vertex_id v = 0; v + 1 < n; ++v) path.push_back({v, v + 1});
  auto const got = this->sssp(this->weighted(n, path, std::vector<std::uint32_t>(n - 1, 3)), 0);
  ASSERT_EQ(got.reached, n);
  for (graph::vertex_id v = 0; v < n; ++v) ASSERT_EQ(got.distance[v], 3.0 * v);

  // Each leaf has a shorter path through the leaf before it, down to the first leaf: every distance falls repeatedly.
  std::vector<graph::edge> star;
  std::vector<std::uint32_t> weights;
  auto const leaves = static_cast<graph::vertex_id>(this->sized(5000, 1200));
  for (graph::vertex_id v = 1; v <= leaves; ++v) {
    star.push_back({0, v});
    weights.push_back(10 * v);
    if (v > 1) {
      star.push_back({v - 1, v});
      weights.push_back(v % 16 == 0 ? 10 : 1);
    }
  }
  auto const g = this->weighted(leaves + std::size_t{1}, star, weights);
  this->expect_paths(g, 0, this->template lengths_of<std::uint32_t>(g), numbers{0, 7, TestFixture::far});
}

TYPED_TEST_P(shortest_paths_test, lengths_at_the_limits_of_double) {
  using numbers = typename TestFixture::numbers;
  constexpr double far = TestFixture::far;
  constexpr double most = std::numeric_limits<double>::max();
  // The sum of the first two exceeds the largest double; lengths are as small as they can be, too.
  auto const g = this->weighted(5, {{0, 1}, {1, 2}, {0, 3}, {3, 4}},
                                std::vector<double>{most, most, std::numeric_limits<double>::denorm_min(), 0x1p-1074});
  for (double const delta : {0.0, 1.0, 0x1p-1074, most, far})
    EXPECT_EQ(this->sssp(g, 0, {.delta = delta}).distance, (numbers{0, most, far, 0x1p-1074, 0x1p-1073}));
  // A vertex behind a path that is too long is unreached in every respect.
  auto const behind = this->weighted(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, std::vector<double>{most, most, 1, 0}, true);
  auto const got = this->sssp(behind, 0, {.parents = true});
  EXPECT_EQ(got.distance, (numbers{0, most, far, far, far, far}));
  EXPECT_EQ(got.reached, 2u);
  EXPECT_EQ(got.parent, (typename TestFixture::ids{0, 0, TestFixture::none, TestFixture::none, TestFixture::none,
                                                   TestFixture::none}));
  // Distances that differ by far more than delta take no more rounds than there are arcs.
  EXPECT_EQ(
      this->sssp(this->weighted(3, {{0, 1}, {1, 2}}, std::vector<double>{1e300, 1e-300}), 0, {.delta = 1e-9}).distance,
      (numbers{0, 1e300, 1e300}));
}

TYPED_TEST_P(shortest_paths_test, bad_arguments_of_shortest_paths) {
  auto const g = this->weighted(3, {{0, 1}, {1, 2}}, std::vector<double>{1, 2}, true);
  EXPECT_EQ(refusal([&] { this->sssp(g, 3); }),
            "sssp: the source 3 is not in the graph, which has 3 vertices; they are numbered from 0");
  EXPECT_NE(refusal([&] { this->sssp(this->make(0, {}), 0); }), "");
  EXPECT_NE(refusal([&] { this->sssp(g, 0, {.delta = -1}); }).find("delta is -1"), std::string::npos);
  EXPECT_NE(refusal([&] { this->sssp(g, 0, {.delta = std::numeric_limits<double>::quiet_NaN()}); }), "");
  auto const negative = this->weighted(3, {{0, 1}, {1, 2}}, std::vector<std::int64_t>{1, -2}, true);
  EXPECT_EQ(refusal([&] { this->sssp(negative, 0); }),
            "sssp: the weight of the arc 1 -> 2 is -2; weights must be finite, and not negative");
  EXPECT_EQ(this->sssp(negative, 0, {.weighted = false}).reached, 3u);
  for (float const bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    EXPECT_NE(refusal([&] { this->sssp(this->weighted(2, {{0, 1}}, std::vector<float>{bad}), 1); }), "");
}

TYPED_TEST_P(shortest_paths_test, absent_and_isolated_vertices) {
  using ids = typename TestFixture::ids;
  using numbers = typename TestFixture::numbers;
  constexpr auto none = TestFixture::none;
  constexpr double far = TestFixture::far;
  auto g = this->weighted(5, {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {3, 4}}, std::vector<float>{1, 1, 1, 9, 1});
  EXPECT_EQ(this->sssp(g, 0).distance, (numbers{0, 1, 2, 3, 4}));
  g.remove_vertices({1});
  auto const got = this->sssp(g, 0, {.parents = true});
  EXPECT_EQ(got.distance, (numbers{0, far, 10, 9, 10}));
  EXPECT_EQ(got.parent, (ids{0, none, 3, 0, 3}));
  EXPECT_EQ(this->sssp(g, 1, {.parents = true}).parent, (ids{none, 1, none, none, none}));
  EXPECT_EQ(this->bfs(g, {0}, {.parents = true}).parent, (ids{0, none, 3, 0, 3}));
  g.insert(std::vector<graph::edge>{{4, 2}}, graph::host_numbers(std::vector<float>{0.5f}));
  g.add_vertices(3);
  EXPECT_EQ(this->sssp(g, 3).distance, (numbers{9, far, 1, 0, 1, far, far}));
  EXPECT_EQ(this->sssp(g, 2).distance, (numbers{10, far, 0, 1, 0.5, far, far}));
}

TYPED_TEST_P(shortest_paths_test, a_searcher_serves_changing_graphs) {
  auto const first = this->make(1, {});
  auto const space = this->space_of(first);
  algorithms::sssp_searcher<TypeParam> searcher(space);
  std::mt19937 random(seeded(5));
  for (std::size_t const n : {40u, 700u, 33u, 1u, 900u}) {
    auto const edges = this->distinct(random_edges(random, n, 3 * n), false);
    std::vector<float> weights;
    for (std::size_t i = 0; i < edges.size(); ++i) weights.push_back(static_cast<float>(random() % 100));
    auto g = this->weighted(n, edges, weights);
    for (bool const parents : {false, true}) {
      auto const source = static_cast<graph::vertex_id>(random() % n);
      auto const lengths = this->template lengths_of<float>(g);
      auto const want = serial_lengths(g.to_csr(), source, lengths);
      EXPECT_EQ(searcher.run(g.view(), source, {.parents = parents}),
                n - static_cast<std::size_t>(std::count(want.begin(), want.end(), TestFixture::far)));
      ASSERT_EQ(exec::copy_out(space, searcher.distance(), n), want);
      if (parents) {
        ASSERT_EQ(exec::copy_out(space, searcher.parent(), n), serial_parents(g.to_csr(), source, lengths, want));
      }
      std::vector<float> const more(edges.size() / 2, 1.0f);
      g.insert(std::span(edges).first(edges.size() / 2), graph::host_numbers(more));
    }
  }
}

// The ids of vertices, and vertices elsewhere, do not change distances.
TYPED_TEST_P(shortest_paths_test, other_numbers_of_vertices) {
  std::mt19937 random(seeded(21));
  std::size_t const n = 300;
  auto edges = this->distinct(random_edges(random, n, 900), true);
  std::vector<double> weights;
  for (std::size_t i = 0; i < edges.size(); ++i) weights.push_back(std::uniform_real_distribution<>(0, 1)(random));
  auto const plain = this->sssp(this->weighted(n, edges, weights, true), 7);
  typename TestFixture::ids names(2 * n);
  std::iota(names.begin(), names.end(), 0u);
  std::shuffle(names.begin(), names.end(), random);
  std::vector<graph::edge> both;
  for (graph::edge const e : edges) both.push_back({names[e.source], names[e.target]});
  for (graph::edge const e : edges) both.push_back({names[n + e.source], names[n + e.target]});
  weights.insert(weights.end(), weights.begin(), weights.end());
  auto const renamed = this->sssp(this->weighted(2 * n, both, weights, true), names[7]);
  EXPECT_EQ(renamed.reached, plain.reached);
  for (std::size_t v = 0; v < n; ++v) {
    ASSERT_EQ(renamed.distance[names[v]], plain.distance[v]);
    ASSERT_EQ(renamed.distance[names[n + v]], TestFixture::far);
  }
}

REGISTER_TYPED_TEST_SUITE_P(shortest_paths_test, trees_of_known_graphs, trees_agree_with_the_definition,
                            lengths_of_known_graphs, arcs_that_add_nothing_make_no_circles,
                            lengths_agree_with_the_verifier, lengths_of_long_paths_and_stars,
                            lengths_at_the_limits_of_double, bad_arguments_of_shortest_paths,
                            absent_and_isolated_vertices, a_searcher_serves_changing_graphs, other_numbers_of_vertices);

}  // namespace wyrm::tests
