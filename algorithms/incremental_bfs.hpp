// SPDX-License-Identifier: Apache-2.0
// The distances, in arcs, from one source to all vertices of a changing graph. An inserted arc is relaxed, and so are
// the arcs of all vertices whose distances decrease (Ramalingam and Reps 1996). After an erasure, the vertices that may
// have lost all shortest paths are found along a tree of parents, and get distances from their in-neighbours (Khanda et
// al. 2022); see detail/distance_tree.hpp. After every change the result is that of bfs().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "bfs.hpp"
#include "detail/distance_tree.hpp"
#include "detail/maintained_distances.hpp"

namespace wyrm::algorithms {

struct incremental_bfs_options {
  graph::vertex_id source = 0;
  /// If a change of the graph affects the distances of more than this fraction of the vertices, a full run is done; 0:
  /// after every change that affects a distance; 1 or more: never. A vertex with many in-neighbours counts once per 256
  /// of them.
  double full_run = 0.1;
};

/// The distances of an any_graph; see maintain_bfs.
class maintained_bfs : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// Of each vertex: arcs from the source, or bfs_result::unreached. O(vertices).
  [[nodiscard]] virtual std::vector<std::uint32_t> distance() const = 0;
  /// The number of vertices that are reached, the source included.
  [[nodiscard]] virtual std::size_t reached() const = 0;
  [[nodiscard]] virtual graph::vertex_id source() const = 0;
  /// How many changes were followed by a full run. May differ between runs of a program where a change affects about as
  /// many vertices as the options allow.
  [[nodiscard]] virtual std::size_t full_runs() const = 0;
};

namespace detail {

/// Full runs by bfs_searcher; see maintained_distances.
template <class Space>
class hop_search {
 public:
  using lengths = hop_lengths;
  hop_search(Space const& space, incremental_bfs_options const&) : searcher_(space) {}
  // Parents are asked for where there are in-neighbours.
  void reserve(std::size_t n, std::uint64_t arcs, bool parents) {
    searcher_.reserve(n, arcs, parents, {.parents = parents});
  }
  std::size_t run(graph::graph_view const& g, graph::vertex_id source, bool parents) {
    return searcher_.run(g, std::span(&source, 1), {.parents = parents}).reached;
  }
  [[nodiscard]] lengths lengths_of(graph::graph_view const&) const { return {}; }
  [[nodiscard]] bool needs_values() const { return false; }
  [[nodiscard]] std::uint32_t const* distance() const { return searcher_.distance(); }
  [[nodiscard]] graph::vertex_id const* parent() const { return searcher_.parent(); }

 private:
  bfs_searcher<Space> searcher_;
};

}  // namespace detail

/// The distances from one source in one changing graph; see graph/maintained_result.hpp. The source is at distance 0
/// even while it is absent; all other vertices are unreached then. If a change to fewer ids removes the id of the
/// source, no vertex is reached until the id exists again.
///
/// A change of m entries costs O(m log degree + degrees of the vertices whose distances change or that lose their
/// parents); a vertex may change several times. The number of rounds is that of the arcs of the longest path along
/// which distances change; each large one has one or two launches, and the host waits once for several rounds. A full
/// run is done instead if more vertices change than the options allow; and in a directed graph without in-neighbours,
/// if an erased arc was the last one of a shortest path.
///
/// About 75 bytes per vertex and 1/4 byte per arc, those of bfs_searcher included. Not thread-safe.
template <class Space>
class incremental_bfs final : public detail::maintained_distances<maintained_bfs, Space, detail::hop_search<Space>> {
  using base = detail::maintained_distances<maintained_bfs, Space, detail::hop_search<Space>>;

 public:
  /// Finds the distances in the graph. Throws error(bad_argument) for a source that is out of range, and a fraction
  /// that is negative or no number; error(out_of_memory).
  incremental_bfs(Space const& space, graph::graph_view const& g, incremental_bfs_options const& o)
      : base("incremental_bfs", space, g, o) {}
  template <class Graph>
  incremental_bfs(Graph const& g, incremental_bfs_options const& o) : incremental_bfs(g.space(), g.view(), o) {}

  [[nodiscard]] std::vector<std::uint32_t> distance() const override {
    return exec::copy_out(base::space(), base::distances(), base::vertices());
  }
  /// The same in memory of the space, valid until the next change of the graph.
  [[nodiscard]] std::uint32_t const* device_distance() const { return base::distances(); }
};

template <class Graph>
incremental_bfs(Graph const& g, incremental_bfs_options const& o) -> incremental_bfs<std::decay_t<decltype(g.space())>>;

/// Maintains the distances from one source in an any_graph.
[[nodiscard]] std::unique_ptr<maintained_bfs> maintain_bfs(graph::any_graph const& g, incremental_bfs_options const& o);

}  // namespace wyrm::algorithms
