// SPDX-License-Identifier: Apache-2.0
// The tests of PageRank, triangles and related algorithms, for any space: known graphs with literal results, and random
// graphs compared with the serial verifiers, before and after updates.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/edge_support.hpp"
#include "../../algorithms/incremental_pagerank.hpp"
#include "../../algorithms/incremental_triangles.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/triangles.hpp"
#include "../graph/model.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"

namespace wyrm::tests {

inline double l1_distance(std::vector<double> const& got, std::vector<double> const& want) {
  EXPECT_EQ(got.size(), want.size());
  double sum = 0;
  for (std::size_t v = 0; v < want.size(); ++v) sum += std::abs(got[v] - want[v]);
  return sum;
}

template <class Space>
class algorithms_test : public graphs_test<Space> {
 protected:
  using graph_type = typename graphs_test<Space>::graph_type;

  static auto pagerank(graph_type const& g, algorithms::pagerank_options const& o = {}) {
    return algorithms::pagerank(g.space(), g.view(), o);
  }
  static auto triangles(graph_type const& g) {
    return algorithms::triangles(g.space(), g.view(), {.per_vertex = true});
  }
  static void expect_ranks(graph_type const& g, double damping) {
    auto const got = pagerank(g, {.damping = damping, .tolerance = 1e-12});
    auto const want = serial_pagerank(g.to_csr(), damping);
    EXPECT_TRUE(got.converged);
    EXPECT_NEAR(std::accumulate(got.rank.begin(), got.rank.end(), 0.0), 1.0, 1e-12);
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got.rank[v], want[v], 1e-11) << "vertex " << v;
  }
};

TYPED_TEST_SUITE_P(algorithms_test);

TYPED_TEST_P(algorithms_test, pagerank_of_known_graphs) {
  // A star: the centre has (1 - d)/n + d (n - 1) x for x = (1 - d)/n + d c/(n - 1), so c = (1 + d (n - 1))/(n (1 + d)).
  std::vector<graph::edge> star;
  for (graph::vertex_id i = 1; i < 5; ++i) star.push_back({0, i});
  auto const r = this->pagerank(this->make(5, star), {.tolerance = 1e-13});
  EXPECT_NEAR(r.rank[0], (1 + 0.85 * 4) / (5 * 1.85), 1e-12);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_NEAR(r.rank[i], (1 - r.rank[0]) / 4, 1e-12);

  for (double const rank : this->pagerank(this->make(7, this->clique(7))).rank) EXPECT_NEAR(rank, 1.0 / 7, 1e-12);

  // Without arcs all vertices dangle; the uniform start is the solution.
  auto const isolated = this->pagerank(this->make(4, {}));
  EXPECT_EQ(isolated.rank, std::vector<double>(4, 0.25));
  EXPECT_EQ(isolated.iterations, 1u);
  EXPECT_TRUE(isolated.converged);

  auto const none = this->pagerank(this->make(0, {}));
  EXPECT_TRUE(none.converged);
  EXPECT_TRUE(none.rank.empty());

  // 0 -> 1, and 1 dangles: r1 = b + d r0, r0 = b with b = (1 - d)/2 + d r1/2, so r0 = 1/(2 + d).
  auto const arc = this->pagerank(this->make(2, {{0, 1}}, true), {.tolerance = 1e-14});
  EXPECT_NEAR(arc.rank[0], 1 / 2.85, 1e-12);
  EXPECT_NEAR(arc.rank[1], 1.85 / 2.85, 1e-12);
}

TYPED_TEST_P(algorithms_test, pagerank_agrees_with_the_verifier) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seeded(seed));
    std::size_t const n = 50 + 100 * seed;
    auto g = this->make(n, random_edges(random, n, n * (seed + 1)), seed % 2 == 1, seed >= 4);
    this->expect_ranks(g, seed < 3 ? 0.85 : 0.5);
    g.erase(random_edges(random, n, n));
    g.insert(random_edges(random, n, n));
    this->expect_ranks(g, 0.85);
  }
}

TYPED_TEST_P(algorithms_test, pagerank_of_uneven_degrees) {
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  auto const undirected = this->make(std::size_t{1} << log2, this->skewed(log2));
  this->expect_ranks(undirected, 0.85);
  this->expect_ranks(this->make(std::size_t{1} << log2, this->skewed(log2), true), 0.85);
  EXPECT_EQ(this->pagerank(undirected).rank, this->pagerank(undirected).rank);
}

