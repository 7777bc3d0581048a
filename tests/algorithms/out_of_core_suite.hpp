// SPDX-License-Identifier: Apache-2.0
// All algorithms with a budget of device memory that is smaller than their arrays with an element per arc: these are in
// host memory, all of them or a part, and results are those in plain memory. The same for maintained results, while
// batches change the graph.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "../../algorithms/betweenness.hpp"
#include "../../algorithms/bfs.hpp"
#include "../../algorithms/clustering.hpp"
#include "../../algorithms/clustering_coefficients.hpp"
#include "../../algorithms/colouring.hpp"
#include "../../algorithms/components.hpp"
#include "../../algorithms/core_numbers.hpp"
#include "../../algorithms/edge_support.hpp"
#include "../../algorithms/incremental_bfs.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../algorithms/incremental_core_numbers.hpp"
#include "../../algorithms/incremental_label_propagation.hpp"
#include "../../algorithms/incremental_sssp.hpp"
#include "../../algorithms/incremental_triangles.hpp"
#include "../../algorithms/independent_set.hpp"
#include "../../algorithms/label_propagation.hpp"
#include "../../algorithms/leiden.hpp"
#include "../../algorithms/louvain.hpp"
#include "../../algorithms/maintained_pagerank.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/personalised_pagerank.hpp"
#include "../../algorithms/power_iterations.hpp"
#include "../../algorithms/random_walks.hpp"
#include "../../algorithms/similar_pairs.hpp"
#include "../../algorithms/similarity.hpp"
#include "../../algorithms/spanning_forest.hpp"
#include "../../algorithms/sssp.hpp"
#include "../../algorithms/strong_components.hpp"
#include "../../algorithms/triangles.hpp"
#include "../../algorithms/truss.hpp"
#include "../../alloc/registry.hpp"
#include "../../alloc/residency/bounded_space.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

// A graph in plain memory, and the same in bounded memory. Groups of 64 vertices have most edges.
template <class Space>
class out_of_core : public space_fixture<Space> {
 protected:
  void fill(bool directed) {
    // An array becomes a range from 4 blocks on, which are larger on a GPU.
    std::size_t const scale = this->space().granularity() >> 16;
    std::size_t const n = scale > 1 ? 400 * scale : 1500;
    graph::options o;
    o.directed = directed;
    o.values = graph::number_type::f32;
    o.pool.pool_bytes = scale << 20;
    bound_.emplace(exec::any_space(this->space()), (64 * scale << 20) + of_checked_pools);
    plain_.emplace(exec::any_space(this->space()), alloc::default_name, n, o);
    graph_.emplace(bound_->space(), alloc::default_name, n, o);
    random_.seed(static_cast<std::mt19937::result_type>(seeded(directed ? 1 : 2)));
    while (plain_->edges() < 100'000 * scale) insert(random_edges(2000 * scale));
    // What is left has room for the arrays of algorithms with an element per vertex, and for those of checked pools.
    Space const& space = std::get<Space>(graph_->space());
    rest_.emplace(space, space.manager()->room_for_arrays() - (2 * scale << 20) - of_checked_pools);
  }
  /// f(graph) returns what can be compared.
  template <class F>
  void expect_same(char const* what, F const& f) {
    SCOPED_TRACE(what);
    auto const expected = f(*plain_);
    try {
      EXPECT_TRUE(f(*graph_) == expected);
    } catch (error const& failed) {
      ADD_FAILURE() << failed.what();
    }
  }
  /// make(graph) returns a maintained result, and value(result) what can be compared after batches.
  template <class Make, class Value>
  void expect_same_after_batches(char const* what, Make const& make, Value const& value) {
    SCOPED_TRACE(what);
    try {
      auto const expected = make(*plain_);
      auto const found = make(*graph_);
      plain_->attach(*expected);
      graph_->attach(*found);
      for (unsigned round = 0; round < 4; ++round) {
        auto const batch = random_edges(plain_->vertices() / 20);
        insert(batch);
        EXPECT_TRUE(value(*found) == value(*expected)) << "inserted " << round;
        // Half of the inserted edges are erased again, and other edges are erased.
        std::vector<graph::edge> gone = random_edges(plain_->vertices() / 5);
        gone.insert(gone.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2));
        std::uint64_t const edges = plain_->edges();
        plain_->erase(gone);
        graph_->erase(gone);
        EXPECT_LT(plain_->edges(), edges);
        EXPECT_TRUE(value(*found) == value(*expected)) << "erased " << round;
      }
      if (of_checked_pools == 0) {
        EXPECT_GT(bound_->counters().staged_bytes, 0u);
      }
    } catch (error const& failed) {
      ADD_FAILURE() << failed.what();
    }
  }
  void TearDown() override {
    if (bound_ && of_checked_pools == 0) {
      EXPECT_GT(bound_->counters().staged_bytes, 0u);
    }
  }

