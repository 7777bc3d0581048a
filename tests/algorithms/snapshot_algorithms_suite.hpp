// SPDX-License-Identifier: Apache-2.0
// Every algorithm runs on a snapshot of a graph that has changed since. The result is that of another graph, which is
// built from the model of that moment.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../algorithms/betweenness.hpp"
#include "../../algorithms/bfs.hpp"
#include "../../algorithms/clustering.hpp"
#include "../../algorithms/clustering_coefficients.hpp"
#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/colouring.hpp"
#include "../../algorithms/components.hpp"
#include "../../algorithms/core_numbers.hpp"
#include "../../algorithms/edge_support.hpp"
#include "../../algorithms/incremental_bfs.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../algorithms/incremental_core_numbers.hpp"
#include "../../algorithms/incremental_label_propagation.hpp"
#include "../../algorithms/incremental_pagerank.hpp"
#include "../../algorithms/incremental_sssp.hpp"
#include "../../algorithms/incremental_triangles.hpp"
#include "../../algorithms/independent_set.hpp"
#include "../../algorithms/label_propagation.hpp"
#include "../../algorithms/leiden.hpp"
#include "../../algorithms/louvain.hpp"
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
#include "../../graph/snapshot.hpp"
#include "../graph/model.hpp"
#include "../support/graph_on.hpp"
#include "../support/seed.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class snapshot_algorithms : public any_graph_test<Space> {
 protected:
  using graph_type = graph_on<Space, float>;
  using ids = std::vector<graph::vertex_id>;

  // A graph with weights, some vertices of which are absent. Then most edges, weights and vertices change.
  void make(bool directed) {
    auto const n = static_cast<graph::vertex_id>(this->sized(200, 80));
    graph::options o{.directed = directed};
    o.pool = any_graph_test<Space>::pool();
    std::mt19937 random(seeded(directed));
    basic_model<float> model(n, directed, false);
    changed_.emplace(make_space<Space>(), n, o);
    auto const insert = [&](std::vector<graph::edge> const& edges, bool also_in_model) {
      std::vector<float> weights;
      for (std::size_t i = 0; i < edges.size(); ++i) weights.push_back(static_cast<float>(1 + random() % 7));
      changed_->insert(edges, weights);
      if (also_in_model) model.insert(edges, weights);
    };
    auto const first = random_edges(random, n, 6 * n);
    insert(first, true);
    ids const gone{3, 77, n - 1};
    changed_->remove_vertices(gone);
    model.remove_vertices(gone);

    taken_.emplace(changed_->snapshot());
    built_.emplace(changed_->space(), n, o);
    built_->build(model.to_csr(), model.values());
    built_->remove_vertices(gone);
    ASSERT_EQ(built_->edges(), changed_->edges());

    changed_->erase(std::span(first).first(4 * n));
    changed_->add_vertices(50);
    changed_->remove_vertices({0, 1, 40});
    changed_->add_vertices(3);
    insert(random_edges(random, changed_->vertices(), 5 * n), false);
    pairs_.assign(first.begin(), first.begin() + 50);
  }

  // f has a space and a view as arguments, and returns a result, or a tuple of results.
  template <class F>
  void expect_same(char const* name, F const& f) const {
    SCOPED_TRACE(name);
    expect_alike(f(changed_->space(), taken_->view()), f(built_->space(), built_->view()));
  }
  template <class... T>
  static void expect_alike(std::tuple<T...> const& got, std::tuple<T...> const& want) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (expect_alike(std::get<I>(got), std::get<I>(want)), ...); }
    (std::index_sequence_for<T...>());
  }
  template <class T>
  static void expect_alike(T const& got, T const& want) {
    EXPECT_EQ(got, want);
  }
  // Sums of floating-point numbers may be rounded in another way.
  static void expect_alike(double got, double want) {
    if (got == want) return;  // also infinity
    EXPECT_NEAR(got, want, 1e-7 * (1 + std::abs(want)));
  }
  static void expect_alike(std::vector<double> const& got, std::vector<double> const& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) expect_alike(got[i], want[i]);
  }

  std::optional<graph_type> changed_;
  std::optional<graph::snapshot> taken_;
  std::optional<graph_type> built_;
  std::vector<graph::edge> pairs_;  // for queries
};
TYPED_TEST_SUITE_P(snapshot_algorithms);