TYPED_TEST_P(algorithms_test, pagerank_of_a_large_star) {
  auto const leaves = static_cast<graph::vertex_id>(this->sized(1'000'000, 5'000));
  std::vector<graph::edge> star;
  for (graph::vertex_id i = 1; i <= leaves; ++i) star.push_back({i, 0});
  auto const r = this->pagerank(this->make(leaves + std::size_t{1}, star), {.tolerance = 1e-13});
  double const n = leaves + 1.0;
  EXPECT_NEAR(r.rank[0], (1 + 0.85 * leaves) / (n * 1.85), 1e-11);
  EXPECT_NEAR(r.rank[leaves] * leaves, 1 - r.rank[0], 1e-11);
}

// All arcs lead to one vertex, which dangles: with L sources of rank b, the sink has b (1 + d L), which dangling jumps
// distribute over all n vertices: b = (1 - d) / n + d b (1 + d L) / n.
TYPED_TEST_P(algorithms_test, pagerank_of_a_hub_that_dangles) {
  constexpr graph::vertex_id sources = 1499;
  std::vector<graph::edge> arcs;
  for (graph::vertex_id i = 1; i <= sources; ++i) arcs.push_back({i, 0});
  auto g = this->make(sources + std::size_t{1}, arcs, true);
  double const d = 0.85;
  double const b = (1 - d) / (sources + 1.0 - d * (1 + d * sources));
  auto const expect = [&](std::vector<double> const& rank, double tolerance) {
    EXPECT_NEAR(rank[0], b * (1 + d * sources), tolerance);
    EXPECT_NEAR(rank[1] * sources, b * sources, tolerance);
    EXPECT_NEAR(rank[sources] * sources, b * sources, tolerance);
  };
  expect(this->pagerank(g, {.tolerance = 1e-14}).rank, 1e-12);
  algorithms::incremental_pagerank ranks(g, {.tolerance = 1e-10});
  g.attach(ranks);
  expect(ranks.rank(), ranks.error_bound() + 1e-12);
}

TYPED_TEST_P(algorithms_test, pagerank_with_teleport_weights) {
  std::mt19937 random(seeded(11));
  std::size_t const n = 200;
  auto const g = this->make(n, random_edges(random, n, 350), true);
  std::vector<double> weights(n);
  for (std::size_t v = 0; v < 20; ++v) weights[v] = static_cast<double>(v % 4);
  double const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> normalised = weights;
  for (double& w : normalised) w /= sum;
  for (bool const dangling : {false, true}) {
    auto const got = this->pagerank(g, {.tolerance = 1e-13, .teleport = weights, .dangling_teleports = dangling});
    auto const want = serial_pagerank(g.to_csr(), 0.85, normalised, dangling);
    for (std::size_t v = 0; v < n; ++v) ASSERT_NEAR(got.rank[v], want[v], 1e-12) << "vertex " << v;
  }
  weights[3] = -1;
  EXPECT_THROW(this->pagerank(g, {.teleport = weights}), error);
  EXPECT_THROW(this->pagerank(g, {.teleport = std::vector<double>(n)}), error);
  EXPECT_THROW(this->pagerank(g, {.teleport = {1, 2}}), error);
}

TYPED_TEST_P(algorithms_test, pagerank_in_single_precision) {
  std::mt19937 random(seeded(12));
  auto const g = this->make(300, random_edges(random, 300, 2000));
  auto const got = this->pagerank(g, {.tolerance = 1e-6, .ranks = algorithms::precision::fp32});
  EXPECT_TRUE(got.converged);
  auto const want = serial_pagerank(g.to_csr(), 0.85);
  for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got.rank[v], want[v], 1e-7) << "vertex " << v;
}

TYPED_TEST_P(algorithms_test, pagerank_batch_by_batch) {
  std::size_t const rounds = this->sized(1000, 12);
  // Pushes only; and all vertices at once from time to time, which differs for undirected and directed graphs.
  for (auto const& [directed, full_run] : {std::pair{false, 1e9}, {false, 0.3}, {true, 1.0}}) {
    std::mt19937 random(seeded(directed));
    std::size_t const n = 120;  // sparse, so that vertices lose all out-neighbours and get some again
    double const tolerance = 1e-7;
    auto g = this->make(n, random_edges(random, n, 150), directed, directed, this->one_thread());
    algorithms::incremental_pagerank ranks(g, {.tolerance = tolerance, .full_run = full_run});
    g.attach(ranks);
    for (std::size_t round = 0; round < rounds; ++round) {
      auto const batch = random_edges(random, n, 1 + random() % 8);
      auto const report = g.edges() < 250 ? g.insert(batch) : g.erase(random_edges(random, n, 2000));
      ASSERT_EQ(
          report.inserted + report.erased + report.missing + report.unchanged + report.duplicates + report.self_loops,
          report.requested);
      ASSERT_TRUE(ranks.converged());
      if (round % 10 != 9) continue;
      auto const got = ranks.rank();
      auto const want = serial_pagerank(g.to_csr(), 0.85);
      double const distance = l1_distance(got, want);
      ASSERT_LT(distance, 0.85 / 0.15 * tolerance) << "round " << round;
      ASSERT_LE(distance, ranks.error_bound() + serial_pagerank_error(0.85)) << "round " << round;
      ASSERT_LE(ranks.error_bound(), 0.85 / 0.15 * tolerance) << "round " << round;
    }
  }
}

TYPED_TEST_P(algorithms_test, pagerank_of_a_local_change) {
  // Two paths: a change in one does not affect the other, although all ranks are scaled.
  std::vector<graph::edge> paths;
  for (graph::vertex_id v = 0; v + 1 < 2000; ++v)
    if (v != 999) paths.push_back({v, v + 1});
  auto g = this->make(2001, paths);
  algorithms::incremental_pagerank ranks(g, {.tolerance = 1e-6, .full_run = 1e9});
  g.attach(ranks);
  auto const before = ranks.rank();
  g.insert(std::vector<graph::edge>{{500, 502}, {2000, 0}});
  EXPECT_GT(ranks.ranked(), 4u);
  EXPECT_LT(ranks.ranked(), 10u * 2001);
  auto const want = serial_pagerank(g.to_csr(), 0.85);
  auto const got = ranks.rank();
  double const distance = l1_distance(got, want);
  EXPECT_LT(distance, 0.85 / 0.15 * 1e-6);
  for (std::size_t v = 1000; v < 2000; ++v) EXPECT_NEAR(got[v] / before[v], got[1000] / before[1000], 1e-14);

  EXPECT_THROW(g.insert(std::vector<graph::edge>{{0, 1}, {3, 2001}}), error);
  EXPECT_EQ(ranks.rank(), got);
  g.insert(std::vector<graph::edge>{{0, 1}});  // an edge of the graph
  EXPECT_TRUE(ranks.converged());

  // Too few iterations for the first run.
  algorithms::incremental_pagerank slow(g, {.tolerance = 1e-6, .max_iterations = 2});
  EXPECT_FALSE(slow.converged());
  auto none = this->make(0, {});
  EXPECT_TRUE(algorithms::incremental_pagerank(none).rank().empty());
  EXPECT_THROW(algorithms::incremental_pagerank(g, {.damping = 1}), error);
}

// Batches that need no work as long as the sum of what they leave is below the tolerance.
TYPED_TEST_P(algorithms_test, pagerank_of_batches_below_the_tolerance) {
  std::mt19937 random(seeded(9));
  std::size_t const n = 1000;
  for (bool const directed : {false, true}) {
    double const tolerance = directed ? 1e-2 : 3e-3;  // the bound of an undirected graph is about half as large
    auto g = this->make(n, random_edges(random, n, 5000), directed, directed, this->one_thread());
    algorithms::incremental_pagerank ranks(g, {.tolerance = tolerance, .full_run = directed ? 0.1 : 1e9});
    g.attach(ranks);
    unsigned idle = 0;
    unsigned busy = 0;
    double last = ranks.error_bound();
    for (std::size_t round = 0; round < this->sized(200, 40); ++round) {
      auto const batch = random_edges(random, n, 2);
      g.insert(batch);
      if (round % 3 == 0) g.erase(std::vector(batch.begin(), batch.begin() + 1));
      ASSERT_TRUE(ranks.converged());
      ASSERT_LE(ranks.error_bound(), 0.85 / 0.15 * tolerance);
      (ranks.iterations() == 0 ? idle : busy) += 1;
      last = ranks.error_bound();
    }
    EXPECT_GT(idle, busy);
    EXPECT_GT(busy, 0u);
    auto const got = ranks.rank();
    auto const want = serial_pagerank(g.to_csr(), 0.85);
    double const distance = l1_distance(got, want);
    EXPECT_LE(distance, last);
    EXPECT_GT(distance, 0);
  }
}

TYPED_TEST_P(algorithms_test, pagerank_of_too_few_iterations) {
  // Two iterations per batch are too few. Residuals that remain are kept, and a refused batch changes nothing.
  std::mt19937 random(seeded(6));
  std::size_t const n = 300;
  double const tolerance = 1e-8;
  auto g = this->make(n, random_edges(random, n, 900), true, false, this->one_thread());
  algorithms::incremental_pagerank ranks(g, {.tolerance = tolerance, .max_iterations = 2, .full_run = 1e9});
  g.attach(ranks);
  EXPECT_FALSE(ranks.converged());
  EXPECT_EQ(ranks.iterations(), 2u);
  for (unsigned round = 0; round < 10; ++round) {
    g.insert(random_edges(random, n, 20));
    auto const before = ranks.rank();
    EXPECT_THROW(g.erase(std::vector<graph::edge>{{0, 1}, {5, 6}, {0, 300}}), error);
    EXPECT_EQ(ranks.rank(), before);
  }
  for (unsigned round = 0; round < 200 && !ranks.converged(); ++round) g.insert({});
  EXPECT_TRUE(ranks.converged());
  auto const got = ranks.rank();
  auto const want = serial_pagerank(g.to_csr(), 0.85);
  double const distance = l1_distance(got, want);
  EXPECT_LT(distance, 0.85 / 0.15 * tolerance);
}

TYPED_TEST_P(algorithms_test, pagerank_of_inserted_and_erased_hubs) {
  auto const leaves = static_cast<graph::vertex_id>(this->sized(100'000, 3'000));
  std::vector<graph::edge> star;
  for (graph::vertex_id i = 1; i <= leaves; ++i) star.push_back({i, 0});
  auto g = this->make(leaves + std::size_t{1}, {});
  algorithms::incremental_pagerank ranks(g, {.tolerance = 1e-8, .full_run = 1e9});
  g.attach(ranks);
  double const n = leaves + 1.0;
  for (double const rank : ranks.rank()) ASSERT_NEAR(rank * n, 1, 1e-12);
  g.insert(star);
  EXPECT_TRUE(ranks.converged());
  EXPECT_NEAR(ranks.rank()[0], (1 + 0.85 * leaves) / (n * 1.85), 1e-7);
  star.resize(star.size() - 10);
  g.erase(star);
  auto const got = ranks.rank();
  auto const want = serial_pagerank(g.to_csr(), 0.85);
  for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got[v] * n, want[v] * n, 1e-3) << "vertex " << v;
}

