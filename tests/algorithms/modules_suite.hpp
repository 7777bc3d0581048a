// SPDX-License-Identifier: Apache-2.0
// The tests of Louvain and Leiden, for any space: known graphs, and random ones, where serial checks verify modularity,
// that no vertex gains by a move, and that the communities of Leiden are connected.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/leiden.hpp"
#include "../../algorithms/louvain.hpp"
#include "../../datasets/generators.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify_modules.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class modules_test : public any_graph_test<Space> {
 protected:
  using ids = std::vector<std::uint32_t>;
  using edges = std::vector<graph::edge>;
  using options = algorithms::modularity_options;
  using result = algorithms::modularity_result;

  static result louvain(graph::any_graph const& g, options const& o = {}) {
    return algorithms::louvain(any_graph_test<Space>::space_of(g), g.view(), o);
  }
  static result leiden(graph::any_graph const& g, options const& o = {}) {
    return algorithms::leiden(any_graph_test<Space>::space_of(g), g.view(), o);
  }
  using method = result (*)(graph::any_graph const&, options const&);
  static std::array<method, 2> both() { return {&louvain, &leiden}; }
  /// The weight of the arc (u, v) in graphs of weighted(); many are 0.
  static double weight_of(graph::vertex_id u, graph::vertex_id v) {
    std::uint64_t const drawn = (std::uint64_t{u} * v + u + v) % 97;
    return drawn < 20 ? 0 : static_cast<double>(drawn) / 4;
  }
  static graph::any_graph weighted(std::size_t n, edges const& list, bool directed, bool loops) {
    std::vector<double> values;
    for (graph::edge const e : list) values.push_back(weight_of(e.source, e.target));
    return any_graph_test<Space>::make(
        n, list, {.directed = directed, .self_loops = loops, .values = graph::number_type::f64}, values);
  }
  /// Groups of ten vertices; a third of the edges connects different groups.
  static edges planted_groups(std::mt19937& random, std::size_t n, std::size_t count) {
    edges list;
    for (std::size_t i = 0; i < count; ++i) {
      auto const u = static_cast<graph::vertex_id>(random() % n);
      auto const v = static_cast<graph::vertex_id>(i % 3 == 0 ? random() % n : u / 10 * 10 + random() % 10);
      if (v < n && u != v) list.push_back({u, v});
    }
    return list;
  }
  static module_matrix matrix_of(graph::any_graph const& g, bool with_weights) {
    graph::csr const rows = g.to_csr();
    std::vector<double> weights;
    for (graph::vertex_id u = 0; with_weights && u + 1 < rows.offsets.size(); ++u)
      for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i)
        weights.push_back(g.settings().directed
                              ? weight_of(u, rows.targets[i])
                              : weight_of(std::min(u, rows.targets[i]), std::max(u, rows.targets[i])));
    return module_matrix(rows, g.settings().directed, weights);
  }
  /// Checks names of labels, sizes, levels and modularity, and, if moves are exhaustive, that no vertex gains by one.
  static void expect_communities(graph::any_graph const& g, options const& o, result const& r) {
    ASSERT_EQ(r.label.size(), g.vertices());
    any_graph_test<Space>::expect_numbered(r.label, r.count, r.sizes);
    EXPECT_TRUE(r.converged);
    module_matrix const m = matrix_of(g, o.weighted);
    EXPECT_NEAR(r.modularity, m.modularity(r.label, o.resolution), 1e-6);
    double const gain = o.exhaustive ? m.largest_gain(r.label, o.resolution) : 0;
    EXPECT_LE(gain, o.weighted ? 1e-6 : 1e-9);
    EXPECT_EQ(r.levels.empty(), !o.keep_levels || g.arcs() == 0);
    for (std::size_t i = 0; i < r.levels.size(); ++i) {
      ASSERT_EQ(r.levels[i].size(), g.vertices());
      if (i == 0) continue;
      ids above(g.vertices(), ~0u);
      for (std::size_t v = 0; v < g.vertices(); ++v) {
        std::uint32_t& to = above[r.levels[i - 1][v]];
        if (to == ~0u) to = r.levels[i][v];
        ASSERT_EQ(to, r.levels[i][v]) << "level " << i << " divides a community";
      }
    }
  }
  /// Also that the communities of Leiden, and its levels, are connected, and that results are the same with one
  /// thread of a host, or in another run on a GPU.
  static void expect_both(graph::any_graph const& g, options const& o) {
    result const first = louvain(g, o);
    expect_communities(g, o, first);
    result const second = leiden(g, o);
    expect_communities(g, o, second);
    module_matrix const m = matrix_of(g, o.weighted);
    EXPECT_EQ(m.disconnected(second.label), 0u);
    for (ids const& level : second.levels) EXPECT_EQ(m.disconnected(level), 0u);
    exec::host_space const one(1);
    if constexpr (requires { Space::device_count(); }) {
      EXPECT_EQ(louvain(g, o).label, first.label);
      EXPECT_EQ(leiden(g, o).label, second.label);
    } else {
      EXPECT_EQ(algorithms::louvain(one, g.view(), o).label, first.label);
      EXPECT_EQ(algorithms::leiden(one, g.view(), o).label, second.label);
    }
  }
};

