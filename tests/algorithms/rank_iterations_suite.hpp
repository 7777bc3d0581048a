// SPDX-License-Identifier: Apache-2.0
// PageRank by other iterations than the power method, for any space: known ranks, the serial verifier, and the order in
// which an iteration sets vertices.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "../../algorithms/pagerank.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class rank_iterations_test : public any_graph_test<Space> {
 protected:
  static constexpr double tolerance = 1e-10;
  static constexpr double bound = 0.85 / 0.15 * tolerance + 1e-13;
  using iteration = algorithms::rank_iteration;
  static algorithms::pagerank_options options(iteration i = iteration::gauss_seidel) {
    return {.tolerance = tolerance, .iteration = i};
  }
  /// The iterations for a graph, besides the power method.
  static std::vector<iteration> iterations(bool directed) {
    if (directed) return {iteration::gauss_seidel};
    return {iteration::gauss_seidel, iteration::chebyshev};
  }
  static algorithms::pagerank_result pagerank(graph::any_graph const& g, algorithms::pagerank_options const& o) {
    return algorithms::pagerank(any_graph_test<Space>::space_of(g), g.view(), o);
  }
  static void expect_near(std::vector<double> const& got, std::vector<double> const& want, double distance) {
    ASSERT_EQ(got.size(), want.size());
    double sum = 0;
    for (std::size_t v = 0; v < got.size(); ++v) sum += std::abs(got[v] - want[v]);
    ASSERT_LE(sum, distance);
  }
  /// Enough for several chunks in each phase.
  static std::size_t vertices() { return any_graph_test<Space>::sized(6000, 2700) | 1; }
  /// Half of the edges are at a few hubs; the last 40 vertices have no edges.
  static std::vector<graph::edge> random_graph(std::mt19937& random, std::size_t n, std::size_t count) {
    std::vector<graph::edge> edges = random_edges(random, n - 40, count);
    for (std::size_t i = 0; i < edges.size(); i += 2)
      edges[i].source = static_cast<graph::vertex_id>(random() % 24 * 7);
    return edges;
  }
  /// The ranks after one iteration from equal ranks, of an undirected graph without isolated vertices.
  static std::vector<double> first_iteration(graph::csr const& g, std::size_t lanes) {
    std::size_t const n = g.offsets.size() - 1;
    auto const even = 1.0 / static_cast<double>(n);
    auto const degree = [&](std::size_t v) { return static_cast<double>(g.offsets[v + 1] - g.offsets[v]); };
    std::vector<double> rank(n, even);
    std::vector<bool> is_set(n);  // by an earlier phase, or earlier in the same chunk
    for (std::size_t phase = 0; phase < 4; ++phase) {
      std::vector<double> next = rank;
      std::vector<bool> of_phase = is_set;
      for (std::size_t chunk = phase; chunk * 512 < n; chunk += 4) {
        std::vector<bool> here = is_set;
        std::size_t const end = std::min(n, (chunk + 1) * 512);
        for (std::size_t first = chunk * 512; first < end; first += lanes) {
          std::vector<double> of_lanes;
          for (std::size_t v = first; v < std::min(end, first + lanes); ++v) {
            double sum = 0;
            for (std::uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; ++i)
              sum += (here[g.targets[i]] ? next : rank)[g.targets[i]] / degree(g.targets[i]);
            of_lanes.push_back(0.15 * even + 0.85 * sum);
          }
          for (std::size_t k = 0; k < of_lanes.size(); ++k) {
            next[first + k] = of_lanes[k];
            of_phase[first + k] = here[first + k] = true;
          }
        }
      }
      rank = next;
      is_set = of_phase;
    }
    double const sum = std::accumulate(rank.begin(), rank.end(), 0.0);
    for (double& r : rank) r /= sum;
    return rank;
  }
};

TYPED_TEST_SUITE_P(rank_iterations_test);

TYPED_TEST_P(rank_iterations_test, known_ranks) {
  for (auto const i : this->iterations(false)) {
    auto const star = this->pagerank(this->make(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}), this->options(i));
    EXPECT_TRUE(star.converged);
    EXPECT_LT(star.change, this->tolerance);
    // r0 = .03 + .85 * 4 r1, r1 = .03 + .85 r0 / 4.
    double const hub = 0.132 / 0.2775;
    double const leaf = (1 - hub) / 4;
    this->expect_near(star.rank, {hub, leaf, leaf, leaf, leaf}, this->bound);
    EXPECT_EQ(this->pagerank(this->make(4, {}), this->options(i)).rank, std::vector<double>(4, 0.25));
    auto const none = this->pagerank(this->make(0, {}), this->options(i));
    EXPECT_TRUE(none.rank.empty());
    EXPECT_TRUE(none.converged);
  }
  auto const directed = this->make(2, {{0, 1}}, {.directed = true});
  this->expect_near(this->pagerank(directed, this->options()).rank, {1 / 2.85, 1.85 / 2.85}, this->bound);
  this->expect_contains(
      refusal([&] { (void)this->pagerank(directed, this->options(algorithms::rank_iteration::chebyshev)); }),
      "the graph is directed");
}