// All vertices at once, with rows of all lengths, any damping, and a tolerance far below what one pass in floats
// reaches.
TYPED_TEST_P(algorithms_test, pagerank_with_all_vertices_corrected) {
  std::mt19937 random(seeded(21));
  std::size_t const n = this->sized(20'000, 3'000);
  std::vector<graph::edge> edges = random_edges(random, n / 2, n);
  for (graph::vertex_id hub = 0; hub < 3; ++hub)  // a path is attached to the last hub
    for (std::size_t k = hub; k < n / 2; k += 1 + 5 * hub) edges.push_back({hub, static_cast<graph::vertex_id>(k)});
  for (std::size_t v = n / 2; v + 1 < n; ++v)
    edges.push_back({static_cast<graph::vertex_id>(v), static_cast<graph::vertex_id>(v + 1)});
  edges.push_back({2, static_cast<graph::vertex_id>(n / 2)});
  auto g = this->make(n, edges, false, false, this->one_thread());
  for (double const damping : {0.0, 0.5, 0.85, 0.99}) {
    double const tolerance = 1e-10;
    algorithms::incremental_pagerank ranks(
        g, {.damping = damping, .tolerance = tolerance, .max_iterations = 5000, .full_run = 0.001});
    g.attach(ranks);
    g.insert(random_edges(random, n, 20));
    EXPECT_TRUE(ranks.converged());
    EXPECT_LE(ranks.error_bound(), damping / (1 - damping) * tolerance + 1e-15);
    auto const got = ranks.rank();
    auto const want = serial_pagerank(g.to_csr(), damping);
    double const distance = l1_distance(got, want);
    EXPECT_LE(distance, ranks.error_bound() + serial_pagerank_error(damping)) << damping;
  }
}

