// SPDX-License-Identifier: Apache-2.0
// The base of the test suites of maintained results: one result of each kind, with its values and its verifier.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../algorithms/components.hpp"
#include "../../algorithms/incremental_bfs.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../algorithms/incremental_core_numbers.hpp"
#include "../../algorithms/incremental_label_propagation.hpp"
#include "../../algorithms/incremental_pagerank.hpp"
#include "../../algorithms/incremental_sssp.hpp"
#include "../../algorithms/incremental_triangles.hpp"
#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../../graph/maintained_result.hpp"
#include "../support/refusal.hpp"
#include "../support/verify.hpp"
#include "../support/verify_structure.hpp"
#include "graphs_fixture.hpp"

namespace wyrm::tests {

/// A maintained result of any kind.
struct maintained {
  virtual ~maintained() = default;
  virtual graph::maintained_result& result() = 0;
  /// All values of the result.
  [[nodiscard]] virtual std::vector<double> values() const = 0;
  /// absent: the vertices that are not in the graph.
  virtual void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const& absent) const = 0;
};

template <class Space>
struct maintained_ranks final : maintained {
  maintained_ranks(Space const& space, graph::graph_view const& g, double full_run)
      : ranks(space, g, {.tolerance = 1e-7, .full_run = full_run}) {}
  graph::maintained_result& result() override { return ranks; }
  [[nodiscard]] std::vector<double> values() const override {
    std::vector<double> all = ranks.rank();
    all.insert(all.end(), {ranks.error_bound(), static_cast<double>(ranks.iterations()), ranks.converged() ? 1.0 : 0.0,
                           static_cast<double>(ranks.ranked())});
    return all;
  }
  void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const& absent) const override {
    std::vector<double> const got = ranks.rank();
    std::size_t const n = rows.offsets.size() - 1;
    ASSERT_EQ(got.size(), n);
    // All jumps go to vertices that are in the graph.
    std::vector<double> jumps(n, 1 / static_cast<double>(std::max<std::size_t>(n - absent.size(), 1)));
    for (graph::vertex_id const v : absent) {
      jumps[v] = 0;
      EXPECT_EQ(got[v], 0) << "vertex " << v;
    }
    std::vector<double> const want = serial_pagerank(rows, 0.85, jumps, true);
    double distance = 0;
    for (std::size_t v = 0; v < want.size(); ++v) distance += std::abs(got[v] - want[v]);
    EXPECT_TRUE(ranks.converged());
    EXPECT_LE(distance, ranks.error_bound() + serial_pagerank_error(0.85));
    EXPECT_LE(distance, 0.85 / 0.15 * 1e-7);
  }
  algorithms::incremental_pagerank<Space> ranks;
};

template <class Space>
struct maintained_triangles final : maintained {
  maintained_triangles(Space const& space, graph::graph_view const& g) : count(space, g, true) {}
  graph::maintained_result& result() override { return count; }
  [[nodiscard]] std::vector<double> values() const override {
    std::vector<double> all{static_cast<double>(count.total())};
    for (std::uint64_t const corners : count.per_vertex()) all.push_back(static_cast<double>(corners));
    return all;
  }
  void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const&) const override {
    std::vector<std::uint64_t> const want = serial_triangles(rows);
    EXPECT_EQ(count.per_vertex(), want);
    std::uint64_t sum = 0;
    for (std::uint64_t const corners : want) sum += corners;
    EXPECT_EQ(count.total() * 3, sum);
  }
  algorithms::incremental_triangles<Space> count;
};

