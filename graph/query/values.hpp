// SPDX-License-Identifier: Apache-2.0
// Queries that read the values of edges: the value of each listed edge, the neighbours of vertices with their values,
// and calls of a functor for all edges with values. `Value` must be the type of the graph's values; only its size can
// be checked. Arguments, results and other errors: see lookup.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/device_array.hpp"
#include "../../exec/error.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "lookup.hpp"
#include "neighbours.hpp"
#include "rows.hpp"
#include "scratch.hpp"

namespace wyrm::graph {

/// Neighbours with the values of their edges: list i is at offsets[i] ... offsets[i + 1] - 1.
template <class Value>
struct valued_csr {
  std::vector<std::uint64_t> offsets;
  std::vector<vertex_id> targets;
  std::vector<Value> values;
  friend bool operator==(valued_csr const&, valued_csr const&) = default;
};

/// The same in memory of a space.
template <class Value, class Space>
struct resident_valued_lists {
  exec::device_array<std::uint64_t, Space> offsets;  // one more than lists
  exec::device_array<vertex_id, Space> targets;
  exec::device_array<Value, Space> values;
  [[nodiscard]] valued_csr<Value> to_host() const { return {offsets.to_host(), targets.to_host(), values.to_host()}; }
};

namespace detail {

template <class Value>
void check_value_type(char const* query, graph_view const& g) {
  static_assert(std::is_trivially_copyable_v<Value>);
  if (g.vertices() > 0 && g.value_bytes() != sizeof(Value))
    throw error(error_code::bad_argument, std::string(query) + ": the values of the query have " +
                                              std::to_string(sizeof(Value)) + " bytes, but those of the graph have " +
                                              std::to_string(g.value_bytes()));
}

/// An edge of an undirected graph is in the rows of both ends, with the same value; the shorter one is searched.
template <class Value>
struct look_up_values {
  graph_view g;
  edge const* pairs;
  Value absent;
  Value* found;
  query_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    auto const [u, v] = pairs[i];
    if (u >= g.vertices() || v >= g.vertices()) {
      status->refuse(i);
      return;
    }
    bool const turned = !g.directed() && g.degree(v) < g.degree(u);
    vertex_id const source = turned ? v : u;
    vertex_id const target = turned ? u : v;
    neighbour_list const row = g.neighbours(source);
    std::uint32_t const at = lower_bound(row.data, row.size, target);
    found[i] = at < row.size && row[at] == target ? g.values<Value>(source)[at] : absent;
  }
};

/// A neighbour with the value of its edge.
template <class Value>
struct valued_neighbour {
  vertex_id target;
  Value value;
};
template <class Value>
struct valued_neighbour_list {
  neighbour_list ids;
  Value const* values;
  std::uint32_t size;
  WYRM_HD valued_neighbour<Value> operator[](std::uint32_t i) const { return {ids[i], values[i]}; }
};

/// The rows of listed_rows or all_rows, with neighbours and values as entries.
template <class Value, class Rows>
struct valued_rows : Rows {
  struct row {
    valued_neighbour_list<Value> entries;
    vertex_id source;
  };
  [[nodiscard]] WYRM_HD row at(std::size_t i) const {
    typename Rows::row const r = Rows::at(i);
    return {{r.entries, this->g.template values<Value>(r.source), r.entries.size}, r.source};
  }
};

template <class Value>
struct copy_valued_entries {
  vertex_id* targets;
  Value* values;
  template <class Row>
  WYRM_HD void operator()(Row const&, std::uint64_t number, valued_neighbour<Value> const& entry) const {
    targets[number] = entry.target;
    values[number] = entry.value;
  }
};

/// See call_for_edges.
template <class F>
struct call_with_values {
  F f;
  bool directed;
  template <class Row, class Value>
  WYRM_HD void operator()(Row const& row, std::uint64_t, valued_neighbour<Value> const& entry) const {
    if (directed || row.source <= entry.target) f(row.source, entry.target, entry.value);
  }
};

/// valued_neighbours() in a graph of which kernels read values of the type Stored. Stored: Value, or bytes of its size.
template <class Value, class Stored, class Space>
resident_valued_lists<Value, Space> list_valued_neighbours(query_scratch<Space>& scratch, graph_view const& g,
                                                           resident_vertices vertices) {
  Space const& space = scratch.space();
  typename Space::guard const current(space);
  exec::device_array<std::uint64_t, Space> offsets(space, vertices.size + 1);
  valued_rows<Stored, listed_rows> const rows{{g, vertices.data}};
  auto const all = number_entries(scratch, "valued_neighbours", rows, vertices.data, vertices.size, offsets.data());
  exec::device_array<vertex_id, Space> targets(space, all.entries);
  exec::device_array<Value, Space> found(space, all.entries);
  for_each_entry(space, all, copy_valued_entries<Stored>{targets.data(), reinterpret_cast<Stored*>(found.data())});
  return {std::move(offsets), std::move(targets), std::move(found)};
}

}  // namespace detail