// The same while vertices without neighbours are most, and appear and disappear. The error of the sum of ranks follows
// from the sum of the residuals of all other vertices.
TYPED_TEST_P(algorithms_test, pagerank_corrected_with_isolated_vertices) {
  std::mt19937 random(seeded(22));
  std::size_t const n = 400;
  double const tolerance = 1e-6;
  auto g = this->make(n, random_edges(random, n / 4, n / 2), false, false, this->one_thread());
  algorithms::incremental_pagerank ranks(g, {.tolerance = tolerance, .full_run = 0});
  g.attach(ranks);
  for (unsigned round = 0; round < this->sized(60, 15); ++round) {
    auto const batch = random_edges(random, n, 30);
    g.insert(batch);
    for (bool const is_erased : {false, true}) {
      if (is_erased) g.erase(batch);
      ASSERT_TRUE(ranks.converged());
      ASSERT_LE(ranks.error_bound(), 0.85 / 0.15 * tolerance) << "round " << round;
      auto const got = ranks.rank();
      auto const want = serial_pagerank(g.to_csr(), 0.85);
      double const distance = l1_distance(got, want);
      ASSERT_LE(distance, ranks.error_bound() + serial_pagerank_error(0.85)) << "round " << round;
    }
  }
}

TYPED_TEST_P(algorithms_test, several_maintained_results) {
  std::mt19937 random(seeded(8));
  std::size_t const n = 80;
  auto g = this->make(n, random_edges(random, n, 300), false, false, this->one_thread());
  algorithms::incremental_pagerank ranks(g);
  g.attach(ranks);
  algorithms::incremental_triangles count(g);
  g.attach(count);
  for (unsigned round = 0; round < 5; ++round) {
    g.insert(random_edges(random, n, 40));
    g.erase(random_edges(random, n, 200));
    EXPECT_EQ(count.total(), this->triangles(g).total);
    auto const got = ranks.rank();
    auto const want = serial_pagerank(g.to_csr(), 0.85);
    for (std::size_t v = 0; v < n; ++v) ASSERT_NEAR(got[v], want[v], 1e-8);
  }
  // In a directed graph without in-neighbours residuals are pushed.
  typename TestFixture::graph_type one_way(make_space<TypeParam>(), n, {.directed = true, .in_neighbours = false});
  one_way.insert(random_edges(random, n, 300));
  algorithms::incremental_pagerank out_only(one_way);
  auto const got = out_only.rank();
  auto const want = serial_pagerank(one_way.to_csr(), 0.85);
  for (std::size_t v = 0; v < n; ++v) ASSERT_NEAR(got[v], want[v], 1e-8);
}