TYPED_TEST_SUITE_P(modules_test);

TYPED_TEST_P(modules_test, known_graphs) {
  using ids = typename TestFixture::ids;
  for (auto* const find : TestFixture::both()) {
    auto const none = find(this->make(0, {}), {});
    EXPECT_TRUE(none.label.empty());
    EXPECT_EQ(none.count, 0u);
    auto const isolated = find(this->make(3, {}), {});
    EXPECT_EQ(isolated.label, (ids{0, 1, 2}));
    EXPECT_EQ(isolated.sizes, (ids{1, 1, 1}));
    EXPECT_EQ(isolated.modularity, 0);
    EXPECT_EQ(isolated.passes, 0u);
    EXPECT_TRUE(isolated.converged);
    EXPECT_EQ(find(this->make(1, {{0, 0}}, {.self_loops = true}), {}).label, ids{0});
    EXPECT_EQ(find(this->make(3, {{1, 2}}), {}).label, (ids{0, 1, 1}));
    // A triangle, an edge, isolated vertices, and a clique with a vertex at two of its corners.
    auto const several = find(
        this->make(12,
                   {{5, 3}, {3, 9}, {9, 5}, {8, 1}, {2, 4}, {4, 6}, {6, 2}, {2, 7}, {4, 7}, {6, 7}, {10, 2}, {10, 4}}),
        {});
    EXPECT_EQ(several.label, (ids{0, 1, 2, 3, 2, 3, 2, 2, 1, 3, 2, 4}));
    // Inside: 8 of 12 edges have degrees 16, 3 have 6, 1 has 2.
    EXPECT_NEAR(several.modularity, 1 - (256 + 36 + 4) / 576.0, 1e-12);
    auto const ring = find(this->make(40, this->ring_of_cliques(8)), {.keep_levels = true});
    EXPECT_EQ(ring.label, this->groups_of(40, 5));
    EXPECT_NEAR(ring.modularity, 80 / 88.0 - 1 / 8.0, 1e-12);
    EXPECT_EQ(ring.levels.back(), ring.label);
  }
}

TYPED_TEST_P(modules_test, resolution_sets_the_size_of_communities) {
  auto const g = this->make(60, this->ring_of_cliques(12));
  for (auto* const find : TestFixture::both()) {
    EXPECT_EQ(find(g, {}).label, this->groups_of(60, 5));
    EXPECT_EQ(find(g, {.resolution = 50}).count, 60u);
    auto const few = find(g, {.resolution = 0.01});
    EXPECT_LE(few.count, 2u);
    for (double const resolution : {0.01, 0.3, 0.77, 1.0, 2.5, 50.0}) {
      typename TestFixture::options const o{.resolution = resolution, .exhaustive = true};
      this->expect_communities(g, o, find(g, o));
    }
  }
}