template <class Space>
struct maintained_components final : maintained {
  maintained_components(Space const& space, graph::graph_view const& g) : components(space, g) {}
  graph::maintained_result& result() override { return components; }
  [[nodiscard]] std::vector<double> values() const override {
    std::vector<double> all{static_cast<double>(components.count()), static_cast<double>(components.largest())};
    for (graph::vertex_id const label : components.label()) all.push_back(label);
    return all;
  }
  void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const& absent) const override {
    std::vector<graph::vertex_id> const want = serial_components(rows);
    EXPECT_EQ(components.label(), want);
    std::vector<std::size_t> sizes(want.size());
    for (graph::vertex_id const label : want) ++sizes[label];
    for (graph::vertex_id const v : absent) --sizes[v];  // each has a label of its own
    EXPECT_EQ(components.count(), want.size() - static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), 0u)));
    EXPECT_EQ(components.largest(), want.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()));
  }
  algorithms::incremental_components<Space> components;
};

template <class Space>
struct maintained_clusters final : maintained {
  maintained_clusters(Space const& space, graph::graph_view const& g)
      : clusters(space, g, {}, {.pool_bytes = std::size_t{1} << 14, .reserve_bytes = std::size_t{1} << 26}) {}
  graph::maintained_result& result() override { return clusters; }
  [[nodiscard]] std::vector<double> values() const override {
    algorithms::clustering_result const r = clusters.result();
    std::vector<double> all(r.label.begin(), r.label.end());
    all.insert(all.end(), {r.modularity, static_cast<double>(r.count), static_cast<double>(r.iterations),
                           r.converged ? 1.0 : 0.0});
    return all;
  }
  void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const&) const override {
    algorithms::clustering_result const r = clusters.result();
    EXPECT_NEAR(r.modularity, serial_modularity(rows, {}, r.label), 1e-6);
    EXPECT_GT(r.modularity, 0.02);
  }
  algorithms::incremental_clustering<Space> clusters;
};

template <class Space>
struct maintained_cores final : maintained {
  maintained_cores(Space const& space, graph::graph_view const& g) : cores(space, g) {}
  graph::maintained_result& result() override { return cores; }
  [[nodiscard]] std::vector<double> values() const override {
    auto const r = cores.result();
    std::vector<double> all(r.core.begin(), r.core.end());
    all.push_back(r.degeneracy);
    return all;
  }
  void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const&) const override {
    EXPECT_EQ(cores.result().core, serial_core_numbers(rows));
  }
  algorithms::incremental_core_numbers<Space> cores;
};

template <class Space>
struct maintained_labels final : maintained {
  maintained_labels(Space const& space, graph::graph_view const& g) : directed(g.directed()), labels(space, g) {}
  graph::maintained_result& result() override { return labels; }
  [[nodiscard]] std::vector<double> values() const override {
    std::vector<graph::vertex_id> const label = labels.label();
    std::vector<double> all(label.begin(), label.end());
    all.push_back(labels.converged() ? 1 : 0);
    return all;
  }
  void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const&) const override {
    EXPECT_EQ(fault_of_labels(rows, directed, labels.label()), "");
    EXPECT_TRUE(labels.converged());
  }
  bool directed;
  algorithms::incremental_label_propagation<Space> labels;
};

/// Distances in arcs: of incremental_bfs, or of incremental_sssp without weights.
template <class Result>
struct maintained_hops final : maintained {
  template <class Space, class Options>
  maintained_hops(Space const& space, graph::graph_view const& g, Options const& o) : distances(space, g, o) {}
  graph::maintained_result& result() override { return distances; }
  [[nodiscard]] std::vector<double> values() const override {
    auto const distance = distances.distance();
    std::vector<double> all(distance.begin(), distance.end());
    all.push_back(static_cast<double>(distances.reached()));
    return all;
  }
  void expect_right(graph::csr const& rows, std::set<graph::vertex_id> const&) const override {
    auto const got = distances.distance();
    std::vector<std::uint32_t> want(rows.offsets.size() - 1, ~0u);
    graph::vertex_id const source = distances.source();
    if (source < want.size()) want = serial_distances(rows, std::span(&source, 1));
    ASSERT_EQ(got.size(), want.size());
    std::size_t reached = 0;
    for (std::size_t v = 0; v < want.size(); ++v) {
      bool const is_reached = want[v] != ~0u;
      ASSERT_EQ(static_cast<double>(got[v]), is_reached ? want[v] : static_cast<double>(unreached)) << "vertex " << v;
      reached += is_reached ? 1 : 0;
    }
    EXPECT_EQ(distances.reached(), reached);
  }