TYPED_TEST_P(algorithms_test, pagerank_options) {
  std::mt19937 random(seeded(5));
  auto const g = this->make(100, random_edges(random, 100, 400));
  auto const cold = this->pagerank(g, {.tolerance = 1e-10});
  auto const warm = this->pagerank(g, {.tolerance = 1e-10, .start = cold.rank});
  EXPECT_LE(warm.iterations, 2u);
  EXPECT_TRUE(warm.converged);
  auto const few = this->pagerank(g, {.tolerance = 1e-10, .max_iterations = 3});
  EXPECT_EQ(few.iterations, 3u);
  EXPECT_FALSE(few.converged);
  EXPECT_GE(few.change, 1e-10);
  EXPECT_EQ(this->pagerank(g, {.max_iterations = 7}).rank, this->pagerank(g, {.max_iterations = 7}).rank);

  EXPECT_THROW(this->pagerank(g, {.damping = 1}), error);
  EXPECT_THROW(this->pagerank(g, {.damping = -0.1}), error);
  EXPECT_THROW(this->pagerank(g, {.tolerance = 0}), error);
  EXPECT_THROW(this->pagerank(g, {.start = {1, 0}}), error);
  typename TestFixture::graph_type const one_way(make_space<TypeParam>(), 3,
                                                 {.directed = true, .in_neighbours = false});
  EXPECT_THROW(this->pagerank(one_way), error);
}

TYPED_TEST_P(algorithms_test, triangles_of_known_graphs) {
  EXPECT_EQ(this->triangles(this->make(0, {})).total, 0u);
  EXPECT_EQ(this->triangles(this->make(5, {})).total, 0u);
  auto const clique = this->triangles(this->make(40, this->clique(40)));
  EXPECT_EQ(clique.total, 40u * 39 * 38 / 6);
  EXPECT_EQ(clique.per_vertex, std::vector<std::uint64_t>(40, 39 * 38 / 2));
  // Two triangles with the common edge 1-2, a tail, and self-loops, which are in no triangle.
  auto const bow =
      this->triangles(this->make(6, {{0, 1}, {1, 2}, {2, 0}, {3, 1}, {3, 2}, {3, 4}, {1, 1}, {4, 4}}, false, true));
  EXPECT_EQ(bow.total, 2u);
  EXPECT_EQ(bow.per_vertex, (std::vector<std::uint64_t>{1, 2, 2, 1, 0, 0}));
  EXPECT_THROW(this->triangles(this->make(3, {{0, 1}}, true)), error);
}

TYPED_TEST_P(algorithms_test, triangles_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seeded(seed));
    std::size_t const n = 40 + 60 * seed;
    auto g = this->make(n, random_edges(random, n, n * 6), false, seed % 2 == 1);
    for (int round = 0; round < 3; ++round) {
      auto const got = this->triangles(g);
      EXPECT_EQ(got.per_vertex, serial_triangles(g.to_csr()));
      EXPECT_EQ(got.total * 3, std::accumulate(got.per_vertex.begin(), got.per_vertex.end(), std::uint64_t{0}));
      EXPECT_EQ(algorithms::triangles(g.space(), g.view()).total, got.total);
      g.erase(random_edges(random, n, n));
      g.insert(random_edges(random, n, n));
    }
  }
}

