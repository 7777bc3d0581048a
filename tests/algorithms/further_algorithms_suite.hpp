// SPDX-License-Identifier: Apache-2.0
// The tests of components, BFS and core numbers, for any space: known graphs with literal results, and random graphs
// compared with the serial verifiers, before and after updates.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "../../algorithms/bfs.hpp"
#include "../../algorithms/components.hpp"
#include "../../algorithms/core_numbers.hpp"
#include "../../algorithms/incremental_triangles.hpp"
#include "../graph/model.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class further_algorithms_test : public graphs_test<Space> {
 protected:
  using graph_type = typename graphs_test<Space>::graph_type;
  using ids = std::vector<graph::vertex_id>;
  using counts = std::vector<std::uint32_t>;
  static constexpr std::uint32_t far = algorithms::bfs_result::unreached;

  static auto components(graph_type const& g) { return algorithms::components(g.space(), g.view()); }
  static auto bfs(graph_type const& g, ids const& sources) { return algorithms::bfs(g.space(), g.view(), sources); }
  static auto cores(graph_type const& g) { return algorithms::core_numbers(g.space(), g.view()); }

  /// Checks a result, or the values of a maintained result.
  static void expect_components(graph_type const& g, ids const& label, std::size_t count, std::size_t largest) {
    ids const want = serial_components(g.to_csr());
    ASSERT_EQ(label, want);
    std::map<graph::vertex_id, std::size_t> sizes;
    for (graph::vertex_id const v : want) ++sizes[v];
    ASSERT_EQ(count, sizes.size());
    std::size_t most = 0;
    for (auto const& [v, size] : sizes) most = std::max(most, size);
    ASSERT_EQ(largest, most);
  }
  static void expect_components(graph_type const& g) {
    auto const got = components(g);
    expect_components(g, got.label, got.count, got.largest);
  }
  static void expect_distances(graph_type const& g, ids const& sources) {
    auto const got = bfs(g, sources);
    auto const want = serial_distances(g.to_csr(), sources);
    ASSERT_EQ(got.distance, want);
    auto const pushed = algorithms::bfs(g.space(), g.view(), sources, {.pull = false});
    ASSERT_EQ(pushed.distance, want);
    ASSERT_EQ(pushed.rounds, got.rounds);
    ASSERT_EQ(pushed.reached, got.reached);
    std::size_t reached = 0;
    std::uint32_t rounds = 0;
    for (std::uint32_t const distance : want) {
      reached += distance != far ? 1 : 0;
      rounds = distance != far ? std::max(rounds, distance + 1) : rounds;
    }
    ASSERT_EQ(got.reached, reached);
    ASSERT_EQ(got.rounds, rounds);
  }
  static void expect_cores(graph_type const& g) {
    auto const got = cores(g);
    auto const want = serial_core_numbers(g.to_csr());
    ASSERT_EQ(got.core, want);
    ASSERT_EQ(got.degeneracy, want.empty() ? 0 : *std::max_element(want.begin(), want.end()));
  }
  static std::vector<graph::edge> star(graph::vertex_id leaves, graph::vertex_id centre) {
    std::vector<graph::edge> edges;
    for (graph::vertex_id v = 0; v <= leaves; ++v)
      if (v != centre) edges.push_back({v, centre});
    return edges;
  }
};

TYPED_TEST_SUITE_P(further_algorithms_test);