 private:
  using distance = typename decltype(std::declval<Result const&>().distance())::value_type;
  static constexpr distance unreached =
      std::is_floating_point_v<distance> ? std::numeric_limits<distance>::infinity() : static_cast<distance>(~0u);
  Result distances;
};

template <class Space>
class maintained_results : public graphs_test<Space> {
 protected:
  using graph_type = graph::dynamic_graph<Space, alloc::ouroboros_s_p<Space>>;
  using edges = std::vector<graph::edge>;
  using results = std::vector<std::unique_ptr<maintained>>;

  enum class kind : std::uint8_t { undirected, directed, directed_out_only };
  static constexpr kind kinds[3] = {kind::undirected, kind::directed, kind::directed_out_only};

  static graph_type make_graph(kind k, std::size_t n, edges const& list) {
    graph::options o{.directed = k != kind::undirected, .in_neighbours = k == kind::directed};
    o.pool = {.pool_bytes = std::size_t{1} << 18, .reserve_bytes = std::size_t{1} << 28};
    graph_type g(graphs_test<Space>::one_thread(), n, o);
    g.insert(list);
    return g;
  }
  /// One result of each kind that the graph can have, except clusters, or clusters. Ranks twice: by pushes only, and
  /// with all vertices processed at once. Distances if there is a vertex to begin at.
  template <class Graph>
  static results make_results(Graph const& g, bool with_clusters) {
    results all;
    Space const& space = g.space();
    graph::graph_view const view = g.view();
    if (with_clusters) {
      all.push_back(std::make_unique<maintained_clusters<Space>>(space, view));
      return all;
    }
    bool const directed = view.directed();
    all.push_back(std::make_unique<maintained_ranks<Space>>(space, view, 0));
    all.push_back(std::make_unique<maintained_components<Space>>(space, view));
    if (!directed) all.push_back(std::make_unique<maintained_triangles<Space>>(space, view));
    all.push_back(std::make_unique<maintained_ranks<Space>>(space, view, 1e9));
    if (!directed) all.push_back(std::make_unique<maintained_cores<Space>>(space, view));
    if (!directed || g.settings().in_neighbours) all.push_back(std::make_unique<maintained_labels<Space>>(space, view));
    if (view.vertices() == 0) return all;
    using hops = maintained_hops<algorithms::incremental_bfs<Space>>;
    using lengths = maintained_hops<algorithms::incremental_sssp<Space>>;
    all.push_back(std::make_unique<hops>(space, view, algorithms::incremental_bfs_options{.source = 1}));
    all.push_back(std::make_unique<lengths>(space, view, algorithms::incremental_sssp_options{.weighted = false}));
    return all;
  }
  /// Attaches the results in cyclic order from the k-th on.
  template <class Graph>
  static void attach(Graph& g, results const& all, std::size_t k = 0) {
    for (std::size_t i = 0; i < all.size(); ++i) g.attach(all[(i + k) % all.size()]->result());
  }
  static std::vector<std::vector<double>> values(results const& all) {
    std::vector<std::vector<double>> of;
    for (auto const& one : all) of.push_back(one->values());
    return of;
  }
  template <class Graph>
  static void expect_right(Graph const& g, results const& all, std::set<graph::vertex_id> const& absent = {}) {
    graph::csr const rows = g.to_csr();
    for (auto const& one : all) one->expect_right(rows, absent);
  }

  /// Calls f, which must throw bad_argument with `part` in its message.
  template <class F>
  static void expect_refusal(F const& f, std::string const& part) {
    graphs_test<Space>::expect_contains(refusal(f), part);
  }
};

}  // namespace wyrm::tests