TYPED_TEST_P(algorithms_test, triangles_of_uneven_degrees) {
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  auto const g = this->make(std::size_t{1} << log2, this->skewed(log2));
  auto const got = this->triangles(g);
  EXPECT_EQ(got.per_vertex, serial_triangles(g.to_csr()));
  EXPECT_EQ(got.total * 3, std::accumulate(got.per_vertex.begin(), got.per_vertex.end(), std::uint64_t{0}));
}

TYPED_TEST_P(algorithms_test, triangles_of_a_large_clique_and_a_large_star) {
  std::uint64_t const n = this->sized(3000, 100);  // 3000 vertices have more triangles than 32 bits hold
  auto const g = this->make(n, this->clique(static_cast<graph::vertex_id>(n)));
  EXPECT_EQ(algorithms::triangles(g.space(), g.view()).total, n * (n - 1) * (n - 2) / 6);
  auto const leaves = static_cast<graph::vertex_id>(this->sized(1'000'000, 5'000));
  std::vector<graph::edge> star{{leaves, leaves - 1}};
  for (graph::vertex_id i = 1; i <= leaves; ++i) star.push_back({i, 0});
  EXPECT_EQ(this->triangles(this->make(leaves + std::size_t{1}, star)).total, 1u);
}

TYPED_TEST_P(algorithms_test, support_of_edges) {
  EXPECT_TRUE(algorithms::edge_support(make_space<TypeParam>(), this->make(0, {}).view()).empty());
  EXPECT_THROW(algorithms::edge_support(make_space<TypeParam>(), this->make(3, {{0, 1}}, true).view()), error);
  // Two triangles with the common edge 1-2, a tail, and self-loops.
  auto const bow = this->make(6, {{0, 1}, {1, 2}, {2, 0}, {3, 1}, {3, 2}, {3, 4}, {1, 1}, {4, 4}}, false, true);
  EXPECT_EQ(algorithms::edge_support(bow.space(), bow.view()),
            (std::vector<std::uint32_t>{1, 1, 1, 0, 2, 1, 1, 2, 1, 1, 1, 0, 0, 0}));
  auto const log2 = static_cast<unsigned>(this->sized(12, 9));
  auto g = this->make(std::size_t{1} << log2, this->skewed(log2));
  for (int round = 0; round < 2; ++round) {
    auto const got = algorithms::edge_support(g.space(), g.view());
    EXPECT_EQ(got, serial_support(g.to_csr()));
    EXPECT_EQ(std::accumulate(got.begin(), got.end(), std::uint64_t{0}), 6 * this->triangles(g).total);
    std::mt19937 random(seeded(9));
    g.erase(random_edges(random, std::size_t{1} << log2, 20'000));
  }
}

TYPED_TEST_P(algorithms_test, triangles_batch_by_batch) {
  std::size_t const rounds = this->sized(1000, 20);
  for (bool const loops : {false, true}) {
    std::mt19937 random(seeded(loops));
    std::size_t const n = 60;
    auto g = this->make(n, random_edges(random, n, 100), false, loops, this->one_thread());
    algorithms::incremental_triangles count(g, true);
    g.attach(count);
    for (std::size_t round = 0; round < rounds; ++round) {
      // Few vertices, so that batches contain edges that form triangles with each other, repeats, and edges that are,
      // or are not, in the graph.
      auto const batch = random_edges(random, n, 1 + random() % 80);
      if (g.edges() < 250)
        g.insert(batch);
      else
        g.erase(batch);
      auto const want = this->triangles(g);
      ASSERT_EQ(count.total(), want.total) << "round " << round;
      ASSERT_EQ(count.per_vertex(), want.per_vertex) << "round " << round;
    }
  }
}

TYPED_TEST_P(algorithms_test, triangles_of_batches_that_are_refused) {
  auto g = this->make(10, this->clique(8));
  algorithms::incremental_triangles count(g, true);
  g.attach(count);
  auto const before = count.per_vertex();
  std::vector<graph::edge> const bad{{8, 9}, {0, 1}, {3, 10}, {8, 0}, {9, 0}};
  EXPECT_THROW(g.insert(bad), error);
  EXPECT_THROW(g.erase(bad), error);
  EXPECT_EQ(count.total(), 56u);
  EXPECT_EQ(count.per_vertex(), before);
  EXPECT_EQ(g.erase(this->clique(8)).erased, 28u);
  EXPECT_EQ(count.total(), 0u);
  EXPECT_EQ(count.per_vertex(), std::vector<std::uint64_t>(10));
  EXPECT_EQ(g.insert(this->clique(10)).inserted, 45u);
  EXPECT_EQ(count.total(), 120u);
  EXPECT_EQ(g.insert({}).inserted, 0u);
  EXPECT_THROW(algorithms::incremental_triangles(this->make(3, {{0, 1}}, true)), error);
  auto none = this->make(0, {});
  EXPECT_EQ(algorithms::incremental_triangles(none).total(), 0u);
}

TYPED_TEST_P(algorithms_test, clustering_coefficients) {
  auto const of = [&](typename TestFixture::graph_type const& g) {
    return algorithms::triangles(g.space(), g.view(), {.clustering = true});
  };
  auto const clique = of(this->make(20, this->clique(20)));
  EXPECT_EQ(clique.local_clustering, std::vector<double>(20, 1.0));
  EXPECT_EQ(clique.global_clustering, 1.0);
  // A triangle 0, 1, 2 with a tail at 2 and a self-loop at 0: one of the three pairs of neighbours of 2 is an edge.
  auto const tail = of(this->make(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {0, 0}}, false, true));
  EXPECT_EQ(tail.local_clustering, (std::vector<double>{1, 1, 1.0 / 3, 0, 0}));
  EXPECT_NEAR(tail.average_clustering, (2 + 1.0 / 3) / 5, 1e-15);
  EXPECT_NEAR(tail.global_clustering, 3.0 / 5, 1e-15);
  EXPECT_EQ(of(this->make(3, {})).global_clustering, 0.0);
  EXPECT_EQ(of(this->make(0, {})).average_clustering, 0.0);
}

TYPED_TEST_P(algorithms_test, quality_of_clusterings) {
  // Two triangles and an edge between them: 6 of 7 edges inside, degrees 7 and 7: 6/7 - 2/4.
  std::vector<graph::edge> const two{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {2, 3}};
  auto const g = this->make(6, two);
  auto const good = algorithms::quality(g.space(), g.view(), {0, 0, 0, 2, 2, 2});
  EXPECT_NEAR(good.modularity, 6.0 / 7 - 0.5, 1e-15);
  ASSERT_EQ(good.conductance.size(), 3u);
  EXPECT_NEAR(good.conductance[0], 1.0 / 7, 1e-15);
  EXPECT_EQ(good.conductance[1], 0);
  EXPECT_NEAR(good.conductance[2], 1.0 / 7, 1e-15);
  EXPECT_NEAR(algorithms::quality(g.space(), g.view(), std::vector<std::uint32_t>(6)).modularity, 0, 1e-15);
  EXPECT_NEAR(algorithms::quality(g.space(), g.view(), {0, 1, 2, 3, 4, 5}).modularity, -(4 * 4 + 2 * 9) / 196.0, 1e-15);
  // A self-loop has two ends: degrees 3 and 1, two of four ends inside.
  auto const loop = this->make(2, {{0, 0}, {0, 1}}, false, true);
  EXPECT_NEAR(algorithms::quality(loop.space(), loop.view(), {0, 1}).modularity, 0.5 - (9 + 1) / 16.0, 1e-15);

  // By the definition: a sum over pairs of vertices.
  auto const log2 = static_cast<unsigned>(this->sized(9, 7));
  auto const big = this->make(std::size_t{1} << log2, this->skewed(log2));
  graph::csr const rows = big.to_csr();
  std::vector<std::uint32_t> labels(std::size_t{1} << log2);
  for (std::size_t v = 0; v < labels.size(); ++v) labels[v] = static_cast<std::uint32_t>(v * v % 7);
  auto const arcs = static_cast<double>(rows.targets.size());
  double want = 0;
  for (std::size_t u = 0; u < labels.size(); ++u) {
    for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) want += labels[u] == labels[rows.targets[i]] ? 1 : 0;
    for (std::size_t v = 0; v < labels.size(); ++v)
      if (labels[u] == labels[v])
        want -= static_cast<double>(rows.offsets[u + 1] - rows.offsets[u]) *
                static_cast<double>(rows.offsets[v + 1] - rows.offsets[v]) / arcs;
  }
  EXPECT_NEAR(algorithms::quality(big.space(), big.view(), labels).modularity, want / arcs, 1e-12);

  auto const none = this->make(0, {});
  EXPECT_EQ(algorithms::quality(none.space(), none.view(), {}).modularity, 0);
  auto const isolated = this->make(3, {});
  EXPECT_EQ(algorithms::quality(isolated.space(), isolated.view(), {0, 1, 2}).modularity, 0);
  EXPECT_THROW(algorithms::quality(g.space(), g.view(), {0, 1}), error);
  EXPECT_THROW(algorithms::quality(g.space(), g.view(), {0, 0, 0, 0, 0, 6}), error);
  EXPECT_THROW(algorithms::quality(g.space(), this->make(1, {}, true).view(), {0}), error);
}

TYPED_TEST_P(algorithms_test, comparison_of_clusterings) {
  using labels = std::vector<std::uint32_t>;
  labels const a{0, 0, 0, 1, 1, 1};
  EXPECT_NEAR(algorithms::normalized_mutual_information(a, {9, 9, 9, 4, 4, 4}), 1, 1e-15);
  EXPECT_NEAR(algorithms::adjusted_rand_index(a, {9, 9, 9, 4, 4, 4}), 1, 1e-15);
  // Independent: each pair of labels occurs as often as its labels predict.
  EXPECT_NEAR(algorithms::normalized_mutual_information({0, 0, 1, 1}, {0, 1, 0, 1}), 0, 1e-15);
  EXPECT_NEAR(algorithms::adjusted_rand_index({0, 0, 1, 1}, {0, 1, 0, 1}), -0.5, 1e-15);
  // Pairs with equal labels: 6 of 15 in a, 3 in the other, 2 in both; the expected number is 6 * 3 / 15.
  EXPECT_NEAR(algorithms::adjusted_rand_index(a, {0, 0, 1, 1, 2, 2}), (2 - 1.2) / (4.5 - 1.2), 1e-15);
  // I = H(b) - H(b | a) = log 3 - (log 3 - 2/3 log 2) = 2/3 log 2.
  EXPECT_NEAR(algorithms::normalized_mutual_information(a, {0, 0, 1, 1, 2, 2}),
              2 * (2.0 / 3 * std::log(2)) / (std::log(2) + std::log(3)), 1e-15);
  EXPECT_EQ(algorithms::normalized_mutual_information({0, 0}, {1, 1}), 1);
  EXPECT_EQ(algorithms::adjusted_rand_index({0, 0}, {1, 1}), 1);
  EXPECT_EQ(algorithms::adjusted_rand_index({}, {}), 1);
  EXPECT_THROW((void)algorithms::adjusted_rand_index({0}, {}), error);
}

// An iteration over all vertices counts each of them; one over a frontier counts those that are listed. The limits are
// too low for the tolerance, so that the number of iterations is known.
TYPED_TEST_P(algorithms_test, pagerank_counts_the_vertices_of_full_runs) {
  std::size_t const n = 150;
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    std::mt19937 random(seeded(31));
    auto g = this->make(n, random_edges(random, n, 600), directed, false, this->one_thread());
    for (unsigned const iterations : {1u, 2u, 5u}) {
      algorithms::incremental_pagerank const ranks(g, {.tolerance = 1e-9, .max_iterations = iterations});
      EXPECT_FALSE(ranks.converged());
      EXPECT_EQ(ranks.iterations(), iterations);
      EXPECT_EQ(ranks.ranked(), iterations * n);
    }
    // A batch that begins with a frontier, and continues with all vertices after the first few iterations.
    unsigned const most = 16;
    algorithms::incremental_pagerank ranks(g, {.tolerance = 1e-9, .max_iterations = most, .full_run = 0});
    g.attach(ranks);
    g.insert(random_edges(random, n, 300));
    EXPECT_EQ(ranks.iterations(), most);
    EXPECT_GE(ranks.ranked(), most / 2 * n);
    EXPECT_LE(ranks.ranked(), most * n);
  }
  // The count is that of one batch.
  auto g = this->make(n, this->clique(30), true, false, this->one_thread());
  algorithms::incremental_pagerank ranks(g);
  g.attach(ranks);
  EXPECT_TRUE(ranks.converged());
  EXPECT_GE(ranks.ranked(), n);
  g.insert(std::vector<graph::edge>{{1, 0}});  // is there
  EXPECT_EQ(ranks.iterations(), 0u);
  EXPECT_EQ(ranks.ranked(), 0u);
}

REGISTER_TYPED_TEST_SUITE_P(
    algorithms_test, pagerank_of_known_graphs, pagerank_agrees_with_the_verifier, pagerank_of_uneven_degrees,
    pagerank_of_a_large_star, pagerank_of_a_hub_that_dangles, pagerank_with_teleport_weights,
    pagerank_in_single_precision, pagerank_batch_by_batch, pagerank_of_a_local_change, pagerank_of_too_few_iterations,
    pagerank_of_batches_below_the_tolerance, pagerank_of_inserted_and_erased_hubs, pagerank_with_all_vertices_corrected,
    pagerank_corrected_with_isolated_vertices, several_maintained_results, pagerank_options, triangles_of_known_graphs,
    triangles_agree_with_the_verifier, triangles_of_uneven_degrees, triangles_of_a_large_clique_and_a_large_star,
    triangles_batch_by_batch, triangles_of_batches_that_are_refused, support_of_edges, clustering_coefficients,
    quality_of_clusterings, comparison_of_clusterings, pagerank_counts_the_vertices_of_full_runs);

}  // namespace wyrm::tests
