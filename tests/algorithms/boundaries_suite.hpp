// SPDX-License-Identifier: Apache-2.0
// The tests of PageRank, triangles and related algorithms at boundaries, for any space: numbers of iterations, rows
// with the greatest length of a bin and one more, the smallest graphs, large clusters, and one object for several
// graphs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "../../algorithms/bfs.hpp"
#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/components.hpp"
#include "../../algorithms/core_numbers.hpp"
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

template <class Space>
class boundaries_test : public graphs_test<Space> {
 protected:
  using typename graphs_test<Space>::graph_type;
  using ids = std::vector<graph::vertex_id>;
  static constexpr double damping = 0.85;

  /// Ranks after each number of iterations from 0 on, by pushing; the change of each iteration; and the sum of the
  /// ranks of dangling vertices after each.
  struct serial_iterations {
    std::vector<std::vector<double>> rank;
    std::vector<double> change{0};
    std::vector<double> dangling;

    serial_iterations(graph::csr const& g, std::vector<double> const& start, unsigned iterations) : rank{start} {
      std::size_t const n = start.size();
      auto const degree = [&](std::size_t v) { return static_cast<double>(g.offsets[v + 1] - g.offsets[v]); };
      for (unsigned k = 0;; ++k) {
        std::vector<double> const& now = rank.back();
        dangling.push_back(0);
        for (std::size_t v = 0; v < n; ++v) dangling.back() += degree(v) == 0 ? now[v] : 0;
        if (k == iterations) return;
        std::vector<double> next(n, (1 - damping + damping * dangling.back()) / static_cast<double>(n));
        for (std::size_t v = 0; v < n; ++v)
          for (auto i = g.offsets[v]; i < g.offsets[v + 1]; ++i) next[g.targets[i]] += damping * now[v] / degree(v);
        change.push_back(0);
        for (std::size_t v = 0; v < n; ++v) change.back() += std::abs(next[v] - now[v]);
        rank.push_back(next);
      }
    }
  };
  static void expect_near(std::vector<double> const& got, std::vector<double> const& want, double error) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got[v], want[v], error) << "vertex " << v;
  }

  /// Hubs with these numbers of neighbours: the lengths at which rows are divided differently, with one less and one
  /// more; and those whose last part lacks one entry. The neighbours of each hub are the first vertices of a path
  /// behind the hubs, so all its triangles are known.
  struct combs {
    std::vector<graph::vertex_id> degrees{1, 2};
    graph::vertex_id path = 2047;
    std::vector<graph::edge> edges;

    combs() {
      for (graph::vertex_id length = 4; length <= 1024; length *= 2)
        degrees.insert(degrees.end(), {length - 1, length, length + 1});
      degrees.insert(degrees.end(), {5 * 256 - 1, path});
      for (graph::vertex_id v = 0; v + 1 < path; ++v) edges.push_back({on_path(v), on_path(v + 1)});
      for (graph::vertex_id h = 0; h < hubs(); ++h)
        for (graph::vertex_id v = 0; v < degrees[h]; ++v) edges.push_back({h, on_path(v)});
    }
    [[nodiscard]] graph::vertex_id hubs() const { return static_cast<graph::vertex_id>(degrees.size()); }
    [[nodiscard]] graph::vertex_id on_path(graph::vertex_id v) const { return hubs() + v; }
    [[nodiscard]] std::size_t vertices() const { return std::size_t{hubs()} + path; }
    /// The number of hubs with vertex v of the path and its successor as neighbours.
    [[nodiscard]] std::uint64_t around(graph::vertex_id v) const {
      return static_cast<std::uint64_t>(
          std::count_if(degrees.begin(), degrees.end(), [&](graph::vertex_id d) { return d > v + 1; }));
    }
  };
};

TYPED_TEST_SUITE_P(boundaries_test);

