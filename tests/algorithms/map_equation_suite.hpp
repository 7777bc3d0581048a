// SPDX-License-Identifier: Apache-2.0
// The tests of clustering under the map equation in directed graphs, and with several levels, for any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "../../algorithms/clustering.hpp"
#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../alloc/registry.hpp"
#include "../../exec/injected_failure.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify_flows.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class map_equation_test : public any_graph_test<Space> {
 protected:
  using edges = std::vector<graph::edge>;
  using ids = std::vector<std::uint32_t>;
  using options = algorithms::clustering_options;

  static options by_flow(bool weighted = false) {
    return {.weighted = weighted, .objective = algorithms::clustering_objective::map_equation};
  }
  static options in_levels(std::uint32_t levels, bool weighted = false) {
    options o = by_flow(weighted);
    o.levels = levels;
    return o;
  }
  static void drop_repeats(edges& arcs) {
    auto const key = [](graph::edge const& e) { return std::pair(e.source, e.target); };
    std::sort(arcs.begin(), arcs.end(), [&](auto const& a, auto const& b) { return key(a) < key(b); });
    arcs.erase(std::unique(arcs.begin(), arcs.end(), [&](auto const& a, auto const& b) { return key(a) == key(b); }),
               arcs.end());
  }
  /// Groups of 6 vertices in sets of 4 groups in sets of 4 sets, and so on: most arcs are within groups, and most of
  /// the others within sets.
  static edges nested_groups(std::mt19937& random, std::uint32_t n, bool is_directed) {
    edges arcs;
    for (graph::vertex_id u = 0; u < n; ++u)
      for (unsigned k = 0; k < 12; ++k) {
        std::uint32_t size = 6;
        while (size < n && random() % 5 == 0) size *= 4;
        auto const v = static_cast<graph::vertex_id>(u / size * size + random() % size);
        if (v < n && u != v)
          arcs.push_back(is_directed ? graph::edge{u, v} : graph::edge{std::min(u, v), std::max(u, v)});
      }
    drop_repeats(arcs);
    return arcs;
  }
  /// Checks the levels of a result, and its codelength with them.
  static void expect_levels(graph::any_graph const& g, algorithms::clustering_result const& r, options const& o) {
    ASSERT_GE(r.levels.size(), 1u);
    EXPECT_LE(r.levels.size(), o.levels);
    EXPECT_EQ(r.levels.front(), r.label);
    any_graph_test<Space>::expect_numbered(r.label, r.count, r.sizes);
    for (std::size_t l = 1; l < r.levels.size(); ++l) {
      ids const& below = r.levels[l - 1];
      ids const& above = r.levels[l];
      std::map<std::uint32_t, std::uint32_t> of;
      std::uint32_t next = 0;
      for (std::size_t v = 0; v < below.size(); ++v) {
        ASSERT_EQ(of.emplace(below[v], above[v]).first->second, above[v]) << "level " << l << " divides a cluster";
        ASSERT_LE(above[v], next);
        if (above[v] == next) ++next;
      }
      EXPECT_LT(next, of.size());
    }
    EXPECT_NEAR(r.codelength, serial_hierarchy_codelength(flows_of(g, o.weighted), r.levels), 1e-5);
    EXPECT_EQ(r.quality, -r.codelength);
    EXPECT_TRUE(r.converged);
  }
  static std::vector<weighted_edge> flows_of(graph::any_graph const& g, bool weighted) {
    auto const arcs = arcs_of(g, weighted);
    if (g.view().directed()) return directed_flows(arcs, g.vertices());
    std::vector<weighted_edge> once;
    for (weighted_edge const& a : arcs)
      if (a.u <= a.v) once.push_back(a);
    return undirected_flows(once);
  }
  static algorithms::clustering_result cluster(graph::any_graph const& g, options const& o) {
    return algorithms::clustering(any_graph_test<Space>::space_of(g), g.view(), o);
  }
  static graph::any_graph directed(std::size_t n, edges const& arcs, std::vector<double> const& weights = {}) {
    graph::options o{.directed = true, .self_loops = true};
    if (!weights.empty()) o.values = graph::number_type::f64;
    return any_graph_test<Space>::make(n, arcs, o,
                                       weights.empty() ? graph::host_numbers() : graph::host_numbers(weights));
  }
  /// The arcs of g, with its values as weights, or with the weight 1.
  static std::vector<weighted_edge> arcs_of(graph::any_graph const& g, bool weighted) {
    auto const all = g.to_csr();
    std::vector<weighted_edge> arcs;
    for (graph::vertex_id u = 0; u < g.vertices(); ++u)
      for (std::uint64_t i = all.offsets[u]; i < all.offsets[u + 1]; ++i) arcs.push_back({u, all.targets[i], 1});
    if (weighted) {
      auto const values = g.template values<double>();
      for (std::size_t i = 0; i < arcs.size(); ++i) arcs[i].weight = values[i];
    }
    return arcs;
  }
  static void expect_codelength(graph::any_graph const& g, algorithms::clustering_result const& r, bool weighted) {
    any_graph_test<Space>::expect_numbered(r.label, r.count, r.sizes);
    EXPECT_NEAR(r.codelength, serial_directed_codelength(arcs_of(g, weighted), r.label), 1e-5);
    EXPECT_EQ(r.quality, -r.codelength);
    EXPECT_TRUE(r.converged);
  }
  /// Distinct arcs, most of them within groups of `size` vertices; with loops, two hubs, and vertices without arcs out
  /// or in.
  static edges some_arcs(std::mt19937& random, std::uint32_t n, std::size_t count, std::uint32_t size) {
    std::set<std::pair<graph::vertex_id, graph::vertex_id>> distinct;
    for (std::size_t i = 0; i < count; ++i) {
      auto const u = static_cast<graph::vertex_id>(random() % n);
      auto const within = static_cast<std::uint32_t>(u / size * size + random() % size);
      auto const v = static_cast<graph::vertex_id>(i % 8 == 0 ? random() % n : within % n);
      if (u % 7 != 3) distinct.insert({u, v % 11 == 5 ? 0 : v});
      if (i % 16 == 0) distinct.insert({0, v});
    }
    edges arcs;
    for (auto const& [u, v] : distinct) arcs.push_back({u, v});
    return arcs;
  }
};