TYPED_TEST_P(rank_iterations_test, agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = this->vertices();
    bool const directed = seed % 2 == 1;
    auto const g = this->make(n, this->random_graph(random, n, 6 * n), {.directed = directed, .self_loops = seed >= 2});
    auto const rows = g.to_csr();
    auto const want = serial_pagerank(rows, 0.85);
    double lost = 0;
    for (std::size_t v = 0; v < n; ++v) lost += rows.offsets[v] == rows.offsets[v + 1] ? want[v] : 0;
    for (auto const i : this->iterations(directed)) {
      SCOPED_TRACE(static_cast<int>(i));
      auto const got = this->pagerank(g, this->options(i));
      EXPECT_TRUE(got.converged);
      this->expect_near(got.rank, want, this->bound);
      EXPECT_NEAR(std::accumulate(got.rank.begin(), got.rank.end(), 0.0), 1, 1e-12);
      EXPECT_EQ(this->pagerank(g, this->options(i)).rank, got.rank);
      auto o = this->options(i);
      o.tolerance = 1e-5;
      o.ranks = algorithms::precision::fp32;
      this->expect_near(this->pagerank(g, o).rank, want, 1e-4);
      // A start on the device, and one on the host.
      auto const space = this->space_of(g);
      algorithms::pagerank_ranker<TypeParam> ranker(space);
      ranker.run(g.view(), this->options(i));
      EXPECT_LE(ranker.run(g.view(), this->options(i), true).iterations, 2u);
      this->expect_near(exec::copy_out(space, ranker.rank(), n), want, this->bound);
      EXPECT_NEAR(ranker.dangling(), lost, this->bound);
      o = this->options(i);
      o.start = want;
      EXPECT_LE(this->pagerank(g, o).iterations, 2u);
    }
  }
}

TYPED_TEST_P(rank_iterations_test, jumps_and_removed_vertices) {
  std::size_t const n = this->vertices();
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(7));
    auto g = this->make(n, this->random_graph(random, n, 4 * n), {.directed = directed});
    std::vector<double> jumps(n);
    for (double& j : jumps) j = random() % 4 == 0 ? 1 + static_cast<double>(random() % 16) : 0;
    auto normalised = jumps;
    double const sum = std::accumulate(jumps.begin(), jumps.end(), 0.0);
    for (double& j : normalised) j /= sum;
    auto const want = serial_pagerank(g.to_csr(), 0.85, normalised, true);
    for (auto const i : this->iterations(directed)) {
      auto o = this->options(i);
      o.teleport = jumps;
      o.dangling_teleports = true;
      this->expect_near(this->pagerank(g, o).rank, want, this->bound);
    }
    g.remove_vertices({0, 7, static_cast<graph::vertex_id>(n - 1)});
    auto const of_power = this->pagerank(g, {.tolerance = this->tolerance}).rank;
    for (auto const i : this->iterations(directed)) {
      auto const got = this->pagerank(g, this->options(i));
      EXPECT_EQ(got.rank[0] + got.rank[7] + got.rank[n - 1], 0);
      this->expect_near(got.rank, of_power, 2 * this->bound);
    }
  }
}

TYPED_TEST_P(rank_iterations_test, weights) {
  std::size_t const n = this->vertices();
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(3));
    // The weight of an edge is the last one that is inserted.
    auto const edges = this->random_graph(random, n, 4 * n);
    std::vector<float> weights(edges.size());
    for (float& w : weights) w = static_cast<float>(random() % 9) / 8;
    auto const g = this->make(n, edges, {.directed = directed, .values = graph::number_type::f32}, weights);
    auto const want = serial_pagerank(g.to_csr(), 0.85, {}, false, g.template values<float>());
    for (auto const i : this->iterations(directed)) {
      auto o = this->options(i);
      o.weighted = true;
      this->expect_near(this->pagerank(g, o).rank, want, this->bound);
    }
  }
}

/// A hub with 1,500 neighbours, whose row has parts, and hubs whose contributions are in a table.
TYPED_TEST_P(rank_iterations_test, rows_of_hubs) {
  std::size_t const n = std::max(this->vertices(), exec::table_capacity<double>(make_space<TypeParam>()) + 100);
  std::mt19937 random(seeded(4));
  std::vector<graph::edge> edges = this->random_graph(random, n, 4 * n);
  for (graph::vertex_id v = 1; v < 1500; ++v) edges.push_back({0, v});
  auto const g = this->make(n, edges);
  auto const want = serial_pagerank(g.to_csr(), 0.85);
  for (auto const i : this->iterations(false))
    for (std::uint64_t const from : {std::uint64_t{0}, ~std::uint64_t{0}}) {
      auto o = this->options(i);
      o.hubs_first_from = from;
      this->expect_near(this->pagerank(g, o).rank, want, this->bound);
    }
}