TYPED_TEST_P(modules_test, random_graphs) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 30 + this->sized(150, 12) * (seed % 4);
    auto list = seed % 3 == 0 ? random_edges(random, n, n * (seed % 2 + 1)) : this->planted_groups(random, n, n * 5);
    bool const has_loops = seed % 4 != 0;
    for (graph::vertex_id v = 3; has_loops && v < n; v += 7) list.push_back({v, v});
    bool const directed = seed % 4 == 1 || seed == 6;
    typename TestFixture::options const o{.seed = seed,
                                          .resolution = seed % 2 == 0 ? 1.0 : 0.6 + 0.2 * seed,
                                          .weighted = seed >= 4,
                                          .passes = 1 + seed % 3,
                                          .keep_levels = seed % 2 == 0,
                                          .exhaustive = seed % 4 < 2};
    auto g = o.weighted ? this->weighted(n, list, directed, has_loops)
                        : this->make(n, list, {.directed = directed, .self_loops = has_loops});
    this->expect_both(g, o);
    g.erase(random_edges(random, n, n));
    g.remove_vertices({0, static_cast<graph::vertex_id>(n / 2)});
    this->expect_both(g, o);
  }
}

TYPED_TEST_P(modules_test, rows_of_hubs_are_divided) {
  auto const log2 = static_cast<unsigned>(this->sized(11, 9));
  datasets::rmat_edges const edge{log2, 7};
  typename TestFixture::edges list;
  for (std::uint64_t i = 0; i < std::uint64_t{8} << log2; ++i) list.push_back(edge(i));
  for (graph::vertex_id v = 1; v < 1u << log2; ++v) list.push_back({0, v});
  this->expect_both(this->make(std::size_t{1} << log2, list), {.passes = 1});
}

// On a device, a few lanes process a row here, and more of them each part of the row of the hub.
TYPED_TEST_P(modules_test, a_hub_among_short_rows) {
  typename TestFixture::edges list;
  for (graph::vertex_id v = 0; v < 1000; ++v) list.push_back({v, (v + 1) % 1000});
  for (graph::vertex_id v = 0; v < 900; v += 3) list.push_back({1000, v});
  this->expect_both(this->make(1001, list), {.passes = 1});
}

// Communities of a disjoint union are those of its parts, and an added isolated vertex is a community.
TYPED_TEST_P(modules_test, communities_are_within_components) {
  std::mt19937 random(seeded(4));
  auto list = this->planted_groups(random, 60, 200);
  std::size_t const half = list.size();
  for (std::size_t i = 0; i < half; ++i) list.push_back({list[i].source + 61, list[i].target + 61});
  auto const g = this->make(122, list);
  for (auto* const find : TestFixture::both()) {
    auto const r = find(g, {});
    EXPECT_EQ(r.sizes[r.label[60]], 1u);
    EXPECT_EQ(r.sizes[r.label[121]], 1u);
    for (std::size_t u = 0; u < 60; ++u)
      for (std::size_t v = 61; v < 121; ++v) ASSERT_NE(r.label[u], r.label[v]);
  }
}

TYPED_TEST_P(modules_test, a_finder_serves_graphs_of_any_size) {
  std::mt19937 random(seeded(11));
  auto const space = this->space_of(this->make(0, {}));
  algorithms::louvain_finder<TypeParam> louvains(space);
  algorithms::leiden_finder<TypeParam> leidens(space);
  for (std::size_t const n : {0u, 40u, 90u, 33u, 64u}) {
    auto const g = this->make(n, n > 0 ? random_edges(random, n, 3 * n) : typename TestFixture::edges());
    louvains.run(g.view());
    leidens.run(g.view());
    EXPECT_EQ(louvains.result().label, this->louvain(g).label);
    EXPECT_EQ(exec::copy_out(space, leidens.label(), n), this->leiden(g).label);
    EXPECT_EQ(leidens.count(), leidens.result().count);
    EXPECT_EQ(louvains.modularity(), louvains.result().modularity);
  }
}