TYPED_TEST_SUITE_P(map_equation_test);

// Codelengths of Infomap 2.16.0 (--directed --two-level).
TYPED_TEST_P(map_equation_test, known_values) {
  using edges = typename TestFixture::edges;
  using ids = typename TestFixture::ids;
  auto const check = [&](std::size_t n, edges const& arcs, ids const& label, double codelength,
                         std::vector<double> const& weights = {}) {
    auto const g = this->directed(n, arcs, weights);
    auto const r = this->cluster(g, this->by_flow(!weights.empty()));
    EXPECT_EQ(r.label, label);
    EXPECT_NEAR(r.codelength, codelength, 1e-6);
    this->expect_codelength(g, r, !weights.empty());
    EXPECT_EQ(r.iterations, 0u);
  };
  edges const cycles{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {2, 3}, {5, 0}};
  ids const two{0, 0, 0, 1, 1, 1};
  check(6, cycles, two, 2.467313848);
  check(6, edges(cycles.begin(), cycles.end() - 1), two, 1.773078845);
  edges more = cycles;
  more.push_back({1, 4});
  check(6, more, two, 2.018704859, {4, 4, 4, 1, 2, 3, .5, 1, .25});
  check(3, {{0, 1}, {1, 2}}, {0, 0, 1}, 0.934849024);  // as short as with one module
  check(4, {{0, 1}, {1, 0}, {0, 2}, {3, 2}, {3, 3}, {1, 3}}, {0, 0, 1, 1}, 1.534883721);
  check(0, {}, {}, 0);
  check(3, {}, {0, 1, 2}, 0);
  check(3, {{2, 1}}, {0, 1, 2}, 0);
  check(2, {{0, 0}, {1, 1}}, {0, 1}, 0);
  check(3, {{0, 1}, {1, 2}}, {0, 1, 2}, 0, {0, 0});
}