// Those for graphs of both kinds.
TYPED_TEST_P(snapshot_algorithms, of_paths_ranks_and_walks) {
  using namespace algorithms;
  using view = graph::graph_view;
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    this->make(directed);
    std::vector<graph::vertex_id> const sources{5, 9};
    this->expect_same("bfs", [&](auto const& space, view const& g) {
      auto const r = bfs(space, g, sources, {.parents = true});
      return std::tuple(r.distance, r.reached, r.rounds, r.parent);
    });
    for (bool const weighted : {false, true}) {
      SCOPED_TRACE(weighted ? "weighted" : "unweighted");
      this->expect_same("sssp", [&](auto const& space, view const& g) {
        auto const r = sssp(space, g, 5, {.weighted = weighted, .parents = true});
        return std::tuple(r.distance, r.reached, r.parent);
      });
      this->expect_same("pagerank", [&](auto const& space, view const& g) {
        return pagerank(space, g, {.weighted = weighted}).rank;
      });
      this->expect_same("personalised_pagerank", [&](auto const& space, view const& g) {
        std::vector<weighted_source> const jumps{{5, 1}, {9, 3}};
        return personalised_pagerank(space, g, jumps, {.weighted = weighted}).rank;
      });
      this->expect_same("personalised_pageranks", [&](auto const& space, view const& g) {
        return personalised_pageranks(space, g, sources, {.weighted = weighted}).top;
      });
      this->expect_same("hits", [&](auto const& space, view const& g) {
        auto const r = hits(space, g, {.weighted = weighted});
        return std::tuple(r.hubs, r.authorities);
      });
      this->expect_same("katz", [&](auto const& space, view const& g) {
        katz_options o;
        o.weighted = weighted;
        o.alpha = 0.001;
        return katz(space, g, o).value;
      });
      this->expect_same("eigenvector_centrality", [&](auto const& space, view const& g) {
        return eigenvector_centrality(space, g, {.weighted = weighted}).value;
      });
      this->expect_same("random_walks", [&](auto const& space, view const& g) {
        auto const r = random_walks(space, g, {.steps = 10, .q = 2, .weighted = weighted});
        return std::tuple(r.offsets, r.vertices);
      });
    }
    this->expect_same("betweenness", [&](auto const& space, view const& g) {
      return std::tuple(betweenness(space, g).score, betweenness(space, g, sources).score);
    });
  }
}

TYPED_TEST_P(snapshot_algorithms, of_structure) {
  using namespace algorithms;
  using view = graph::graph_view;
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    this->make(directed);
    auto const of_components = [](components_result const& r) { return std::tuple(r.label, r.count, r.largest); };
    this->expect_same("components",
                      [&](auto const& space, view const& g) { return of_components(components(space, g)); });
    this->expect_same("strong_components",
                      [&](auto const& space, view const& g) { return of_components(strong_components(space, g)); });
    this->expect_same("similarity",
                      [&](auto const& space, view const& g) { return similarity(space, g, this->pairs_); });
    this->expect_same("similar_pairs", [&](auto const& space, view const& g) {
      auto const r = similar_pairs(space, g, {.bound = 0.1});
      return std::tuple(r.pairs, r.scores);
    });
    this->expect_same("clustering_coefficients", [&](auto const& space, view const& g) {
      auto const r = clustering_coefficients(space, g);
      return std::tuple(r.local, r.average, r.global);
    });
    if (directed) continue;
    this->expect_same("triangles", [&](auto const& space, view const& g) {
      auto const r = triangles(space, g, {.clustering = true});
      return std::tuple(r.total, r.per_vertex, r.local_clustering, r.average_clustering, r.global_clustering);
    });
    this->expect_same("core_numbers", [&](auto const& space, view const& g) {
      auto const r = core_numbers(space, g);
      return std::tuple(r.core, r.degeneracy);
    });
    this->expect_same("edge_support", [&](auto const& space, view const& g) { return edge_support(space, g); });
    this->expect_same("trussness", [&](auto const& space, view const& g) {
      auto const r = trussness(space, g);
      return std::tuple(r.trussness, r.largest, k_truss(space, g, r.largest));
    });
    this->expect_same("spanning_forest", [&](auto const& space, view const& g) {
      auto const r = spanning_forest(space, g);
      return std::tuple(r.edges, r.weights, r.weight, r.trees);
    });
    this->expect_same("independent_set", [&](auto const& space, view const& g) {
      auto const r = independent_set(space, g);
      return std::tuple(r.member, r.size);
    });
    this->expect_same("colouring", [&](auto const& space, view const& g) {
      auto const r = colouring(space, g);
      return std::tuple(r.colour, r.colours);
    });
  }
}