 private:
  static constexpr std::size_t of_checked_pools = WYRM_CHECKED ? std::size_t{1} << 28 : 0;

  [[nodiscard]] std::vector<graph::edge> random_edges(std::size_t count) {
    std::size_t const n = plain_->vertices();
    std::vector<graph::edge> batch(count);
    for (graph::edge& e : batch) {
      std::size_t const u = random_() % n;
      std::size_t const v = random_() % 2 == 0 ? random_() % n : u / 64 * 64 + random_() % 64;
      e = {static_cast<graph::vertex_id>(u), static_cast<graph::vertex_id>(v % n)};
    }
    return batch;
  }
  void insert(std::vector<graph::edge> const& batch) {
    std::vector<float> values(batch.size());
    for (float& value : values) value = static_cast<float>(1 + random_() % 1000);
    plain_->insert(batch, values);
    graph_->insert(batch, values);
  }

  std::mt19937 random_;
  std::optional<alloc::residency::bounded_space> bound_;
  std::optional<graph::any_graph> plain_;
  std::optional<graph::any_graph> graph_;
  std::optional<exec::buffer<std::byte, Space>> rest_;
};
TYPED_TEST_SUITE_P(out_of_core);

TYPED_TEST_P(out_of_core, algorithms_of_undirected_graphs) {
  this->fill(false);
  auto const clusters = [](algorithms::clustering_options const& o) {
    return [o](graph::any_graph const& g) {
      auto const found = algorithms::clustering(g, o);
      return std::pair(found.label, found.quality);
    };
  };
  this->expect_same("clustering", clusters({}));
  this->expect_same("clustering, weighted", clusters({.weighted = true}));
  this->expect_same("map equation",
                    clusters({.objective = algorithms::clustering_objective::map_equation, .levels = 4}));
  this->expect_same("Louvain", [](graph::any_graph const& g) { return algorithms::louvain(g).label; });
  this->expect_same("Leiden",
                    [](graph::any_graph const& g) { return algorithms::leiden(g, {.weighted = true}).label; });
  this->expect_same("trussness", [](graph::any_graph const& g) { return algorithms::trussness(g).trussness; });
  this->expect_same("truss", [](graph::any_graph const& g) { return algorithms::k_truss(g, 4); });
  this->expect_same("support", [](graph::any_graph const& g) { return algorithms::edge_support(g); });
  this->expect_same("forest", [](graph::any_graph const& g) {
    auto const found = algorithms::spanning_forest(g);
    return std::pair(found.edges, found.weights);
  });
  this->expect_same("coefficients",
                    [](graph::any_graph const& g) { return algorithms::clustering_coefficients(g).local; });
  this->expect_same("triangles", [](graph::any_graph const& g) { return algorithms::triangles(g).total; });
  this->expect_same("similar pairs", [](graph::any_graph const& g) {
    auto const found = algorithms::similar_pairs(g, {.bound = 0.3, .batch = 1 << 20});
    return std::pair(found.pairs, found.scores);
  });
  std::vector<graph::edge> pairs;
  for (graph::vertex_id u = 0; u < 1000; ++u) pairs.push_back({u, u * 7 % 64 + u / 64 * 64});
  for (auto const measure : {algorithms::similarity_measure::jaccard, algorithms::similarity_measure::overlap,
                             algorithms::similarity_measure::cosine})
    this->expect_same("similarity",
                      [&](graph::any_graph const& g) { return algorithms::similarity(g, pairs, measure); });
  this->expect_same("labels", [](graph::any_graph const& g) { return algorithms::label_propagation(g); });
  this->expect_same("walks", [](graph::any_graph const& g) {
    return algorithms::random_walks(g, {.steps = 4, .weighted = true}).vertices;
  });
  this->expect_same("colouring", [](graph::any_graph const& g) { return algorithms::colouring(g).colour; });
  this->expect_same("independent set", [](graph::any_graph const& g) { return algorithms::independent_set(g).member; });
  this->expect_same("core numbers", [](graph::any_graph const& g) { return algorithms::core_numbers(g).core; });
  this->expect_same("components", [](graph::any_graph const& g) { return algorithms::components(g).label; });
}