TYPED_TEST_P(further_algorithms_test, components_of_known_graphs) {
  using ids = typename TestFixture::ids;
  auto const none = this->components(this->make(0, {}));
  EXPECT_TRUE(none.label.empty());
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(none.largest, 0u);
  EXPECT_EQ(this->components(this->make(1, {})).label, ids{0});
  auto const isolated = this->components(this->make(3, {}));
  EXPECT_EQ(isolated.label, (ids{0, 1, 2}));
  EXPECT_EQ(isolated.count, 3u);
  EXPECT_EQ(isolated.largest, 1u);
  EXPECT_EQ(this->components(this->make(3, {{0, 0}, {1, 1}, {2, 2}}, false, true)).label, (ids{0, 1, 2}));

  // A triangle, an edge, an isolated vertex, and a path.
  auto const several = this->components(this->make(10, {{5, 3}, {3, 9}, {9, 5}, {8, 1}, {7, 6}, {6, 4}, {4, 2}}));
  EXPECT_EQ(several.label, (ids{0, 1, 2, 3, 2, 3, 2, 2, 1, 3}));
  EXPECT_EQ(several.count, 4u);
  EXPECT_EQ(several.largest, 4u);
  // All arcs have the same target, or the same source; no search from either end reaches the other two vertices.
  auto const arcs = this->components(this->make(8, {{1, 4}, {2, 4}, {3, 4}, {7, 5}, {7, 6}}, true));
  EXPECT_EQ(arcs.label, (ids{0, 1, 1, 1, 1, 5, 5, 5}));
  EXPECT_EQ(arcs.count, 3u);
  EXPECT_EQ(arcs.largest, 4u);
}

TYPED_TEST_P(further_algorithms_test, components_of_stars_and_paths) {
  auto const n = static_cast<graph::vertex_id>(this->sized(300'000, 3'000));
  for (graph::vertex_id const centre : {graph::vertex_id{0}, n / 2, n}) {
    auto const got = this->components(this->make(n + std::size_t{2}, this->star(n, centre)));
    EXPECT_EQ(got.count, 2u);
    EXPECT_EQ(got.largest, n + std::size_t{1});
    EXPECT_EQ(std::count(got.label.begin(), got.label.end(), 0u), n + 1);
    EXPECT_EQ(got.label.back(), n + 1);
  }
  for (bool const directed : {false, true}) {
    // In the order of ids, and in another order.
    auto edges = this->path(n);
    EXPECT_EQ(this->components(this->make(n, edges, directed)).label, typename TestFixture::ids(n));
    typename TestFixture::ids names(n);
    for (graph::vertex_id v = 0; v < n; ++v) names[v] = v;
    std::shuffle(names.begin(), names.end(), std::mt19937(seeded(3)));
    for (graph::edge& e : edges) e = {names[e.source], names[e.target]};
    auto const got = this->components(this->make(n, edges, directed));
    EXPECT_EQ(got.label, typename TestFixture::ids(n));
    EXPECT_EQ(got.count, 1u);
    EXPECT_EQ(got.largest, n);
  }
}

TYPED_TEST_P(further_algorithms_test, components_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 50 + 300 * seed;
    auto g = this->make(n, random_edges(random, n, n * (seed % 4 + 1) / 3), seed % 2 == 1, seed >= 4);
    this->expect_components(g);
    g.erase(random_edges(random, n, n));
    g.insert(random_edges(random, n, n / 4));
    this->expect_components(g);
  }
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  for (bool const directed : {false, true}) {
    auto edges = this->skewed(log2);
    this->expect_components(this->make(std::size_t{1} << log2, edges, directed));
    edges.resize(edges.size() / 16);  // without the hub that is a neighbour of all
    this->expect_components(this->make(std::size_t{1} << log2, edges, directed));
  }
}

TYPED_TEST_P(further_algorithms_test, components_batch_by_batch) {
  std::size_t const rounds = this->sized(1000, 20);
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(directed));
    std::size_t const n = 200;  // sparse, so that components merge and split
    auto g = this->make(n, random_edges(random, n, 60), directed, directed, this->one_thread());
    algorithms::incremental_components maintained(g);
    g.attach(maintained);
    for (std::size_t round = 0; round < rounds; ++round) {
      // Batches contain repeats, edges of the graph, and edges that are missing; some erasures remove most edges.
      if (random() % 2 == 0)
        g.insert(random_edges(random, n, 1 + random() % 20));
      else
        g.erase(random_edges(random, n, round % 50 == 7 ? 60'000 : 1 + random() % 1500));
      SCOPED_TRACE(round);
      std::size_t const count = maintained.count();  // before label(), which flattens the forest
      std::size_t const largest = maintained.largest();
      ASSERT_NO_FATAL_FAILURE(this->expect_components(g, maintained.label(), count, largest));
    }
  }
}