TYPED_TEST_P(snapshot_algorithms, of_communities) {
  using namespace algorithms;
  using view = graph::graph_view;
  for (bool const directed : {false, true})
    for (bool const weighted : {false, true}) {
      SCOPED_TRACE(directed ? "directed" : "undirected");
      SCOPED_TRACE(weighted ? "weighted" : "unweighted");
      this->make(directed);
      this->expect_same("label_propagation", [&](auto const& space, view const& g) {
        return label_propagation(space, g, {.weighted = weighted});
      });
      for (auto const objective :
           {clustering_objective::modularity, clustering_objective::map_equation, clustering_objective::cpm})
        this->expect_same("clustering", [&](auto const& space, view const& g) {
          auto const r = clustering(space, g, {.weighted = weighted, .objective = objective});
          return std::tuple(r.label, r.sizes, r.modularity, r.codelength, r.quality);
        });
      this->expect_same("louvain", [&](auto const& space, view const& g) {
        auto const r = louvain(space, g, {.weighted = weighted});
        return std::tuple(r.label, r.modularity);
      });
      this->expect_same("leiden", [&](auto const& space, view const& g) {
        auto const r = leiden(space, g, {.weighted = weighted});
        return std::tuple(r.label, r.modularity);
      });
      if (directed) continue;
      this->expect_same("quality", [&](auto const& space, view const& g) {
        std::vector<std::uint32_t> labels(g.vertices());
        for (std::uint32_t v = 0; v < g.vertices(); ++v) labels[v] = v % 7;
        auto const r = quality(space, g, labels);
        return std::tuple(r.modularity, r.codelength, r.potts, r.conductance);
      });
    }
}

// Maintained results of a snapshot.
TYPED_TEST_P(snapshot_algorithms, of_maintained_results) {
  using namespace algorithms;
  using view = graph::graph_view;
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    this->make(directed);
    this->expect_same("incremental_bfs", [&](auto const& space, view const& g) {
      return incremental_bfs(space, g, {.source = 5}).distance();
    });
    this->expect_same("incremental_sssp", [&](auto const& space, view const& g) {
      return incremental_sssp(space, g, {.source = 5}).distance();
    });
    this->expect_same("incremental_pagerank", [&](auto const& space, view const& g) {
      return incremental_pagerank(space, g, {.weighted = true}).rank();
    });
    this->expect_same("incremental_components",
                      [&](auto const& space, view const& g) { return incremental_components(space, g).label(); });
    this->expect_same("incremental_label_propagation", [&](auto const& space, view const& g) {
      return incremental_label_propagation(space, g).label();
    });
    this->expect_same("incremental_clustering", [&](auto const& space, view const& g) {
      return incremental_clustering(space, g).result().label;
    });
    if (directed) continue;
    this->expect_same("incremental_triangles", [&](auto const& space, view const& g) {
      return incremental_triangles(space, g, true).per_vertex();
    });
    this->expect_same("incremental_core_numbers", [&](auto const& space, view const& g) {
      return incremental_core_numbers(space, g).result().core;
    });
  }
}

REGISTER_TYPED_TEST_SUITE_P(snapshot_algorithms, of_paths_ranks_and_walks, of_structure, of_communities,
                            of_maintained_results);

}  // namespace wyrm::tests