// The number of iterations is even or odd, and the host reads the state after several of them.
TYPED_TEST_P(boundaries_test, pagerank_after_each_number_of_iterations) {
  std::size_t const n = 70;
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(1));
    auto const g = this->make(n, random_edges(random, n, 90), directed);
    std::vector<double> start(n);
    for (double& r : start) r = static_cast<double>(1 + random() % 100);
    double const sum = std::accumulate(start.begin(), start.end(), 0.0);
    for (double& r : start) r /= sum;
    typename TestFixture::serial_iterations const want(g.to_csr(), start, 17);
    for (unsigned const k : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 16u, 17u}) {
      SCOPED_TRACE(k);
      algorithms::pagerank_options o{.tolerance = 1e-300, .max_iterations = k, .start = start};
      auto const got = algorithms::pagerank(g.space(), g.view(), o);
      EXPECT_EQ(got.iterations, k);
      EXPECT_FALSE(got.converged);
      EXPECT_NEAR(got.change, want.change[k], 1e-14);
      this->expect_near(got.rank, want.rank[k], 1e-15);
      o.ranks = algorithms::precision::fp32;
      this->expect_near(algorithms::pagerank(g.space(), g.view(), o).rank, want.rank[k], 1e-6);

      // In two runs, of which the second one continues with the ranks of the first one.
      o.ranks = algorithms::precision::fp64;
      algorithms::pagerank_ranker<TypeParam> ranker(g.space());
      o.max_iterations = k / 2;
      (void)ranker.run(g.view(), o);
      o.max_iterations = k - k / 2;
      EXPECT_EQ(ranker.run(g.view(), o, true).iterations, k - k / 2);
      this->expect_near(exec::copy_out(g.space(), ranker.rank(), n), want.rank[k], 1e-15);
      EXPECT_NEAR(ranker.dangling(), want.dangling[k], 1e-14);
      EXPECT_THROW((void)ranker.run(this->make(n + 1, {}).view(), {}, true), error);
    }
  }
}

// The last iteration is the first with a change below the tolerance; a change equal to it is not below.
TYPED_TEST_P(boundaries_test, pagerank_ends_below_the_tolerance) {
  std::mt19937 random(seeded(2));
  auto const g = this->make(60, random_edges(random, 60, 150), true);
  auto const run = [&](double tolerance, unsigned most) {
    return algorithms::pagerank(g.space(), g.view(), {.tolerance = tolerance, .max_iterations = most});
  };
  for (unsigned const k : {1u, 3u, 8u, 9u}) {
    SCOPED_TRACE(k);
    double const change = run(1e-300, k).change;
    auto const above = run(std::nextafter(change, 1.0), 100);
    EXPECT_EQ(above.iterations, k);
    EXPECT_TRUE(above.converged);
    EXPECT_EQ(above.change, change);
    EXPECT_TRUE(run(std::nextafter(change, 1.0), k).converged);
    auto const equal = run(change, 100);
    EXPECT_EQ(equal.iterations, k + 1);
    EXPECT_LT(equal.change, change);
    EXPECT_FALSE(run(change, k).converged);
  }
}

TYPED_TEST_P(boundaries_test, rows_of_the_lengths_that_limit_bins) {
  typename TestFixture::combs const c;
  std::size_t const n = c.vertices();
  auto const g = this->make(n, c.edges);
  graph::csr const rows = g.to_csr();

  auto const triangles = algorithms::triangles(g.space(), g.view(), {.clustering = true});
  std::vector<std::uint64_t> corners(n);
  std::uint64_t total = 0;
  for (graph::vertex_id h = 0; h < c.hubs(); ++h) {
    total += corners[h] = c.degrees[h] - 1;
    EXPECT_NEAR(triangles.local_clustering[h], c.degrees[h] > 1 ? 2.0 / c.degrees[h] : 0, 1e-15);
  }
  for (graph::vertex_id v = 0; v < c.path; ++v) corners[c.on_path(v)] = c.around(v) + (v > 0 ? c.around(v - 1) : 0);
  EXPECT_EQ(triangles.total, total);
  EXPECT_EQ(triangles.per_vertex, corners);

  std::vector<std::uint32_t> support;
  for (graph::vertex_id u = 0; u < n; ++u)
    for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      auto const [low, high] = std::minmax(u, rows.targets[i]);
      // An edge of the path is in a triangle with each hub around it, an edge of a hub with both neighbours on the
      // path.
      support.push_back(low >= c.hubs()
                            ? static_cast<std::uint32_t>(c.around(low - c.hubs()))
                            : (high > c.hubs() ? 1u : 0u) + (high + 1 < c.on_path(c.degrees[low]) ? 1u : 0u));
    }
  EXPECT_EQ(algorithms::edge_support(g.space(), g.view()), support);
  EXPECT_EQ(algorithms::core_numbers(g.space(), g.view()).core, serial_core_numbers(rows));
}

