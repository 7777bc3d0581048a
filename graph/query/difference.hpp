// SPDX-License-Identifier: Apache-2.0
// The difference between two states of a graph, as a batch that changes one into the other. A row has changed only if
// its record has changed, because an update replaces each page that a snapshot references. So only the vertex tables
// (24 bytes per vertex) and the rows that differ are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/device_array.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../types.hpp"
#include "../update/values.hpp"
#include "../view.hpp"
#include "rows.hpp"
#include "scratch.hpp"

namespace wyrm::graph {

/// A batch for dynamic_graph::apply(); without values if Value is no_value. An edge that has another value is erased
/// and inserted again, by neighbouring entries in this order, so that the combiner of a graph does not matter.
template <class Value>
struct changes {
  std::vector<edge> edges;
  std::vector<operation> operations;
  std::vector<Value> values;
};
/// The same in memory of a space.
template <class Value, class Space>
struct resident_changes {
  exec::device_array<edge, Space> edges;
  exec::device_array<operation, Space> operations;
  exec::device_array<Value, Space> values;

  [[nodiscard]] resident_edges batch() const { return resident_edges(edges.data(), edges.size()); }
  [[nodiscard]] changes<Value> to_host() const { return {edges.to_host(), operations.to_host(), values.to_host()}; }
};

namespace detail {

/// The neighbours of v; none if v is not below the number of vertices of that state.
[[nodiscard]] WYRM_HD inline neighbour_list neighbours_then(graph_view const& g, vertex_id v) {
  return v < g.vertices() ? g.neighbours(v) : neighbour_list{nullptr, 0};
}

/// One lane per vertex: lists those whose rows differ.
struct list_changed_rows {
  graph_view from;
  graph_view to;
  vertex_id* list;
  std::uint32_t* count;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    bool differs = false;
    if (valid) {
      neighbour_list const a = neighbours_then(from, static_cast<vertex_id>(v));
      neighbour_list const b = neighbours_then(to, static_cast<vertex_id>(v));
      differs = a.data != b.data || a.size != b.size;
    }
    std::uint32_t const lanes = t.ballot(differs);
    if (lanes == 0) return;
    std::uint32_t first = 0;
    if (t.rank() == 0)
      first = exec::atomic_ref<std::uint32_t>(*count).fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(lanes)),
                                                                exec::relaxed);
    first = t.shfl(first, 0);
    if (differs) list[first + exec::rank_in(t, lanes)] = static_cast<vertex_id>(v);
  }
};

/// Two rows for each vertex of a list: that of `to`, and that of `from`.
struct rows_of_both {
  struct row {
    neighbour_list entries;
    vertex_id source;
    bool is_old;
  };
  graph_view from;
  graph_view to;
  vertex_id const* list;
  [[nodiscard]] WYRM_HD bool is_valid(std::size_t) const { return true; }
  [[nodiscard]] WYRM_HD row at(std::size_t i) const {
    vertex_id const v = list[i / 2];
    bool const is_old = i % 2 == 1;
    return {neighbours_then(is_old ? from : to, v), v, is_old};
  }
};

/// Counts the entries that are in only one of the two rows, or have another value in each; writes them if there is an
/// array.
template <class Value>
struct find_changes {
  static constexpr unsigned width = width_of<Value>;
  graph_view from;
  graph_view to;
  std::uint64_t* count;
  edge* edges;  // nullptr: counts only
  operation* operations;
  Value* values;

  WYRM_HD void operator()(rows_of_both::row const& row, std::uint64_t, vertex_id target) const {
    if (!to.directed() && row.source > target) return;
    vertex_id const v = row.source;
    neighbour_list const other = neighbours_then(row.is_old ? to : from, v);
    std::uint32_t const at = lower_bound(other.data, other.size, target);
    bool const is_in_both = at < other.size && other[at] == target;
    bool differs = !is_in_both;
    if constexpr (width > 0)
      if (is_in_both && !row.is_old) differs = !(word(to, v, index_of(row, target)) == word(from, v, at));
    if (!differs) return;
    std::uint64_t place = exec::atomic_ref<std::uint64_t>(*count).fetch_add(is_in_both ? 2 : 1, exec::relaxed);
    if (edges == nullptr) return;
    if (is_in_both) {
      edges[place] = {v, target};
      operations[place++] = operation::erase;
    }
    edges[place] = {v, target};
    operations[place] = row.is_old ? operation::erase : operation::insert;
    if constexpr (width > 0)
      if (!row.is_old) values[place] = to.values<Value>(v)[index_of(row, target)];
  }

