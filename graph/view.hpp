// SPDX-License-Identifier: Apache-2.0
// The view of a graph for algorithms: for each vertex a pointer to its neighbours, ascending and unique, and their
// number. It is trivially copyable and independent of the allocator. It is valid until the next change of the graph.
#pragma once

#include <cstdint>
#include <utility>

#include "../exec/config.hpp"
#include "table/record.hpp"
#include "types.hpp"

namespace wyrm::graph {

/// The neighbours of one vertex.
struct neighbour_list {
  vertex_id const* data;
  std::uint32_t size;
  [[nodiscard]] WYRM_HD vertex_id const* begin() const { return data; }
  [[nodiscard]] WYRM_HD vertex_id const* end() const { return data + size; }
  WYRM_HD vertex_id operator[](std::uint32_t i) const { return data[i]; }
};

/// The position of the first of n ascending values that is not less than `value`; n if there is none.
template <class T>
[[nodiscard]] WYRM_HD std::uint32_t lower_bound(T const* values, std::uint32_t n, T value) {
  std::uint32_t first = 0;
  for (std::uint32_t half; n > 1; n -= half) {  // a multiplication instead of an unpredictable branch
    half = n / 2;
    first += static_cast<std::uint32_t>(values[first + half - 1] < value) * half;
  }
  return n == 0 ? 0 : first + static_cast<std::uint32_t>(values[first] < value);
}

/// Whether an ascending list contains a value. O(log size).
[[nodiscard]] WYRM_HD inline bool contains(neighbour_list const& list, vertex_id v) {
  std::uint32_t const at = lower_bound(list.data, list.size, v);
  return at < list.size && list[at] == v;
}

/// What a view consists of.
struct view_parts {
  packed_record const* out = nullptr;  // the records of the vertex table
  packed_record const* in = nullptr;   // nullptr without in-neighbours; `out` for an undirected graph
  std::uint64_t arcs = 0;
  vertex_id vertices = 0;  // ids
  vertex_id absent = 0;    // the vertices that are not in the graph
  bool directed = false;
  std::uint8_t value_bytes = 0;             // of a value; 0 without values
  number_type numbers = number_type::none;  // the type of the values
  std::uint64_t graph_id = 0;               // see identity; 0 for rows that belong to no graph
  std::uint64_t version = 0;
};

class graph_view {
 public:
  explicit graph_view(view_parts const& parts) : p_(parts) {}

  [[nodiscard]] view_parts const& parts() const { return p_; }
  /// The id of the graph, unique in the process. A move of the graph moves the id. 0: rows that belong to no graph.
  [[nodiscard]] std::uint64_t graph_id() const { return p_.graph_id; }
  /// The number of changes of the contents: of at least one edge or vertex, build() and clear(). Views with the same id
  /// and version have the same vertices and neighbours, but possibly in different pages.
  [[nodiscard]] std::uint64_t version() const { return p_.version; }

  /// The number of ids. A vertex that was removed is absent, and has no neighbours.
  [[nodiscard]] WYRM_HD vertex_id vertices() const { return p_.vertices; }
  /// The number of vertices that are in the graph.
  [[nodiscard]] WYRM_HD vertex_id present_vertices() const { return p_.vertices - p_.absent; }
  [[nodiscard]] WYRM_HD bool is_present(vertex_id v) const { return p_.absent == 0 || !p_.out[v].is_absent(); }
  /// The number of stored arcs: twice the edges of an undirected graph (a self-loop counts once).
  [[nodiscard]] WYRM_HD std::uint64_t arcs() const { return p_.arcs; }
  [[nodiscard]] WYRM_HD bool directed() const { return p_.directed; }
  /// Whether in_neighbours() may be called. A graph without ids has nothing that could be missing, so the answer is
  /// true for any: algorithms accept it, and a maintained result of it requests the memory for both cases. The answer
  /// may change when such a graph gets ids.
  [[nodiscard]] WYRM_HD bool has_in_neighbours() const { return p_.in != nullptr || p_.vertices == 0; }

  /// The same graph with every arc reversed: its neighbours are the in-neighbours of this graph. It has no identity.
  /// Throws error(bad_argument) for a directed graph without in-neighbours.
  [[nodiscard]] graph_view reversed() const {
    if (!has_in_neighbours())
      throw error(error_code::bad_argument, "a graph without in-neighbours has no reversed view; make it with them");
    view_parts parts = p_;
    std::swap(parts.out, parts.in);
    parts.graph_id = parts.version = 0;
    return graph_view(parts);
  }

  /// The records of the vertex tables.
  [[nodiscard]] WYRM_HD packed_record const* out_records() const { return p_.out; }
  [[nodiscard]] WYRM_HD packed_record const* in_records() const { return p_.in; }

  [[nodiscard]] WYRM_HD std::uint32_t degree(vertex_id v) const { return p_.out[v].degree; }
  [[nodiscard]] WYRM_HD neighbour_list neighbours(vertex_id v) const { return {p_.out[v].page(), p_.out[v].degree}; }
  [[nodiscard]] WYRM_HD neighbour_list in_neighbours(vertex_id v) const { return {p_.in[v].page(), p_.in[v].degree}; }

  /// The bytes of the value of an edge; 0 without values.
  [[nodiscard]] WYRM_HD unsigned value_bytes() const { return p_.value_bytes; }
  /// The type of the values; none if there are no values, or values of another type.
  [[nodiscard]] WYRM_HD number_type numbers() const { return p_.numbers; }
  /// The values of the neighbours of v, in the same order. Value must be the type of the graph's values.
  template <class Value>
  [[nodiscard]] WYRM_HD Value const* values(vertex_id v) const {
    return values_in<Value>(p_.out[v]);
  }
  template <class Value>
  [[nodiscard]] WYRM_HD Value const* in_values(vertex_id v) const {
    return values_in<Value>(p_.in[v]);
  }

 private:
  template <class Value>
  [[nodiscard]] WYRM_HD static Value const* values_in(packed_record const& r) {
    return reinterpret_cast<Value const*>(r.page() + r.capacity());
  }

  view_parts p_;
};

}  // namespace wyrm::graph