TYPED_TEST_P(boundaries_test, arcs_of_the_lengths_that_limit_bins) {
  typename TestFixture::combs const c;
  // From hubs, to hubs, and in both directions.
  for (unsigned direction = 0; direction < 3; ++direction) {
    SCOPED_TRACE(direction);
    std::vector<graph::edge> arcs = c.edges;
    if (direction == 1)
      for (graph::edge& e : arcs) e = {e.target, e.source};
    auto const g = this->make(c.vertices(), arcs, direction < 2);
    graph::csr const rows = g.to_csr();
    auto const ranks = algorithms::pagerank(g.space(), g.view(), {.damping = 0.3, .tolerance = 1e-12});
    this->expect_near(ranks.rank, serial_pagerank(rows, 0.3), 1e-12);
    auto const components = algorithms::components(g.space(), g.view());
    EXPECT_EQ(components.label, serial_components(rows));
    EXPECT_EQ(components.count, 1u);
    EXPECT_EQ(components.largest, c.vertices());
    std::array<graph::vertex_id, 2> const sources{c.hubs() / 2, c.on_path(c.path - 1)};
    EXPECT_EQ(algorithms::bfs(g.space(), g.view(), sources).distance, serial_distances(rows, sources));
  }
}

// An edge between the last two vertices has the greatest key; a self-loop of the last vertex would have a greater one.
TYPED_TEST_P(boundaries_test, changes_of_triangles_in_the_smallest_graphs) {
  for (graph::vertex_id n = 2; n <= 5; ++n) {
    SCOPED_TRACE(n);
    auto g = this->make(n, {}, false, true, this->one_thread());
    algorithms::incremental_triangles count(g, true);
    g.attach(count);
    std::vector<graph::edge> all = this->clique(n);
    for (graph::vertex_id v = 1; v < n; ++v) all.insert(all.end(), {{v - 1, v}, {v, v}});
    g.insert(all);
    std::uint64_t const of_clique = std::uint64_t{n} * (n - 1) * (n - 2) / 6;
    EXPECT_EQ(count.total(), of_clique);
    EXPECT_EQ(count.per_vertex(), serial_triangles(g.to_csr()));
    g.erase(std::vector<graph::edge>{{n - 1, n - 2}, {n - 1, n - 1}, {n - 2, n - 1}});
    EXPECT_EQ(count.total(), of_clique - (n - 2));
    EXPECT_EQ(count.per_vertex(), serial_triangles(g.to_csr()));
    g.erase(all);
    EXPECT_EQ(count.total(), 0u);
    EXPECT_EQ(count.per_vertex(), std::vector<std::uint64_t>(n));
  }
}

// Values of one graph must not be left in the results of the next one, whether it is larger or smaller.
TYPED_TEST_P(boundaries_test, triangles_of_several_graphs_with_one_counter) {
  std::mt19937 random(seeded(3));
  auto const space = make_space<TypeParam>();
  algorithms::triangle_counter<TypeParam> counter(space);
  for (std::size_t const n : {90u, 7u, 0u, 300u, 40u})
    for (unsigned what = 0; what < 3; ++what) {
      SCOPED_TRACE(n);
      auto const g = this->make(n, random_edges(random, n, n > 0 ? 8 * n : 0), false, what == 1, space);
      auto const want = serial_triangles(g.to_csr());
      auto const got = counter.count(g.view(), {.per_vertex = what == 1, .clustering = what == 2});
      EXPECT_EQ(got.total, std::accumulate(want.begin(), want.end(), std::uint64_t{0}) / 3);
      EXPECT_EQ(got.per_vertex, what > 0 ? want : std::vector<std::uint64_t>());
      EXPECT_EQ(got.local_clustering.size(), what == 2 ? n : 0);
    }
}

