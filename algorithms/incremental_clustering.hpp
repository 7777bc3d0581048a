// SPDX-License-Identifier: Apache-2.0
// The clusters of a changing graph. Voting creates many small labels; they are kept as they are before merging. After a
// batch only the ends of its edges and their neighbours repeat walks and votes. Then all small labels are merged again,
// so that clusters can also split. When the batches since the last full run have a quarter as many edges as the graph,
// a full run follows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "../alloc/allocator.hpp"
#include "../exec/error.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "clustering.hpp"

namespace wyrm::algorithms {

/// The clusters of an any_graph; see maintain_clustering.
class maintained_clustering : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// O(vertices). `iterations` and `converged` are of the last batch.
  [[nodiscard]] virtual clustering_result result() const = 0;
  [[nodiscard]] virtual std::uint32_t count() const = 0;
  [[nodiscard]] virtual double modularity() const = 0;
  /// See clustering_result.
  [[nodiscard]] virtual double codelength() const = 0;
  [[nodiscard]] virtual double quality() const = 0;
};

/// The clusters of one changing graph; see graph/maintained_result.hpp and clusterer. The memory of a clusterer, and up
/// to 16 bytes per arc more. A batch costs the walks and votes of the vertices concerned, and O(arcs log vertices) for
/// merging.
template <class Space>
class incremental_clustering final : public maintained_clustering {
 public:
  /// Clusters the graph. Throws error(bad_argument) for clustering_options::weighted or levels > 1, and the errors of
  /// clusterer.
  incremental_clustering(Space const& space, graph::graph_view const& g, clustering_options const& o = {},
                         alloc::options const& pool = {})
      : maintained_clustering("incremental_clustering", g, space.identity()),
        space_(space),
        options_(o),
        clusters_(space, pool) {
    if (o.weighted)
      throw error(error_code::bad_argument,
                  "clustering: clusters are not maintained by weights; leave the option weighted out, or call "
                  "clustering() after each update");
    if (o.levels > 1)
      throw error(error_code::bad_argument,
                  "clustering: a hierarchy of clusters is not maintained; leave the option levels out, or call "
                  "clustering() after each update");
    clusters_.run(g, options_);
  }
  template <class Graph>
  explicit incremental_clustering(Graph const& g, clustering_options const& o = {}, alloc::options const& pool = {})
      : incremental_clustering(g.space(), g.view(), o, pool) {}

  [[nodiscard]] clustering_result result() const override { return clusters_.result(); }
  [[nodiscard]] std::uint32_t count() const override { return clusters_.count(); }
  [[nodiscard]] double modularity() const override { return clusters_.modularity(); }
  [[nodiscard]] double codelength() const override { return clusters_.codelength(); }
  [[nodiscard]] double quality() const override { return clusters_.quality(); }

 private:
  void on_before(graph::graph_view const& g, graph::graph_change const& change) override {
    // There may be more ids without a vertex that was added: of those that came and went between two moments.
    if (change.replaces_all || change.size > 0 || change.has_vertices() || change.vertices > clusters_.vertices())
      clusters_.reserve(g, std::max(g.vertices(), change.vertices), change.max_arcs, options_);
    change_ = change;
  }
  void on_after(graph::graph_view const& g) override {
    if (!change_.replaces_all && g.vertices() > clusters_.vertices()) clusters_.add_vertices(g.vertices());
    if (!change_.replaces_all && change_.size == 0) return;
    changed_ += change_.size;
    if (change_.replaces_all || changed_ > g.arcs() / (g.directed() ? 4 : 8)) {
      clusters_.run(g, options_, clusterer<Space>::memory::reserved);
      changed_ = 0;
    } else {
      clusters_.refresh(g, options_, change_.edges, change_.size);
    }
  }
  void on_undo(graph::graph_view const&) override {}

  Space space_;
  clustering_options options_;
  clusterer<Space> clusters_;
  graph::graph_change change_;  // the one that is being made
  std::uint64_t changed_ = 0;   // entries of changes since the last full run
};

template <class Graph>
explicit incremental_clustering(Graph const& g, clustering_options const& o = {}, alloc::options const& pool = {})
    -> incremental_clustering<std::decay_t<decltype(g.space())>>;

/// Maintains the clusters of an any_graph.
[[nodiscard]] std::unique_ptr<maintained_clustering> maintain_clustering(graph::any_graph const& g,
                                                                         clustering_options const& o = {});

}  // namespace wyrm::algorithms