TYPED_TEST_P(further_algorithms_test, components_merge_and_split) {
  auto const n = static_cast<graph::vertex_id>(this->sized(100'000, 2'000));
  auto g = this->make(n, {});
  algorithms::incremental_components maintained(g);
  g.attach(maintained);
  EXPECT_EQ(maintained.count(), n);
  EXPECT_EQ(maintained.largest(), 1u);
  g.insert(this->path(n));
  EXPECT_EQ(maintained.count(), 1u);
  EXPECT_EQ(maintained.largest(), n);
  // Cuts the path in the middle, then erases a missing edge, then cuts the path near both ends.
  g.erase(std::vector<graph::edge>{{n / 2, n / 2 - 1}});
  EXPECT_EQ(maintained.count(), 2u);
  EXPECT_EQ(maintained.largest(), n - n / 2);
  g.erase(std::vector<graph::edge>{{0, n - 1}, {5, 5}});
  EXPECT_EQ(maintained.count(), 2u);
  g.erase(std::vector<graph::edge>{{0, 1}, {n - 2, n - 1}});
  EXPECT_EQ(maintained.count(), 4u);
  this->expect_components(g, maintained.label(), maintained.count(), maintained.largest());
  // Connects both halves by many edges at once; the two cut ends are connected with each other.
  std::vector<graph::edge> rungs;
  for (graph::vertex_id v = 0; v < n / 2; ++v) rungs.push_back({v, n - 1 - v});
  g.insert(rungs);
  EXPECT_EQ(maintained.count(), 2u);
  EXPECT_EQ(maintained.largest(), n - 2);
  g.erase(rungs);
  EXPECT_EQ(maintained.count(), 4u);
  this->expect_components(g, maintained.label(), maintained.count(), maintained.largest());
}

TYPED_TEST_P(further_algorithms_test, components_of_batches_that_are_refused) {
  auto g = this->make(10, {{0, 1}, {1, 2}, {5, 6}});
  algorithms::incremental_components maintained(g);
  g.attach(maintained);
  auto const before = maintained.label();
  std::vector<graph::edge> const bad{{0, 5}, {1, 2}, {3, 10}, {8, 9}};
  EXPECT_THROW(g.insert(bad), error);
  EXPECT_THROW(g.erase(bad), error);
  EXPECT_EQ(maintained.label(), before);
  EXPECT_EQ(maintained.count(), 7u);
  EXPECT_EQ(maintained.largest(), 3u);
  EXPECT_EQ(g.insert({}).inserted, 0u);
  EXPECT_EQ(g.erase({}).erased, 0u);
  EXPECT_EQ(maintained.label(), before);
  g.insert(std::vector<graph::edge>{{2, 6}});
  EXPECT_EQ(maintained.label(), (typename TestFixture::ids{0, 0, 0, 3, 4, 0, 0, 7, 8, 9}));
  EXPECT_EQ(maintained.largest(), 5u);
  auto none = this->make(0, {});
  algorithms::incremental_components of_none(none);
  none.attach(of_none);
  EXPECT_EQ(none.insert({}).inserted, 0u);
  EXPECT_EQ(of_none.count(), 0u);
}

TYPED_TEST_P(further_algorithms_test, several_maintained_results) {
  std::mt19937 random(seeded(8));
  std::size_t const n = 80;
  auto g = this->make(n, random_edges(random, n, 100), false, false, this->one_thread());
  algorithms::incremental_components first(g);
  g.attach(first);
  algorithms::incremental_triangles triangles(g);
  g.attach(triangles);
  algorithms::incremental_components second(g);
  g.attach(second);
  for (unsigned round = 0; round < 5; ++round) {
    g.insert(random_edges(random, n, 40));
    g.erase(random_edges(random, n, 2000));
    EXPECT_THROW(g.erase(std::vector<graph::edge>{{0, 80}}), error);
    EXPECT_EQ(triangles.total(), algorithms::triangles(g.space(), g.view()).total);
    this->expect_components(g, first.label(), first.count(), first.largest());
    this->expect_components(g, second.label(), second.count(), second.largest());
  }
}