// The heavy arcs lead around each of two groups; one vertex of each has arcs of positive weight with the other group.
// Without weights all vertices are alike, because each of them has arcs with all others.
TYPED_TEST_P(map_equation_test, weights_decide) {
  typename TestFixture::edges arcs;
  std::vector<double> weights;
  for (graph::vertex_id u = 0; u < 8; ++u)
    for (graph::vertex_id v = 0; v < 8; ++v) {
      if (u == v) continue;
      bool const same = u / 4 == v / 4;
      bool const next = (u + 1) % 4 == v % 4;
      arcs.push_back({u, v});
      weights.push_back(same ? (next ? 8 : 1) : (u % 4 == 0 && v % 4 == 0 ? 1 : 0));
    }
  auto const g = this->directed(8, arcs, weights);
  auto const r = this->cluster(g, this->by_flow(true));
  EXPECT_EQ(r.label, this->groups_of(8, 4));
  this->expect_codelength(g, r, true);
  auto const unweighted = this->cluster(g, this->by_flow());
  EXPECT_EQ(unweighted.count, 1u);
  EXPECT_NEAR(unweighted.codelength, 3, 1e-6);
}

TYPED_TEST_P(map_equation_test, codelengths_are_those_of_the_definition) {
  std::mt19937 random(seeded(41));
  for (unsigned trial = 0; trial < 6; ++trial) {
    SCOPED_TRACE(trial);
    auto const n = static_cast<std::uint32_t>(this->sized(100 + 40 * trial, 32 + 4 * trial));
    auto const arcs = this->some_arcs(random, n - 4, (3 + trial) * n, 8 + trial);
    std::vector<double> weights;
    for (std::size_t i = 0; i < arcs.size(); ++i)
      if (trial % 2 == 1) weights.push_back(i % 9 == 0 ? 0 : static_cast<double>(1 + random() % 1000) / 64);
    auto g = this->directed(n, arcs, weights);
    bool const weighted = !weights.empty();
    this->expect_codelength(g, this->cluster(g, this->by_flow(weighted)), weighted);
    g.erase(this->some_arcs(random, n, n, 8));
    g.remove_vertices({1, n / 2});
    auto const r = this->cluster(g, this->by_flow(weighted));
    this->expect_codelength(g, r, weighted);
    EXPECT_EQ(r.sizes[r.label[1]], 1u);
    typename TestFixture::ids const one(n, 0);
    EXPECT_LE(r.codelength, serial_directed_codelength(this->arcs_of(g, weighted), one) + 1e-5);
    auto without = this->by_flow(weighted);
    without.objective = algorithms::clustering_objective::modularity;
    EXPECT_GT(this->cluster(g, without).modularity, r.modularity - 0.05);  // of the same graph
  }
}

TYPED_TEST_P(map_equation_test, planted_groups_are_found) {
  std::mt19937 random(seeded(42));
  auto const n = static_cast<std::uint32_t>(this->sized(1000, 64));
  std::uint32_t const size = n < 100 ? 16 : 25;
  std::set<std::pair<graph::vertex_id, graph::vertex_id>> distinct;
  for (graph::vertex_id u = 0; u < n; ++u)
    for (unsigned k = 0; k < 12; ++k) {
      auto const place =
          static_cast<std::uint32_t>(std::min(random() % size, random() % size));  // few vertices have many arcs in
      distinct.insert({u, static_cast<graph::vertex_id>(k < 3 ? random() % n : u / size * size + place)});
    }
  typename TestFixture::edges arcs;
  for (auto const& [u, v] : distinct) arcs.push_back({u, v});
  auto const g = this->directed(n, arcs);
  auto const r = this->cluster(g, this->by_flow());
  EXPECT_GE(algorithms::normalized_mutual_information(r.label, this->groups_of(n, size)), n < 100 ? 0.5 : 0.99);
  EXPECT_LE(r.codelength, 1.02 * serial_directed_codelength(this->arcs_of(g, false), this->groups_of(n, size)));
}