// By the definition, for labels of very different sizes: of one cluster with most arcs, of unused labels, and of labels
// that only vertices without neighbours have.
TYPED_TEST_P(boundaries_test, conductance_by_its_definition) {
  for (bool const loops : {false, true}) {
    std::mt19937 random(seeded(4));
    std::uint32_t const n = 80;
    auto const g = this->make(n, random_edges(random, n - 10, 250), false, loops);
    graph::csr const rows = g.to_csr();
    std::vector<std::uint32_t> labels(n);
    for (std::uint32_t v = 0; v < n; ++v) labels[v] = v >= n - 10 ? n - 1 : v % 4 != 0 ? 3 : 5 + random() % 4;
    auto const got = algorithms::quality(g.space(), g.view(), labels);
    ASSERT_EQ(got.conductance.size(), n);
    double all = 0;
    std::vector<double> degrees(n);
    std::vector<double> leave(n);
    for (graph::vertex_id u = 0; u < n; ++u)
      for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
        double const ends = rows.targets[i] == u ? 2 : 1;
        degrees[labels[u]] += ends;
        all += ends;
        if (labels[u] != labels[rows.targets[i]]) ++leave[labels[u]];
      }
    EXPECT_GT(degrees[3], 0.5 * all);
    for (std::uint32_t l = 0; l < n; ++l) {
      double const smaller = std::min(degrees[l], all - degrees[l]);
      EXPECT_DOUBLE_EQ(got.conductance[l], smaller > 0 ? leave[l] / smaller : 0) << "label " << l;
    }
    EXPECT_NEAR(got.modularity, serial_modularity(rows, {}, labels), 1e-13);
  }
}

TYPED_TEST_P(boundaries_test, options_of_pagerank_at_their_limits) {
  auto const g = this->make(3, {{0, 1}, {1, 2}});
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto const run = [&](algorithms::pagerank_options const& o) { return algorithms::pagerank(g.space(), g.view(), o); };
  EXPECT_EQ(run({.damping = 0}).rank, std::vector<double>(3, 1.0 / 3));
  this->expect_near(run({.damping = 0, .teleport = {1, 0, 3}}).rank, {0.25, 0, 0.75}, 1e-15);
  EXPECT_THROW(run({.damping = nan}), error);
  EXPECT_THROW(run({.tolerance = nan}), error);
  EXPECT_THROW(run({.teleport = {1, 0, nan}}), error);
  EXPECT_THROW(run({.teleport = {1e308, 0, 1e308}}), error);
  double const least = std::numeric_limits<double>::denorm_min();
  this->expect_near(run({.damping = 0, .teleport = {least, 0, 3 * least}}).rank, {0.25, 0, 0.75}, 1e-15);
  EXPECT_THROW(run({.teleport = {1, 0, std::numeric_limits<double>::infinity()}}), error);
  EXPECT_THROW(run({.start = {1, 0, 0, 0}}), error);

  using maintained = algorithms::incremental_pagerank_options;
  auto const maintain = [&](maintained const& o) { return algorithms::incremental_pagerank(g, o).rank(); };
  EXPECT_EQ(maintain({.damping = 0}), std::vector<double>(3, 1.0 / 3));
  EXPECT_NO_THROW(maintain({.damping = 0.99}));
  EXPECT_NO_THROW(maintain({.tolerance = 2}));
  EXPECT_NO_THROW(maintain({.max_iterations = 1}));
  for (maintained const& o : {maintained{.damping = 0.991}, maintained{.damping = -0.01}, maintained{.damping = nan},
                              maintained{.tolerance = 0}, maintained{.tolerance = 2.01}, maintained{.tolerance = nan},
                              maintained{.max_iterations = 0}})
    EXPECT_THROW(maintain(o), error);
}

REGISTER_TYPED_TEST_SUITE_P(boundaries_test, pagerank_after_each_number_of_iterations,
                            pagerank_ends_below_the_tolerance, rows_of_the_lengths_that_limit_bins,
                            arcs_of_the_lengths_that_limit_bins, changes_of_triangles_in_the_smallest_graphs,
                            triangles_of_several_graphs_with_one_counter, conductance_by_its_definition,
                            options_of_pagerank_at_their_limits);

}  // namespace wyrm::tests
