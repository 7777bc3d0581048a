// SPDX-License-Identifier: Apache-2.0
// Strongly connected components: two vertices are in the same one if each can be reached from the other. The method is
// that of Slota, Rajamanickam and Madduri ("BFS and Coloring-Based Parallel Algorithms for Strongly Connected
// Components and Related Problems", IPDPS 2014):
//
// - Trimming: a vertex without in-neighbours or without out-neighbours is a component of its own. It is removed, which
//   may leave others without neighbours (McLendon, Hendrickson, Plimpton, Rauchwerger, JPDC 2005).
// - Forward and backward search: what is reached from a pivot in both directions is the component of the pivot
//   (Fleischer, Hendrickson, Pinar 2000). A pivot with large degrees is usually in the largest component. The other
//   vertices are split by which of the searches has reached them.
// - Colouring: each vertex takes the greatest colour of all vertices that reach it. Components are then found in all
//   colours at the same time, by one backward search from the vertices that kept their colours (Orzan 2004). This and
//   trimming are repeated until no vertex remains. The order of colours is random, and another one each time.
//
// All steps work on lists of the remaining vertices, or on frontiers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "bfs.hpp"
#include "components.hpp"
#include "detail/frontier.hpp"
#include "detail/labels.hpp"
#include "detail/reachability.hpp"
#include "detail/requirements.hpp"
#include "detail/rounds.hpp"
#include "triangles.hpp"

namespace wyrm::algorithms {

/// The figures of components_result.
struct components_run {
  std::size_t count = 0;    // without absent vertices
  std::size_t largest = 0;  // vertices in the largest component
};

/// Finds the components of different graphs, or of one changing graph; labels and scratch memory stay on the device:
/// about 64 bytes per vertex and 1/8 byte per arc. Not thread-safe.
template <class Space>
class strong_component_finder {
 public:
  explicit strong_component_finder(Space const& space)
      : space_(space),
        rounds_(space),
        searcher_(space),
        label_(space),
        region_(space),
        left_(space),
        colour_(space),
        remaining_(space),
        spare_(space),
        state_(space, 1),
        counts_(space, 1) {}

  /// The components of an undirected graph are its connected components. Trimming reads each arc a constant number of
  /// times, and so do the searches. The expected number of colourings is O(log vertices); each reads the arcs of the
  /// remaining vertices, those of a vertex again whenever its colour changes. A search has as many frontiers as the
  /// longest shortest path that it follows has arcs; each large one takes one or two launches, and the host reads the
  /// size of at least every sixteenth of them. Throws error(bad_argument) for a directed graph without in-neighbours,
  /// and error(out_of_memory).
  components_run run(graph::graph_view const& g) {
    detail::require_in_neighbours(g, "strong_components");
    std::size_t const n = g.vertices();
    if (n == 0) return {};
    reserve(g);
    exec::for_each(space_, n, detail::begin_partition{g, partition()});
    size_ = n;
    list_remaining(nullptr);
    trim(g, true);
    if (size_ > 0) search_from_pivot(g);
    for (std::uint32_t turn = 0; size_ > 0; ++turn) {
      trim(g, false);
      if (size_ > 0) search_by_colours(g, turn);
    }
    return finish(g);
  }
  /// Of each vertex of the graph of the last run, in device memory: the smallest vertex of its component; the vertex
  /// itself if it is absent.
  [[nodiscard]] graph::vertex_id const* label() const { return label_.data(); }

 private:
  void reserve(graph::graph_view const& g) {
    std::size_t const n = g.vertices();
    for (auto* const array : {&label_, &region_, &left_, &remaining_, &spare_}) array->reserve(n);
    colour_.reserve(n);
    rounds_.begin(g);
    space_.fill(colour_.data(), 0, n * sizeof(std::uint64_t));
  }
  [[nodiscard]] detail::vertex_partition partition() const { return {label_.data(), region_.data()}; }