// Rows of hubs are divided among tiles, and the flow of most vertices is small.
TYPED_TEST_P(map_equation_test, hubs_in_and_out) {
  auto const log2 = static_cast<unsigned>(this->sized(10, 9));
  auto arcs = this->skewed(log2, std::size_t{2} << log2);
  for (graph::vertex_id v = 2; v < 1u << log2; ++v) arcs.push_back({v, 1});
  this->drop_repeats(arcs);
  auto const g = this->directed(std::size_t{1} << log2, arcs);
  this->expect_codelength(g, this->cluster(g, this->by_flow()), false);
}

// Flows are integers, and so are all comparisons.
TYPED_TEST_P(map_equation_test, equal_in_all_spaces) {
  std::mt19937 random(seeded(43));
  auto const n = static_cast<std::uint32_t>(this->sized(500, 64));
  auto const arcs = this->some_arcs(random, n, 6 * n, 12);
  std::vector<double> weights;
  for (std::size_t i = 0; i < arcs.size(); ++i) weights.push_back(1 + static_cast<double>(random() % 100));
  auto const g = this->directed(n, arcs, weights);
  graph::options settings{.directed = true, .self_loops = true, .values = graph::number_type::f64};
  graph::any_graph same(exec::make_space("cpu"), alloc::default_name, n, settings);
  same.insert(arcs, graph::host_numbers(weights));
  for (bool const weighted : {false, true}) {
    auto const got = this->cluster(g, this->by_flow(weighted));
    auto const want = algorithms::clustering(exec::host_space(1), same.view(), this->by_flow(weighted));
    EXPECT_EQ(got.label, want.label);
    EXPECT_EQ(got.codelength, want.codelength);
  }
}

// Clusters of a disjoint union are within its parts, and an isolated vertex changes nothing else.
TYPED_TEST_P(map_equation_test, clusters_are_within_components) {
  std::mt19937 random(seeded(44));
  auto arcs = this->some_arcs(random, 60, 300, 10);
  std::size_t const half = arcs.size();
  for (std::size_t i = 0; i < half; ++i) arcs.push_back({arcs[i].source + 60, arcs[i].target + 60});
  auto const both = this->cluster(this->directed(120, arcs), this->by_flow());
  for (std::size_t u = 0; u < 60; ++u)
    for (std::size_t v = 60; v < 120; ++v) ASSERT_NE(both.label[u], both.label[v]);
  auto more = this->cluster(this->directed(122, arcs), this->by_flow());
  EXPECT_EQ(more.codelength, both.codelength);
  EXPECT_EQ(more.count, both.count + 2);
  more.label.resize(120);
  EXPECT_EQ(more.label, both.label);
}

TYPED_TEST_P(map_equation_test, maintained) {
  std::mt19937 random(seeded(45));
  auto const n = static_cast<std::uint32_t>(this->sized(300, 36));
  auto g = this->directed(n, this->some_arcs(random, n, 5 * n, 12));
  auto const space = this->space_of(g);
  using clusterer = algorithms::clusterer<TypeParam>;
  clusterer clusters(space, this->pool());
  clusters.reserve(g.view(), n, g.arcs() + 200, this->by_flow());
  clusters.run(g.view(), this->by_flow(), clusterer::memory::reserved);
  for (unsigned batch = 0; batch < 4; ++batch) {
    SCOPED_TRACE(batch);
    auto const changed = this->some_arcs(random, n, 20, 12);
    if (batch % 2 == 0)
      g.insert(changed);
    else
      g.erase(changed);
    exec::buffer<graph::edge, TypeParam> list(space, changed.size());
    exec::copy_in<graph::edge>(space, list.data(), changed);
    clusters.refresh(g.view(), this->by_flow(), list.data(), changed.size());
    auto const r = clusters.result();
    this->expect_codelength(g, r, false);
    EXPECT_LE(r.codelength, 1.05 * this->cluster(g, this->by_flow()).codelength);
  }
}