TYPED_TEST_P(further_algorithms_test, distances_of_known_graphs) {
  using ids = typename TestFixture::ids;
  using counts = typename TestFixture::counts;
  constexpr std::uint32_t far = TestFixture::far;
  auto const none = this->bfs(this->make(0, {}), {});
  EXPECT_TRUE(none.distance.empty());
  EXPECT_EQ(none.rounds, 0u);
  EXPECT_EQ(this->bfs(this->make(1, {}), {0}).distance, counts{0});
  EXPECT_EQ(this->bfs(this->make(2, {{0, 0}, {1, 1}}, false, true), {1}).distance, (counts{far, 0}));

  auto const g = this->make(8, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}, {5, 6}});
  auto const one = this->bfs(g, {0});
  EXPECT_EQ(one.distance, (counts{0, 1, 2, 1, 3, far, far, far}));
  EXPECT_EQ(one.rounds, 4u);
  EXPECT_EQ(one.reached, 5u);
  auto const two = this->bfs(g, {4, 6, 4});
  EXPECT_EQ(two.distance, (counts{3, 2, 1, 2, 0, 1, 0, far}));
  EXPECT_EQ(two.rounds, 4u);
  EXPECT_EQ(two.reached, 7u);
  auto const nowhere = this->bfs(g, {});
  EXPECT_EQ(nowhere.distance, counts(8, far));
  EXPECT_EQ(nowhere.rounds, 0u);
  EXPECT_EQ(nowhere.reached, 0u);
  EXPECT_THROW(this->bfs(g, (ids{0, 8})), error);
  EXPECT_THROW(this->bfs(this->make(0, {}), {0}), error);
  // Along the direction of arcs only.
  EXPECT_EQ(this->bfs(this->make(4, {{0, 1}, {1, 2}, {3, 2}}, true), {1}).distance, (counts{far, 0, 1, far}));
}

TYPED_TEST_P(further_algorithms_test, distances_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 50 + 300 * seed;
    auto g = this->make(n, random_edges(random, n, n * (seed % 4 + 1)), seed % 2 == 1, seed >= 4);
    this->expect_distances(g, {static_cast<graph::vertex_id>(random() % n)});
    g.erase(random_edges(random, n, n));
    g.insert(random_edges(random, n, n / 4));
    this->expect_distances(g, {0, static_cast<graph::vertex_id>(random() % n), 0, 7});
  }
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  for (bool const directed : {false, true}) {
    auto edges = this->skewed(log2);
    this->expect_distances(this->make(std::size_t{1} << log2, edges, directed), {0});
    edges.resize(edges.size() / 4);  // without the hub that is a neighbour of all
    this->expect_distances(this->make(std::size_t{1} << log2, edges, directed), {0, 77});
  }
}

TYPED_TEST_P(further_algorithms_test, a_searcher_serves_graphs_of_any_size) {
  algorithms::bfs_searcher<TypeParam> searcher(this->make(0, {}).space());
  std::mt19937 random(seeded(11));
  for (std::size_t const n : {0u, 40u, 900u, 33u, 2000u, 64u}) {
    auto const g = this->make(n, n > 0 ? random_edges(random, n, 3 * n) : std::vector<graph::edge>());
    typename TestFixture::ids sources;
    if (n > 0) sources.push_back(static_cast<graph::vertex_id>(random() % n));
    algorithms::bfs_run const run = searcher.run(g.view(), sources);
    auto const want = serial_distances(g.to_csr(), sources);
    ASSERT_EQ(exec::copy_out(g.space(), searcher.distance(), n), want);
    EXPECT_EQ(run.reached, n - static_cast<std::size_t>(std::count(want.begin(), want.end(), TestFixture::far)));
  }
}

