// SPDX-License-Identifier: Apache-2.0
// The tests of clustering under the map equation and the constant Potts model, for any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "../../algorithms/clustering.hpp"
#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../alloc/registry.hpp"
#include "../../exec/launch.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify_objective.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

/// x log2 x as a kernel.
struct write_flow_logs {
  std::uint64_t const* x;
  std::int64_t* values;
  WYRM_HD void operator()(std::size_t i) const { values[i] = algorithms::detail::flow_log(x[i]); }
};

template <class Space>
class objective_test : public any_graph_test<Space> {
 protected:
  using objective = algorithms::clustering_objective;
  using ids = std::vector<std::uint32_t>;
  using options = algorithms::clustering_options;
  static constexpr objective all_objectives[3] = {objective::modularity, objective::map_equation, objective::cpm};

  static alloc::options small_pool() {
    return {.pool_bytes = std::size_t{1} << 16, .reserve_bytes = std::size_t{1} << 28, .checked = true};
  }
  static algorithms::clustering_result cluster(graph::any_graph const& g, options const& o) {
    algorithms::clusterer<Space> c(any_graph_test<Space>::space_of(g), small_pool());
    c.run(g.view(), o);
    return c.result();
  }
  static std::vector<weighted_edge> weighted(std::vector<graph::edge> const& edges, std::vector<double> const& w = {}) {
    std::vector<weighted_edge> all;
    for (std::size_t i = 0; i < edges.size(); ++i)
      all.push_back({edges[i].source, edges[i].target, w.empty() ? 1 : w[i]});
    return all;
  }
  /// Distinct edges, each from its smaller end; with loops, hubs and vertices without edges.
  static std::vector<graph::edge> some_edges(std::mt19937& random, std::uint32_t n, std::size_t count, bool loops) {
    std::set<std::pair<graph::vertex_id, graph::vertex_id>> distinct;
    for (std::size_t i = 0; i < count; ++i) {
      auto const u = static_cast<graph::vertex_id>(random() % n);
      auto const v = static_cast<graph::vertex_id>(i % 4 == 0 ? random() % 2 : u / 8 * 8 + random() % 8) % n;
      if (u != v || loops) distinct.insert({std::min(u, v), std::max(u, v)});
    }
    std::vector<graph::edge> edges;
    for (auto const& [u, v] : distinct) edges.push_back({u, v});
    return edges;
  }
  /// Checks the values of a result against the definitions.
  static void expect_values(algorithms::clustering_result const& r, options const& o,
                            std::vector<weighted_edge> const& edges, double tolerance = 1e-5) {
    EXPECT_NEAR(r.codelength, serial_codelength(edges, r.label), tolerance);
    double want = r.modularity;
    if (o.objective == objective::map_equation) want = -r.codelength;
    if (o.objective == objective::cpm) want = serial_potts(edges, r.label, o.resolution);
    bool const known = o.objective != objective::modularity || o.resolution == 1;
    EXPECT_NEAR(r.quality, known ? want : r.quality, tolerance * (1 + std::abs(want)));
  }
};

TYPED_TEST_SUITE_P(objective_test);