// The graph updates the clusters of its arcs: two groups are joined, and separated again.
TYPED_TEST_P(map_equation_test, attached_to_a_directed_graph) {
  std::mt19937 random(seeded(48));
  auto const n = static_cast<std::uint32_t>(this->sized(300, 48));
  constexpr std::uint32_t size = 12;
  auto g = this->directed(n, this->some_arcs(random, n, 12 * n, size));
  algorithms::incremental_clustering<TypeParam> clusters(this->space_of(g), g.view(), this->by_flow(), this->pool());
  g.attach(clusters);
  std::vector<graph::edge> between;
  for (graph::vertex_id u = size; u < 2 * size; ++u)
    for (graph::vertex_id v = 2 * size; v < 3 * size; ++v) between.insert(between.end(), {{u, v}, {v, u}});
  for (unsigned batch = 0; batch < 4; ++batch) {
    SCOPED_TRACE(batch);
    if (batch % 2 == 0)
      g.insert(between);
    else
      g.erase(between);
    auto const r = clusters.result();
    this->expect_codelength(g, r, false);
    EXPECT_LE(r.codelength, 1.05 * this->cluster(g, this->by_flow()).codelength);
  }
}

// Each request for memory fails once; nothing is lost, and the next run has the clusters and levels of the first.
TYPED_TEST_P(map_equation_test, levels_without_memory) {
  std::mt19937 random(seeded(49));
  std::uint32_t const n = 96;
  auto const g = this->make(n, this->nested_groups(random, n, true), {.directed = true});
  auto const want = this->cluster(g, this->in_levels(9));
  ASSERT_FALSE(want.levels.empty());
  algorithms::clusterer<TypeParam> clusters(this->space_of(g), this->pool());
  std::size_t failures = 0;
  for (bool succeeds = false; !succeeds; ++failures) {
    try {
      exec::injected_failure const injected(failures);
      clusters.run(g.view(), this->in_levels(9));
      succeeds = true;
    } catch (error const& e) {
      ASSERT_EQ(e.code(), error_code::out_of_memory);
    }
  }
  EXPECT_GT(failures, 10u);
  for (unsigned run = 0; run < 2; ++run) {
    auto const r = clusters.result();
    EXPECT_EQ(r.label, want.label);
    EXPECT_EQ(r.levels, want.levels);
    EXPECT_EQ(r.codelength, want.codelength);
    clusters.run(g.view(), this->in_levels(9));
  }
}

TYPED_TEST_P(map_equation_test, nested_groups_are_levels) {
  using ids = typename TestFixture::ids;
  std::mt19937 random(seeded(46));
  auto const n = static_cast<std::uint32_t>(this->sized(16 * 24, 16 * 6));
  for (bool const is_directed : {true, false}) {
    SCOPED_TRACE(is_directed);
    auto const g = this->make(n, this->nested_groups(random, n, is_directed), {.directed = is_directed});
    auto const flat = this->cluster(g, this->by_flow());
    EXPECT_TRUE(flat.levels.empty());
    auto const r = this->cluster(g, this->in_levels(9));
    this->expect_levels(g, r, this->in_levels(9));
    std::vector<ids> planted{this->groups_of(n, 6), this->groups_of(n, 24)};
    if (n > 96) planted.push_back(this->groups_of(n, 96));
    EXPECT_LE(r.codelength, 1.05 * serial_hierarchy_codelength(this->flows_of(g, false), planted));
    EXPECT_LE(r.codelength, flat.codelength);
    if (n > 96) {
      EXPECT_GE(r.levels.size(), 2u);
      EXPECT_LT(r.codelength, flat.codelength);
    }
    auto const two = this->cluster(g, this->in_levels(2));
    this->expect_levels(g, two, this->in_levels(2));
    EXPECT_GE(two.codelength, r.codelength - 1e-9);
  }
}