// The graph of labels has the sums of the weights between labels, also those that are 0.
TYPED_TEST_P(modules_test, labels_become_vertices) {
  using algorithms::detail::built_rows;
  using algorithms::detail::weighted_rows;
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    bool const directed = seed % 2 == 1;
    std::size_t const n = 20 + this->sized(200, 30) * seed;
    auto list = random_edges(random, n, 4 * n);
    for (graph::vertex_id v = 1; v < n; ++v) list.push_back({0, v});
    for (graph::vertex_id v = 0; v < n; v += 5) list.push_back({v, v});
    auto const g = this->make(n, list, {.directed = directed, .self_loops = true});
    auto const space = this->space_of(g);
    graph::csr const rows = g.to_csr();
    auto const count = static_cast<graph::vertex_id>(seed % 3 == 0 ? 3 : n);
    std::vector<graph::vertex_id> label(n);
    for (graph::vertex_id& l : label) l = static_cast<graph::vertex_id>(random() % count);
    std::vector<std::uint32_t> weights(rows.targets.size(), 1);
    if (directed)
      for (std::uint32_t& w : weights) w = static_cast<std::uint32_t>(random() % 3);
    std::map<std::pair<graph::vertex_id, graph::vertex_id>, std::uint32_t> expected;
    for (graph::vertex_id u = 0; u < n; ++u)
      for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
        graph::vertex_id const v = rows.targets[i];
        expected[{label[u], label[v]}] += weights[i];
        if (directed || u == v) expected[{label[v], label[u]}] += weights[i];
      }

    algorithms::detail::row_builder<TypeParam> builder(space);
    built_rows<TypeParam> both(space);
    built_rows<TypeParam> coarse(space);
    weighted_rows from{g.view(), nullptr, nullptr, 2};
    exec::buffer<std::uint32_t, TypeParam> weights_there(space, weights.size());
    exec::copy_in<std::uint32_t>(space, weights_there.data(), weights);
    if (directed) {
      builder.symmetrise(g.view(), both);
      builder.add_weights(g.view(), weights_there.data(), both);
      from = both.view();
    }
    exec::buffer<graph::vertex_id, TypeParam> label_there(space, n);
    exec::copy_in<graph::vertex_id>(space, label_there.data(), label);
    // Without windows; in windows of one label, of some, and of all, where longer rows are added up by themselves.
    for (std::uint64_t const window : {0u, 1u, 7u, 40u, 1u << 20}) {
      SCOPED_TRACE(window);
      builder.set_window(window);
      builder.coarsen(from, label_there.data(), count, coarse);
      weighted_rows const got = coarse.view();
      EXPECT_EQ(got.g.vertices(), count);
      EXPECT_EQ(got.g.arcs(), expected.size());
      auto at = expected.begin();
      auto const records = exec::copy_out(space, got.g.out_records(), count);
      for (graph::vertex_id c = 0; c < count; ++c) {
        graph::vertex_record const r = records[c];
        auto const targets = exec::copy_out(space, r.page, r.degree);
        auto const sums = exec::copy_out(space, got.weights + (r.page - got.targets), r.degree);
        for (std::uint32_t i = 0; i < r.degree; ++i, ++at) {
          ASSERT_NE(at, expected.end());
          ASSERT_EQ(at->first, std::pair(c, targets[i]));
          ASSERT_EQ(at->second, sums[i]);
        }
      }
      ASSERT_EQ(at, expected.end());
    }
  }
}

TYPED_TEST_P(modules_test, invalid_input_is_refused) {
  auto const g = this->make(4, {{0, 1}, {1, 2}});
  algorithms::leiden_finder<TypeParam> finder(this->space_of(g));
  finder.run(g.view());
  auto const labels = finder.result().label;
  auto const expect_refusal = [&](typename TestFixture::options const& o, std::string const& why) {
    std::string const text = refusal([&] { finder.run(g.view(), o); });
    EXPECT_NE(text.find("Leiden: " + why), std::string::npos) << text;
    EXPECT_EQ(finder.result().label, labels);
  };
  for (double const bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    expect_refusal({.resolution = bad}, "resolution must be a finite number greater than 0");
  expect_refusal({.resolution = 1e-18}, "resolution 1e-18 is too small for a graph with the sum of degrees 4");
  expect_refusal({.passes = 0}, "passes must be at least 1");
  expect_refusal({.weighted = true}, "the edges of the graph have no numbers as values");
  EXPECT_NE(refusal([&] { this->louvain(g, {.passes = 0}); }).find("Louvain: "), std::string::npos);
}

REGISTER_TYPED_TEST_SUITE_P(modules_test, known_graphs, resolution_sets_the_size_of_communities, random_graphs,
                            rows_of_hubs_are_divided, a_hub_among_short_rows, communities_are_within_components,
                            a_finder_serves_graphs_of_any_size, labels_become_vertices, invalid_input_is_refused);

}  // namespace wyrm::tests