TYPED_TEST_P(out_of_core, algorithms_of_directed_graphs) {
  this->fill(true);
  graph::vertex_id const sources[] = {0, 5};
  this->expect_same("map equation", [](graph::any_graph const& g) {
    return algorithms::clustering(g, {.weighted = true, .objective = algorithms::clustering_objective::map_equation})
        .label;
  });
  this->expect_same("Louvain", [](graph::any_graph const& g) { return algorithms::louvain(g).label; });
  this->expect_same("coefficients",
                    [](graph::any_graph const& g) { return algorithms::clustering_coefficients(g).local; });
  this->expect_same("PageRank", [](graph::any_graph const& g) { return algorithms::pagerank(g).rank; });
  this->expect_same("weighted PageRank",
                    [](graph::any_graph const& g) { return algorithms::pagerank(g, {.weighted = true}).rank; });
  algorithms::weighted_source const weighted_sources[] = {{3, 1}, {700, 2.5}};
  this->expect_same("personalised PageRank", [&](graph::any_graph const& g) {
    return algorithms::personalised_pagerank(g, weighted_sources, {.weighted = true}).rank;
  });
  this->expect_same("personalised PageRank of single sources",
                    [&](graph::any_graph const& g) { return algorithms::personalised_pageranks(g, sources).top; });
  this->expect_same("HITS", [](graph::any_graph const& g) { return algorithms::hits(g).authorities; });
  this->expect_same("BFS", [&](graph::any_graph const& g) { return algorithms::bfs(g, sources).distance; });
  this->expect_same("SSSP", [](graph::any_graph const& g) { return algorithms::sssp(g, 5, {.parents = true}).parent; });
  this->expect_same("betweenness",
                    [&](graph::any_graph const& g) { return algorithms::betweenness(g, sources).score; });
  this->expect_same("strong components",
                    [](graph::any_graph const& g) { return algorithms::strong_components(g).label; });
}

TYPED_TEST_P(out_of_core, maintained_results_of_undirected_graphs) {
  this->fill(false);
  this->expect_same_after_batches(
      "triangles", [](graph::any_graph const& g) { return algorithms::maintain_triangles(g, true); },
      [](algorithms::maintained_triangles const& r) { return std::pair(r.total(), r.per_vertex()); });
  this->expect_same_after_batches(
      "core numbers", [](graph::any_graph const& g) { return algorithms::maintain_core_numbers(g); },
      [](algorithms::maintained_core_numbers const& r) { return r.result().core; });
  this->expect_same_after_batches(
      "labels", [](graph::any_graph const& g) { return algorithms::maintain_label_propagation(g); },
      [](algorithms::maintained_label_propagation const& r) { return r.label(); });
  this->expect_same_after_batches(
      "clusters", [](graph::any_graph const& g) { return algorithms::maintain_clustering(g); },
      [](algorithms::maintained_clustering const& r) { return r.result().label; });
  this->expect_same_after_batches(
      "PageRank", [](graph::any_graph const& g) { return algorithms::maintain_pagerank(g); },
      [](algorithms::maintained_pagerank const& r) { return r.rank(); });
}

TYPED_TEST_P(out_of_core, maintained_results_of_directed_graphs) {
  this->fill(true);
  this->expect_same_after_batches(
      "BFS", [](graph::any_graph const& g) { return algorithms::maintain_bfs(g, {.source = 5}); },
      [](algorithms::maintained_bfs const& r) { return r.distance(); });
  this->expect_same_after_batches(
      "SSSP", [](graph::any_graph const& g) { return algorithms::maintain_sssp(g, {.source = 5, .weighted = true}); },
      [](algorithms::maintained_sssp const& r) { return r.distance(); });
  this->expect_same_after_batches(
      "PageRank", [](graph::any_graph const& g) { return algorithms::maintain_pagerank(g); },
      [](algorithms::maintained_pagerank const& r) { return r.rank(); });
  this->expect_same_after_batches(
      "personalised PageRank",
      [](graph::any_graph const& g) {
        algorithms::incremental_pagerank_options o;
        o.sources = {{3, 1}, {700, 2.5}};
        o.weighted = true;
        return algorithms::maintain_pagerank(g, o);
      },
      [](algorithms::maintained_pagerank const& r) { return r.rank(); });
}

REGISTER_TYPED_TEST_SUITE_P(out_of_core, algorithms_of_undirected_graphs, algorithms_of_directed_graphs,
                            maintained_results_of_undirected_graphs, maintained_results_of_directed_graphs);

}  // namespace wyrm::tests