TYPED_TEST_P(further_algorithms_test, distances_of_stars_and_paths) {
  auto const n = static_cast<graph::vertex_id>(this->sized(300'000, 3'000));
  auto const star = this->bfs(this->make(n + std::size_t{1}, this->star(n, 5)), {n});
  EXPECT_EQ(star.reached, n + std::size_t{1});
  EXPECT_EQ(std::count(star.distance.begin(), star.distance.end(), 2u), n - 1);
  auto const m = static_cast<graph::vertex_id>(this->sized(3'000, 200));
  auto const path = this->bfs(this->make(m, this->path(m), false, false, this->one_thread()), {0});
  EXPECT_EQ(path.rounds, m);
  for (graph::vertex_id v = 0; v < m; ++v) ASSERT_EQ(path.distance[v], v);
}

TYPED_TEST_P(further_algorithms_test, cores_of_known_graphs) {
  using counts = typename TestFixture::counts;
  EXPECT_TRUE(this->cores(this->make(0, {})).core.empty());
  EXPECT_EQ(this->cores(this->make(1, {})).core, counts{0});
  EXPECT_EQ(this->cores(this->make(3, {{0, 0}, {1, 1}, {2, 2}}, false, true)).core, counts(3, 0));
  auto const clique = this->cores(this->make(40, this->clique(40)));
  EXPECT_EQ(clique.core, counts(40, 39));
  EXPECT_EQ(clique.degeneracy, 39u);
  // A clique of four with a tail, a triangle with a vertex of the clique, an isolated vertex, and self-loops, which do
  // not count.
  auto const g = this->make(
      10,
      {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}, {0, 6}, {6, 7}, {7, 0}, {5, 5}, {0, 0}, {9, 9}},
      false, true);
  auto const got = this->cores(g);
  EXPECT_EQ(got.core, (counts{3, 3, 3, 3, 1, 1, 2, 2, 0, 0}));
  EXPECT_EQ(got.degeneracy, 3u);
  EXPECT_THROW(this->cores(this->make(3, {{0, 1}}, true)), error);
}

TYPED_TEST_P(further_algorithms_test, cores_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 50 + 100 * seed;
    auto g = this->make(n, random_edges(random, n, n * (seed % 4 + 1)), false, seed % 2 == 1, this->one_thread());
    this->expect_cores(g);
    g.erase(random_edges(random, n, n));
    g.insert(random_edges(random, n, n / 4));
    this->expect_cores(g);
  }
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  this->expect_cores(this->make(std::size_t{1} << log2, this->skewed(log2)));
}

TYPED_TEST_P(further_algorithms_test, cores_of_stars_and_paths) {
  auto const n = static_cast<graph::vertex_id>(this->sized(300'000, 3'000));
  auto edges = this->star(n, 5);
  EXPECT_EQ(this->cores(this->make(n + std::size_t{1}, edges)).core, typename TestFixture::counts(n + 1, 1));
  auto const m = static_cast<graph::vertex_id>(this->sized(3'000, 200));
  edges = this->path(m);
  EXPECT_EQ(this->cores(this->make(m, edges, false, false, this->one_thread())).core,
            typename TestFixture::counts(m, 1));
  edges.push_back({m - 1, 0});
  EXPECT_EQ(this->cores(this->make(m, edges)).core, typename TestFixture::counts(m, 2));
}

REGISTER_TYPED_TEST_SUITE_P(further_algorithms_test, components_of_known_graphs, components_of_stars_and_paths,
                            components_agree_with_the_verifier, components_batch_by_batch, components_merge_and_split,
                            components_of_batches_that_are_refused, several_maintained_results,
                            distances_of_known_graphs, distances_agree_with_the_verifier,
                            a_searcher_serves_graphs_of_any_size, distances_of_stars_and_paths, cores_of_known_graphs,
                            cores_agree_with_the_verifier, cores_of_stars_and_paths);

}  // namespace wyrm::tests