  // Drops the vertices that have a label from the list `from`, or from all vertices.
  void list_remaining(graph::vertex_id const* from) {
    exec::write(space_, state_.data(), {});
    exec::for_each_lane<32>(space_, size_, detail::list_remaining{partition(), from, spare_.data(), state_.data()});
    size_ = exec::read(space_, state_.data()).remaining;
    std::swap(remaining_, spare_);
  }
  // Makes a frontier of the remaining vertices for which f(v) is true.
  template <class F>
  void begin_rounds(graph::graph_view const& g, F const& f, bool marks = false) {
    rounds_.clear();
    exec::for_each_lane<32>(space_, size_, detail::list_if<F>{g, remaining_.data(), f, rounds_.now(), marks});
  }
  void trim(graph::graph_view const& g, bool is_first) {
    trim_along(g, g.reversed(), is_first);
    trim_along(g.reversed(), g, is_first);
    list_remaining(remaining_.data());
  }
  // Removes vertices without in-neighbours. `from` is the reversed graph.
  void trim_along(graph::graph_view const& g, graph::graph_view const& from, bool is_first) {
    if (is_first) {
      exec::for_each(space_, g.vertices(), detail::count_others{from, left_.data()});
    } else {
      begin_rounds(from, detail::clear_left{left_.data()});
      detail::for_each_item<8>(space_, rounds_.now(), detail::count_left{from, partition(), left_.data()});
    }
    begin_rounds(g, detail::has_none_left{partition(), left_.data()});
    rounds_.run(detail::trim_vertices{g, partition(), left_.data(), {}});
  }
  void search_from_pivot(graph::graph_view const& g) {
    exec::for_each_lane<32>(space_, size_, detail::find_pivot{g, remaining_.data(), state_.data()});
    graph::vertex_id const pivot = detail::find_pivot::vertex(exec::read(space_, state_.data()).pivot);
    std::span<graph::vertex_id const> const source(&pivot, 1);
    searcher_.run(g, source);
    exec::for_each(space_, size_, detail::split_region{partition(), remaining_.data(), searcher_.distance()});
    searcher_.run(g.reversed(), source);
    exec::for_each(space_, size_, detail::label_pivot{partition(), remaining_.data(), searcher_.distance(), pivot});
    list_remaining(remaining_.data());
  }
  void search_by_colours(graph::graph_view const& g, std::uint32_t turn) {
    begin_rounds(g, detail::begin_colours{colour_.data(), turn});
    rounds_.run(detail::spread_colours{g, partition(), colour_.data(), {}});
    graph::graph_view const back = g.reversed();
    begin_rounds(back, detail::is_root{colour_.data()}, true);
    rounds_.run(detail::collect_colours{back, partition(), colour_.data(), {}});
    list_remaining(remaining_.data());
    exec::for_each(space_, size_, detail::split_by_colour{partition(), colour_.data(), remaining_.data()});
  }
  // Replaces labels by the smallest vertices of their components, and counts components.
  components_run finish(graph::graph_view const& g) {
    std::size_t const n = g.vertices();
    std::size_t const absent = n - g.present_vertices();
    space_.fill(left_.data(), 0xff, n * sizeof(graph::vertex_id));
    exec::for_each(space_, n, detail::find_first{label_.data(), nullptr, left_.data()});
    exec::for_each(space_, n, detail::compose_labels{label_.data(), left_.data()});
    exec::write(space_, counts_.data(), {});
    detail::count_components(space_, {label_.data()}, n, region_.data(), counts_.data());
    detail::component_state const counts = exec::read(space_, counts_.data());
    return {counts.count - absent, absent == n ? 0 : counts.largest};
  }

  using ids = exec::buffer<graph::vertex_id, Space>;
  Space space_;
  detail::rounds<Space> rounds_;
  bfs_searcher<Space> searcher_;
  ids label_;
  ids region_;  // at the end the sizes of components
  ids left_;    // neighbours that are left; at the end the smallest vertices of components
  exec::buffer<std::uint64_t, Space> colour_;
  ids remaining_;
  ids spare_;
  std::size_t size_ = 0;  // of remaining_
  exec::buffer<detail::partition_state, Space> state_;
  exec::buffer<detail::component_state, Space> counts_;
};

/// The strongly connected components of a graph, with labels in host memory; see strong_component_finder. Those of an
/// undirected graph are found by components().
template <class Space>
components_result strong_components(Space const& space, graph::graph_view const& g) {
  if (!g.directed()) return components(space, g);
  strong_component_finder<Space> finder(space);
  components_run const run = finder.run(g);
  return {exec::copy_out(space, finder.label(), g.vertices()), run.count, run.largest};
}

components_result strong_components(graph::any_graph const& g);

}  // namespace wyrm::algorithms