 private:
  [[nodiscard]] WYRM_HD static std::uint32_t index_of(rows_of_both::row const& row, vertex_id target) {
    return lower_bound(row.entries.data, row.entries.size, target);
  }
  [[nodiscard]] WYRM_HD static value_word<width> word(graph_view const& g, vertex_id v, std::uint32_t i) {
    return reinterpret_cast<value_word<width> const*>(g.values<Value>(v))[i];
  }
};

}  // namespace detail

/// The batch that changes the graph of one view into the graph of another view; each is a view of a snapshot, or of the
/// current graph. Its entries are in no particular order; an undirected edge is in it once. It contains the edges of
/// vertices that were added or removed between the two states, but not these vertices. O(vertices + entries of the rows
/// that differ, times log degree). Scratch: 4 bytes per vertex, and 24 per row that differs. Throws error(bad_argument)
/// for views of different graphs, or values of another size; other arguments as for other queries (lookup.hpp).
template <class Value = no_value, class On>
[[nodiscard]] auto difference(On&& on, graph_view const& from, graph_view const& to) {
  using space_type = detail::space_of<On>;
  if (from.graph_id() == 0 || from.graph_id() != to.graph_id())
    throw error(error_code::bad_argument, "difference: the views belong to different graphs");
  if (from.value_bytes() != width_of<Value>)
    throw error(error_code::bad_argument, "difference: the graph has values of " + std::to_string(from.value_bytes()) +
                                              " bytes, not of " + std::to_string(width_of<Value>));
  auto&& scratch = detail::scratch_for(on);
  space_type const& space = scratch.space();
  typename space_type::guard const current(space);
  vertex_id const vertices = std::max(from.vertices(), to.vertices());
  exec::buffer<vertex_id, space_type> list(space, vertices);
  exec::buffer<std::uint32_t, space_type> listed(space, 1);
  space.fill(listed.data(), 0, sizeof(std::uint32_t));
  exec::for_each_lane<32>(space, vertices, detail::list_changed_rows{from, to, list.data(), listed.data()});
  std::size_t const rows = 2 * std::size_t{exec::read(space, listed.data())};
  exec::buffer<std::uint64_t, space_type> count(space, 1);
  std::uint64_t changed = 0;
  detail::rows_of_both const both{from, to, list.data()};
  detail::numbered_rows<detail::rows_of_both> all{both, nullptr, 0, 0};
  if (rows > 0) {
    scratch.lengths.reserve(rows);
    scratch.offsets.reserve(rows + 1);
    exec::for_each(space, rows,
                   detail::measure_rows<detail::rows_of_both>{both, scratch.lengths.data(), scratch.begin()});
    scratch.bulk.inclusive_sum(scratch.lengths.data(), scratch.offsets.data(), rows);
    all = {both, scratch.offsets.data(), rows, exec::read(space, scratch.offsets.data() + rows)};
    space.fill(count.data(), 0, sizeof(std::uint64_t));
    detail::for_each_entry(space, all, detail::find_changes<Value>{from, to, count.data(), nullptr, nullptr, nullptr});
    changed = exec::read(space, count.data());
  }
  resident_changes<Value, space_type> result{
      exec::device_array<edge, space_type>(space, changed), exec::device_array<operation, space_type>(space, changed),
      exec::device_array<Value, space_type>(space, width_of<Value> > 0 ? changed : 0)};
  if (changed == 0) return result;
  space.fill(count.data(), 0, sizeof(std::uint64_t));
  detail::for_each_entry(space, all,
                         detail::find_changes<Value>{from, to, count.data(), result.edges.data(),
                                                     result.operations.data(), result.values.data()});
  return result;
}

}  // namespace wyrm::graph