TYPED_TEST_P(map_equation_test, levels_shorten_the_code) {
  std::mt19937 random(seeded(47));
  for (unsigned trial = 0; trial < 6; ++trial) {
    SCOPED_TRACE(trial);
    auto const n = static_cast<std::uint32_t>(this->sized(100 + 40 * trial, 32 + 4 * trial));
    auto arcs = this->some_arcs(random, n - 4, 4 * n, 6);
    bool const is_directed = trial % 2 == 0;
    if (!is_directed) {
      for (graph::edge& e : arcs) e = {std::min(e.source, e.target), std::max(e.source, e.target)};
      this->drop_repeats(arcs);
    }
    std::vector<double> weights;
    for (std::size_t i = 0; i < arcs.size(); ++i)
      if (trial >= 3) weights.push_back(static_cast<double>(1 + random() % 100));
    bool const weighted = !weights.empty();
    graph::options settings{.directed = is_directed, .self_loops = true};
    if (weighted) settings.values = graph::number_type::f64;
    auto const values = weighted ? graph::host_numbers(weights) : graph::host_numbers();
    auto const g = this->make(n, arcs, settings, values);
    auto const o = this->in_levels(20, weighted);
    auto const r = this->cluster(g, o);
    this->expect_levels(g, r, o);
    EXPECT_LE(r.codelength, this->cluster(g, this->by_flow(weighted)).codelength);
    graph::any_graph same(exec::make_space("cpu"), alloc::default_name, n, settings);
    same.insert(arcs, values);
    auto const again = algorithms::clustering(exec::host_space(1), same.view(), o);
    EXPECT_EQ(again.levels, r.levels);
    EXPECT_EQ(again.codelength, r.codelength);
  }
}

TYPED_TEST_P(map_equation_test, levels_of_small_graphs) {
  using ids = typename TestFixture::ids;
  for (bool const is_directed : {true, false}) {
    graph::options const settings{.directed = is_directed};
    auto const none = this->cluster(this->make(3, {}, settings), this->in_levels(4));
    EXPECT_EQ(none.levels, (std::vector<ids>{{0, 1, 2}}));
    EXPECT_EQ(none.codelength, 0);
    EXPECT_EQ(this->cluster(this->make(0, {}, settings), this->in_levels(4)).levels, std::vector<ids>(1));
    auto const one = this->cluster(this->make(5, this->path(5, true), settings), this->in_levels(4));
    EXPECT_EQ(one.levels.size(), 1u);
  }
  auto const g = this->make(3, {{0, 1}});
  this->expect_contains(refusal([&] { (void)this->cluster(g, this->in_levels(0)); }), "levels must be at least 1");
  this->expect_contains(refusal([&] { (void)this->cluster(g, {.levels = 2}); }),
                        "only the map equation has more than one level");
  auto const space = this->space_of(g);
  using incremental = algorithms::incremental_clustering<TypeParam>;
  this->expect_contains(refusal([&] { incremental(space, g.view(), this->in_levels(2), this->pool()); }),
                        "a hierarchy of clusters is not maintained");
  algorithms::clusterer<TypeParam> clusters(space, this->pool());
  clusters.run(g.view(), this->in_levels(2));
  EXPECT_EQ(clusters.result().levels.size(), 1u);
  this->expect_contains(refusal([&] { clusters.refresh(g.view(), this->in_levels(2), nullptr, 0); }),
                        "a hierarchy cannot be updated");
  clusters.run(g.view(), this->by_flow());
  EXPECT_TRUE(clusters.result().levels.empty());
}

REGISTER_TYPED_TEST_SUITE_P(map_equation_test, known_values, weights_decide, codelengths_are_those_of_the_definition,
                            planted_groups_are_found, hubs_in_and_out, equal_in_all_spaces,
                            clusters_are_within_components, maintained, attached_to_a_directed_graph,
                            levels_without_memory, nested_groups_are_levels, levels_shorten_the_code,
                            levels_of_small_graphs);

}  // namespace wyrm::tests
