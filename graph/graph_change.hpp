// SPDX-License-Identifier: Apache-2.0
// A change of a graph, as maintained results receive it: the edges and the vertices that appear and disappear, and the
// edges whose values may change. The graph converts each batch once. So results need not distinguish batches of one
// kind, mixed batches and differences, or batches on the host and on the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../exec/config.hpp"
#include "types.hpp"

namespace wyrm::graph {

/// Trivially copyable, for kernels. The arrays are in memory of the space of the graph, on its stream, and stay there
/// until all results have finished the change.
///
/// Every edge in `edges` that appears is not in the graph before the change, and is in it afterwards; every edge that
/// disappears is in the graph before, and not afterwards. An edge may occur several times; an undirected edge occurs in
/// either direction. Entries without effect are no_edge(): entries of the batch that a later one overrides, edges that
/// are already in the graph and at most change their value, and ids out of range, for which the graph later refuses the
/// batch.
///
/// `revalued` is filled if the graph has values and a result asks for it by maintained_result::needs_values(). Every
/// edge whose value differs before and after the change, and that is in the graph at both moments, is in `revalued`.
/// Every edge in it is in the graph before and after the change, and not in `edges`; its value may be the same. It may
/// be in the array several times; an undirected edge is there in either direction. Other entries are no_edge(). Values
/// are not in the change: the view of before() has the old ones, that of after() the new ones.
///
/// The vertices in `added` are not in the graph before the change, and those in `removed` are not in it afterwards.
/// Each is listed once, and no vertex is in both. All edges of a removed vertex disappear, so they are in `edges`.
struct graph_change {
  [[nodiscard]] WYRM_HD static constexpr edge no_edge() { return {no_vertex, no_vertex}; }

  edge const* edges = nullptr;
  std::size_t size = 0;                   // entries in edges; 0 also for an empty batch
  operation const* operations = nullptr;  // one per entry; nullptr: all are `all`
  operation all = operation::insert;
  /// The change of clear() and build(), and one to fewer ids (see catch_up): any edge may appear or disappear, and
  /// there are no entries and no lists of vertices. The ids that disappear are the largest ones. Any value may change.
  bool replaces_all = false;
  /// An upper bound of the arcs of the graph after the change, and of those before it unless it replaces all.
  std::uint64_t max_arcs = 0;
  /// The version of the graph after the change.
  std::uint64_t next_version = 0;
  /// The number of ids after the change: fewer than before it only if it replaces all.
  vertex_id vertices = 0;
  vertex_id const* added = nullptr;
  std::size_t added_size = 0;
  vertex_id const* removed = nullptr;
  std::size_t removed_size = 0;
  edge const* revalued = nullptr;
  std::size_t revalued_size = 0;  // entries in revalued; 0 where it is not filled, and where no value changes

  [[nodiscard]] WYRM_HD bool has_edge(std::size_t i) const { return edges[i].source != no_vertex; }
  [[nodiscard]] WYRM_HD bool inserts(std::size_t i) const {
    return has_edge(i) && operation_of(i) == operation::insert;
  }
  [[nodiscard]] WYRM_HD bool erases(std::size_t i) const { return has_edge(i) && operation_of(i) != operation::insert; }

  /// Whether vertices appear or disappear.
  [[nodiscard]] bool has_vertices() const { return added_size + removed_size > 0; }
  /// Whether there may be an entry of this kind.
  [[nodiscard]] bool may_insert() const { return size > 0 && (operations != nullptr || all == operation::insert); }
  [[nodiscard]] bool may_erase() const { return size > 0 && (operations != nullptr || all != operation::insert); }

 private:
  [[nodiscard]] WYRM_HD operation operation_of(std::size_t i) const {
    return operations != nullptr ? operations[i] : all;
  }
};

}  // namespace wyrm::graph