/// The value of the edge of each pair (source, target); `absent` for a pair without an edge. O(log degree) per pair,
/// with the smaller degree of both ends for an undirected graph. `found` is in memory of the space. Also throws
/// error(bad_argument) if sizeof(Value) is not the size of the graph's values.
template <class Value, class On>
void values(On&& on, graph_view const& g, resident_edges pairs, std::type_identity_t<Value> const& absent,
            Value* found) {
  detail::check_value_type<Value>("values", g);
  auto&& scratch = detail::scratch_for(on);
  detail::look_up(scratch, "values", g, pairs.data, pairs.size,
                  detail::look_up_values<Value>{g, pairs.data, absent, found, nullptr});
}
template <class Value, class On>
[[nodiscard]] auto values(On&& on, graph_view const& g, resident_edges pairs,
                          std::type_identity_t<Value> const& absent) {
  auto&& scratch = detail::scratch_for(on);
  exec::device_array<Value, detail::space_of<On>> found(scratch.space(), pairs.size);
  values<Value>(scratch, g, pairs, absent, found.data());
  return found;
}
template <class Value, class On>
[[nodiscard]] std::vector<Value> values(On&& on, graph_view const& g, std::span<edge const> pairs,
                                        std::type_identity_t<Value> const& absent) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), pairs);
  return values<Value>(scratch, g, resident_edges(entries.data(), pairs.size()), absent).to_host();
}

/// The neighbours of each vertex, ascending, and the values of their edges. O(1) per neighbour. Scratch and errors: as
/// neighbours() and values().
template <class Value, class On>
[[nodiscard]] auto valued_neighbours(On&& on, graph_view const& g, resident_vertices vertices) {
  detail::check_value_type<Value>("valued_neighbours", g);
  auto&& scratch = detail::scratch_for(on);
  return detail::list_valued_neighbours<Value, Value>(scratch, g, vertices);
}
template <class Value, class On>
[[nodiscard]] valued_csr<Value> valued_neighbours(On&& on, graph_view const& g, std::span<vertex_id const> vertices) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), vertices);
  return valued_neighbours<Value>(scratch, g, resident_vertices(entries.data(), vertices.size())).to_host();
}

/// Calls f(source, target, value) for each edge, as for_each_edge() calls f(source, target).
template <class Value, class On, class F>
void for_each_valued_edge(On&& on, graph_view const& g, F const& f) {
  detail::check_value_type<Value>("for_each_valued_edge", g);
  auto&& scratch = detail::scratch_for(on);
  typename detail::space_of<On>::guard const current(scratch.space());
  if (g.vertices() == 0) return;
  detail::valued_rows<Value, detail::all_rows> const rows{{g}};
  detail::for_each_entry(scratch.space(), detail::number_all_entries(scratch, rows),
                         detail::call_with_values<F>{f, g.directed()});
}

}  // namespace wyrm::graph