TYPED_TEST_P(objective_test, fixed_point_terms_are_exact) {
  std::mt19937_64 random(seeded(21));
  std::vector<std::uint64_t> x{0, 1, 2, 3, 4, 5, 7, 8, (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32};
  for (unsigned i = 0; i < 500; ++i) x.push_back(random() >> (31 + i % 33));
  auto const space = make_space<TypeParam>();
  exec::buffer<std::uint64_t, TypeParam> in(space, x.size());
  exec::buffer<std::int64_t, TypeParam> out(space, x.size());
  exec::copy_in<std::uint64_t>(space, in.data(), x);
  exec::for_each(space, x.size(), write_flow_logs{in.data(), out.data()});
  auto const got = exec::copy_out(space, out.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto const value = static_cast<long double>(x[i]);
    long double const want = x[i] == 0 ? 0 : value * std::log2(value);
    EXPECT_NEAR(static_cast<double>(static_cast<long double>(got[i]) * 0x1p-20L - want), 0,
                static_cast<double>(x[i]) * 0x1p-42 + 0x1p-20)
        << x[i];
  }
}

// Modularity joins neighbouring cliques of a long ring; the others keep each clique.
TYPED_TEST_P(objective_test, small_cliques_of_a_large_ring_are_kept) {
  using objective = typename TestFixture::objective;
  auto const g = this->make(50 * 4, this->ring_of_cliques(50, 4));
  EXPECT_LT(this->cluster(g, {}).count, 50u);
  for (auto const& o : {algorithms::clustering_options{.objective = objective::map_equation},
                        algorithms::clustering_options{.objective = objective::cpm, .resolution = 0.3},
                        algorithms::clustering_options{.resolution = 8}}) {
    auto const r = this->cluster(g, o);
    EXPECT_GE(algorithms::normalized_mutual_information(r.label, this->groups_of(200, 4)), 0.95);
    EXPECT_TRUE(r.converged);
    this->expect_values(r, o, this->weighted(this->ring_of_cliques(50, 4)));
  }
}

// Two triangles with an edge between them, and an isolated vertex.
TYPED_TEST_P(objective_test, known_values) {
  using objective = typename TestFixture::objective;
  std::vector<graph::edge> const edges{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}};
  auto const g = this->make(7, edges);
  auto const r = this->cluster(g, {.objective = objective::map_equation});
  EXPECT_EQ(r.label, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_NEAR(r.codelength, 2.320730357, 1e-6);
  EXPECT_NEAR(r.modularity, 6.0 / 7 - 0.5, 1e-9);
  auto const dense = this->cluster(g, {.objective = objective::cpm, .resolution = 0.5});
  EXPECT_EQ(dense.label, r.label);
  EXPECT_NEAR(dense.quality, 3, 1e-9);                                                      // 6 edges inside, 6 pairs
  EXPECT_GE(this->cluster(g, {.objective = objective::cpm, .resolution = 1.5}).count, 6u);  // 7 is best
  EXPECT_EQ(this->cluster(g, {.objective = objective::cpm, .resolution = 0.01}).count, 2u);
  EXPECT_EQ(this->cluster(g, {.resolution = 0.01}).count, 2u);
  auto const q = algorithms::quality(this->space_of(g), g.view(), r.label, 0.25);
  EXPECT_NEAR(q.codelength, 2.320730357, 1e-9);
  EXPECT_NEAR(q.potts, 4.5, 1e-12);
  auto const none = this->cluster(this->make(3, {}), {.objective = objective::map_equation});
  EXPECT_EQ(none.count, 3u);
  EXPECT_EQ(none.codelength, 0);
  EXPECT_TRUE(this->cluster(this->make(0, {}), {.objective = objective::cpm}).label.empty());
}

TYPED_TEST_P(objective_test, values_are_those_of_the_definitions) {
  std::mt19937 random(seeded(22));
  for (unsigned trial = 0; trial < 6; ++trial) {
    SCOPED_TRACE(trial);
    auto const n = static_cast<std::uint32_t>(this->sized(120 + 40 * trial, 40 + 8 * trial));
    bool const weighted = trial % 2 == 1;
    auto const edges = this->some_edges(random, n - 5, 4 * n, trial >= 3);
    std::vector<double> weights;
    for (std::size_t i = 0; i < edges.size(); ++i)
      weights.push_back(weighted ? static_cast<double>(1 + random() % 1000) / 64 : 1);
    graph::options settings{.self_loops = true};
    if (weighted) settings.values = graph::number_type::f64;
    auto const g = this->make(n, edges, settings, weighted ? graph::host_numbers(weights) : graph::host_numbers());
    for (auto const objective : this->all_objectives)
      for (double const resolution : {1.0, 0.37, 2.5}) {
        if (objective == TestFixture::objective::map_equation && resolution != 1) continue;
        typename TestFixture::options const o{
            .seed = trial, .weighted = weighted, .objective = objective, .resolution = resolution};
        auto const r = this->cluster(g, o);
        auto all = this->weighted(edges, weights);
        this->expect_values(r, o, all);
        if (weighted) continue;
        auto const q = algorithms::quality(this->space_of(g), g.view(), r.label, resolution);
        EXPECT_NEAR(q.codelength, serial_codelength(all, r.label), 1e-9);
        EXPECT_NEAR(q.potts, serial_potts(all, r.label, resolution), 1e-6);
      }
  }
}

// From one label per vertex and from random labels: each round with moves shortens the code, and rounds end.
TYPED_TEST_P(objective_test, each_round_shortens_the_code) {
  std::mt19937 random(seeded(23));
  auto const n = static_cast<std::uint32_t>(this->sized(300, 48));
  auto const edges = this->some_edges(random, n, 5 * n, false);
  auto const g = this->make(n, edges);
  auto const space = this->space_of(g);
  for (std::uint32_t const labels : {0u, 5u}) {
    SCOPED_TRACE(labels);
    std::vector<graph::vertex_id> start(n);
    for (graph::vertex_id v = 0; v < n; ++v)
      start[v] = labels == 0 ? v : static_cast<graph::vertex_id>(random() % labels);
    algorithms::detail::weighted_rows const rows{g.view(), nullptr, nullptr, 2};
    algorithms::detail::modularity_moves<TypeParam> moves(space);
    exec::buffer<graph::vertex_id, TypeParam> label(space, n);
    double before = serial_codelength(this->weighted(edges), start);
    std::uint64_t moved = 0;
    bool ended = false;
    std::size_t const most = this->sized(400, 8);
    for (std::uint32_t rounds = 1; !ended && rounds < most; ++rounds) {
      exec::copy_in<graph::vertex_id>(space, label.data(), start);
      moves.prepare(rows);
      auto const done = moves.run(rows, label.data(), rounds, {.map_equation = true});
      double const now = serial_codelength(this->weighted(edges), exec::copy_out(space, label.data(), n));
      if (done.count > moved)
        ASSERT_LT(now, before + 1e-6) << "round " << rounds;
      else
        ASSERT_DOUBLE_EQ(now, before) << "round " << rounds;
      before = now;
      moved = done.count;
      ended = done.ended;
    }
    EXPECT_GT(moved, 0u);
    EXPECT_TRUE(ended || most < 100);
  }
}

TYPED_TEST_P(objective_test, equal_labels_in_all_spaces) {
  std::mt19937 random(seeded(24));
  auto const n = static_cast<std::uint32_t>(this->sized(400, 64));
  auto const edges = this->some_edges(random, n, 5 * n, true);
  auto const g = this->make(n, edges, {.self_loops = true});
  graph::any_graph same(exec::make_space("cpu"), alloc::default_name, n, {.self_loops = true});
  same.insert(edges);
  for (auto const objective : this->all_objectives) {
    typename TestFixture::options const o{.seed = 3, .objective = objective};
    auto const got = this->cluster(g, o);
    auto const want = algorithms::clustering(exec::host_space(1), same.view(), o);
    EXPECT_EQ(got.label, want.label);
    EXPECT_EQ(got.codelength, want.codelength);
    EXPECT_EQ(got.quality, want.quality);
  }
}

TYPED_TEST_P(objective_test, refreshed_after_each_batch) {
  std::mt19937 random(seeded(25));
  auto const cliques = static_cast<std::uint32_t>(this->sized(40, 8));
  std::uint32_t const n = 5 * cliques;
  for (auto const objective : this->all_objectives) {
    SCOPED_TRACE(static_cast<int>(objective));
    bool const flows = objective == TestFixture::objective::map_equation;
    typename TestFixture::options const o{.objective = objective, .resolution = flows ? 1.0 : 0.4};
    auto g = this->make(n, this->ring_of_cliques(cliques, 5));
    auto const space = this->space_of(g);
    algorithms::clusterer<TypeParam> clusters(space, this->small_pool());
    clusters.reserve(g.view(), n, g.arcs() + 100, o);
    clusters.run(g.view(), o, algorithms::clusterer<TypeParam>::memory::reserved);
    for (unsigned batch = 0; batch < 4; ++batch) {
      SCOPED_TRACE(batch);
      std::vector<graph::edge> edges;
      for (graph::vertex_id v = 0; v < 3; ++v)  // a clique loses edges, or gets others
        edges.push_back(
            {batch * 5 + v, batch % 2 == 0 ? batch * 5 + v + 1 : static_cast<graph::vertex_id>(random() % n)});
      if (batch % 2 == 0)
        g.erase(edges);
      else
        g.insert(edges);
      exec::buffer<graph::edge, TypeParam> changed(space, edges.size());
      exec::copy_in<graph::edge>(space, changed.data(), edges);
      clusters.refresh(g.view(), o, changed.data(), edges.size());
      auto const r = clusters.result();
      auto const all = g.to_csr();
      std::vector<weighted_edge> now;
      for (graph::vertex_id u = 0; u < n; ++u)
        for (std::uint64_t i = all.offsets[u]; i < all.offsets[u + 1]; ++i)
          if (u < all.targets[i]) now.push_back({u, all.targets[i], 1});
      this->expect_values(r, o, now);
      EXPECT_EQ(r.quality, clusters.quality());
      EXPECT_EQ(r.codelength, clusters.codelength());
      double const full = this->cluster(g, o).quality;
      EXPECT_GE(r.quality, full - 0.01 * std::abs(full));
    }
  }
}

TYPED_TEST_P(objective_test, invalid_resolutions_are_refused) {
  using objective = typename TestFixture::objective;
  auto const g = this->make(3, {{0, 1}});
  for (double const r : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    this->expect_contains(refusal([&] { (void)this->cluster(g, {.resolution = r}); }),
                          "resolution must be a finite number greater than 0");
  this->expect_contains(
      refusal([&] { (void)this->cluster(g, {.objective = objective::map_equation, .resolution = 2}); }),
      "the map equation has no resolution");
  this->expect_contains(refusal([&] { (void)this->cluster(g, {.objective = objective::cpm, .resolution = 1e-30}); }),
                        "resolution 1e-30 is too small");
}

REGISTER_TYPED_TEST_SUITE_P(objective_test, fixed_point_terms_are_exact, small_cliques_of_a_large_ring_are_kept,
                            known_values, values_are_those_of_the_definitions, each_round_shortens_the_code,
                            equal_labels_in_all_spaces, refreshed_after_each_batch, invalid_resolutions_are_refused);

}  // namespace wyrm::tests
