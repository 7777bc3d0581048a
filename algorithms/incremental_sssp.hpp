// SPDX-License-Identifier: Apache-2.0
// The lengths of the shortest paths from one source to all vertices of a changing graph. The method is that of
// incremental_bfs: inserted arcs are relaxed, and the vertices that an erasure cuts off in a tree of shortest paths get
// distances from their in-neighbours (Ramalingam and Reps 1996; Khanda et al. 2022); see detail/distance_tree.hpp. An
// arc that gets another length is erased and inserted. The result is that of sssp(), bit for bit, after every change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/distance_tree.hpp"
#include "detail/maintained_distances.hpp"
#include "sssp.hpp"

namespace wyrm::algorithms {

struct incremental_sssp_options {
  graph::vertex_id source = 0;
  /// As sssp_options::weighted.
  bool weighted = true;
  /// As incremental_bfs_options::full_run.
  double full_run = 0.1;
};

/// The distances of an any_graph; see maintain_sssp.
class maintained_sssp : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// Of each vertex from the source; infinity if it is unreached, or absent. O(vertices).
  [[nodiscard]] virtual std::vector<double> distance() const = 0;
  /// The number of vertices that are reached, the source included.
  [[nodiscard]] virtual std::size_t reached() const = 0;
  [[nodiscard]] virtual graph::vertex_id source() const = 0;
  /// How many changes were followed by a full run. May differ between runs of a program where a change affects about as
  /// many vertices as the options allow.
  [[nodiscard]] virtual std::size_t full_runs() const = 0;
};

namespace detail {

/// Full runs by sssp_searcher; see maintained_distances.
template <class Space>
class length_search {
 public:
  using lengths = weight_lengths;
  length_search(Space const& space, incremental_sssp_options const& o) : searcher_(space), weighted_(o.weighted) {}
  void reserve(std::size_t n, std::uint64_t arcs, bool parents) { searcher_.reserve(n, arcs, options(parents)); }
  std::size_t run(graph::graph_view const& g, graph::vertex_id source, bool parents) {
    return searcher_.run(g, source, options(parents));
  }
  [[nodiscard]] lengths lengths_of(graph::graph_view const& g) const {
    return {weighted_ ? g.numbers() : graph::number_type::none};
  }
  [[nodiscard]] bool needs_values() const { return weighted_; }
  [[nodiscard]] std::uint64_t const* distance() const { return searcher_.distance_bits(); }
  [[nodiscard]] graph::vertex_id const* parent() const { return searcher_.parent(); }

 private:
  [[nodiscard]] sssp_options options(bool parents) const { return {.weighted = weighted_, .parents = parents}; }

  sssp_searcher<Space> searcher_;
  bool weighted_;
};

}  // namespace detail

/// The distances from one source in one changing graph; see graph/maintained_result.hpp. The source, the cost and full
/// runs are as those of incremental_bfs. Vertices whose parents are at the same distance cost additional rounds. In a
/// directed graph without in-neighbours, a full run is also done if the last arc of a shortest path may get another
/// value.
///
/// The weight of an arc must be finite, and not negative, as in sssp(). A graph to which this result is attached
/// refuses changes with other weights.
///
/// About 100 bytes per vertex and 1/4 byte per arc, those of sssp_searcher included. Not thread-safe.
template <class Space>
class incremental_sssp final
    : public detail::maintained_distances<maintained_sssp, Space, detail::length_search<Space>> {
  using base = detail::maintained_distances<maintained_sssp, Space, detail::length_search<Space>>;

 public:
  /// Finds the distances in the graph. Throws error(bad_argument) for a source that is out of range, a fraction that is
  /// negative or no number, and what sssp() refuses; error(out_of_memory).
  incremental_sssp(Space const& space, graph::graph_view const& g, incremental_sssp_options const& o)
      : base("incremental_sssp", space, g, o) {}
  template <class Graph>
  incremental_sssp(Graph const& g, incremental_sssp_options const& o) : incremental_sssp(g.space(), g.view(), o) {}

  [[nodiscard]] std::vector<double> distance() const override {
    return exec::copy_out(base::space(), device_distance(), base::vertices());
  }
  /// The same in memory of the space, valid until the next change of the graph.
  [[nodiscard]] double const* device_distance() const { return reinterpret_cast<double const*>(base::distances()); }
};

template <class Graph>
incremental_sssp(Graph const& g, incremental_sssp_options const& o)
    -> incremental_sssp<std::decay_t<decltype(g.space())>>;

/// Maintains the distances from one source in an any_graph.
[[nodiscard]] std::unique_ptr<maintained_sssp> maintain_sssp(graph::any_graph const& g,
                                                             incremental_sssp_options const& o);

}  // namespace wyrm::algorithms
