// SPDX-License-Identifier: Apache-2.0
// All algorithms with a budget of device memory that is smaller than their arrays with an element per arc: these are in
// host memory, all of them or a part, and results are those in plain memory.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
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
#include "../../algorithms/independent_set.hpp"
#include "../../algorithms/label_propagation.hpp"
#include "../../algorithms/leiden.hpp"
#include "../../algorithms/louvain.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/power_iterations.hpp"
#include "../../algorithms/random_walks.hpp"
#include "../../algorithms/similar_pairs.hpp"
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
    std::mt19937 random(static_cast<std::mt19937::result_type>(seeded(directed ? 1 : 2)));
    while (plain_->edges() < 100'000 * scale) {
      std::vector<graph::edge> batch(2000 * scale);
      std::vector<float> values;
      for (graph::edge& e : batch) {
        std::size_t const u = random() % n;
        std::size_t const v = random() % 2 == 0 ? random() % n : u / 64 * 64 + random() % 64;
        e = {static_cast<graph::vertex_id>(u), static_cast<graph::vertex_id>(v % n)};
        values.push_back(static_cast<float>(1 + random() % 1000));
      }
      plain_->insert(batch, values);
      graph_->insert(batch, values);
    }
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
  void TearDown() override {
    if (bound_ && of_checked_pools == 0) {
      EXPECT_GT(bound_->counters().staged_bytes, 0u);
    }
  }

 private:
  static constexpr std::size_t of_checked_pools = WYRM_CHECKED ? std::size_t{1} << 28 : 0;

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
  this->expect_same("HITS", [](graph::any_graph const& g) { return algorithms::hits(g).authorities; });
  this->expect_same("BFS", [&](graph::any_graph const& g) { return algorithms::bfs(g, sources).distance; });
  this->expect_same("SSSP", [](graph::any_graph const& g) { return algorithms::sssp(g, 5, {.parents = true}).parent; });
  this->expect_same("betweenness",
                    [&](graph::any_graph const& g) { return algorithms::betweenness(g, sources).score; });
  this->expect_same("strong components",
                    [](graph::any_graph const& g) { return algorithms::strong_components(g).label; });
}

REGISTER_TYPED_TEST_SUITE_P(out_of_core, algorithms_of_undirected_graphs, algorithms_of_directed_graphs);

}  // namespace wyrm::tests