TYPED_TEST_P(rank_iterations_test, an_iteration_sets_chunks_in_four_phases) {
  std::mt19937 random(seeded(5));
  std::size_t const n = this->vertices();
  std::vector<graph::edge> edges = this->random_graph(random, n, 4 * n);
  for (graph::vertex_id v = 0; v < n; ++v) edges.push_back({v, static_cast<graph::vertex_id>((v + 1) % n)});
  auto const g = this->make(n, edges);
  auto o = this->options();
  o.max_iterations = 1;
  auto const got = this->pagerank(g, o);
  EXPECT_FALSE(got.converged);
  EXPECT_EQ(got.iterations, 1u);
  this->expect_near(got.rank, this->first_iteration(g.to_csr(), TypeParam::template tile_size<32>), 1e-12);
  o.max_iterations = 0;
  this->expect_near(this->pagerank(g, o).rank, std::vector<double>(n, 1.0 / static_cast<double>(n)), 1e-12);
}

// The power method multiplies the error of a ring by nearly the damping in each iteration.
TYPED_TEST_P(rank_iterations_test, need_fewer_iterations_than_the_power_method) {
  std::size_t const n = this->vertices();
  std::vector<graph::edge> edges;
  for (graph::vertex_id v = 0; v < n; ++v) edges.push_back({v, static_cast<graph::vertex_id>((v + 1) % n)});
  for (graph::vertex_id v = 2; v < n / 2; ++v) edges.push_back({v, static_cast<graph::vertex_id>(v - 2)});
  auto const g = this->make(n, edges);
  unsigned const of_power = this->pagerank(g, {.tolerance = this->tolerance}).iterations;
  for (auto const i : this->iterations(false)) {
    // The lanes of a tile set 32 vertices at the same time, which on this graph are neighbours.
    if (i == algorithms::rank_iteration::gauss_seidel && exec::has_tiles<TypeParam>) continue;
    EXPECT_LT(this->pagerank(g, this->options(i)).iterations, of_power * 2 / 3) << static_cast<int>(i);
  }
}

// On a path of 0, 1 and 2, J x = .05 + .85 P x.
TYPED_TEST_P(rank_iterations_test, chebyshev_extrapolates_from_two_iterations) {
  auto const g = this->make(3, {{0, 1}, {1, 2}});
  auto o = this->options(algorithms::rank_iteration::chebyshev);
  unsigned const plain = exec::has_tiles<TypeParam> ? 8 : 4;  // iterations of the power method
  struct ranks {
    double end, middle;
  };
  std::vector<ranks> x{{1.0 / 3, 1.0 / 3}};
  double factor = 1;
  double change = 0;
  for (unsigned k = 0; k < plain + 3; ++k) {
    ranks const next{0.05 + 0.425 * x[k].middle, 0.05 + 1.7 * x[k].end};
    change = 2 * std::abs(next.end - x[k].end) + std::abs(next.middle - x[k].middle);
    if (k < plain) {
      x.push_back(next);
      continue;
    }
    factor = 1 / (1 - 0.85 * 0.85 * (k == plain ? 0.5 : factor / 4));
    x.push_back({factor * (next.end - x[k - 1].end) + x[k - 1].end,
                 factor * (next.middle - x[k - 1].middle) + x[k - 1].middle});
  }
  for (unsigned const k : {1u, plain, plain + 1, plain + 2, plain + 3}) {
    o.max_iterations = k;
    auto const got = this->pagerank(g, o);
    EXPECT_FALSE(got.converged);
    EXPECT_EQ(got.iterations, k);
    this->expect_near(got.rank, {x[k].end, x[k].middle, x[k].end}, 1e-14);
    if (k == plain + 3) {
      EXPECT_NEAR(got.change, change, 1e-14);
    }
  }
  // The result of a run that converges are the ranks whose change is below the tolerance.
  o.tolerance = change * 1.01;
  auto const converged = this->pagerank(g, o);
  EXPECT_TRUE(converged.converged);
  EXPECT_EQ(converged.iterations, plain + 3);
  ranks const last = x[plain + 2];
  this->expect_near(converged.rank, {last.end, last.middle, last.end}, 1e-14);
}

REGISTER_TYPED_TEST_SUITE_P(rank_iterations_test, known_ranks, agree_with_the_verifier,
                            need_fewer_iterations_than_the_power_method, jumps_and_removed_vertices, weights,
                            rows_of_hubs, an_iteration_sets_chunks_in_four_phases,
                            chebyshev_extrapolates_from_two_iterations);

}  // namespace wyrm::tests
