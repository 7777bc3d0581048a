// SPDX-License-Identifier: Apache-2.0
// The view of a graph for algorithms: for each vertex a pointer to its neighbours, ascending and unique, and their
// number. It is trivially copyable and independent of the allocator. It is valid until the next change of the graph.
#pragma once

#include <cstdint>

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

class graph_view {
 public:
  /// in: nullptr without in-neighbours; `out` for an undirected graph. graph_id, version: see identity; 0 for rows that
  /// belong to no graph. value_bytes: the bytes of a value, 0 without values. absent: the number of absent vertices.
  /// numbers: the type of the values.
  graph_view(packed_record const* out, packed_record const* in, vertex_id vertices, std::uint64_t arcs, bool directed,
             std::uint64_t graph_id = 0, std::uint64_t version = 0, unsigned value_bytes = 0, vertex_id absent = 0,
             number_type numbers = number_type::none, std::uint64_t vertex_version = 0)
      : out_(out),
        in_(in),
        arcs_(arcs),
        vertices_(vertices),
        absent_(absent),
        directed_(directed),
        value_bytes_(static_cast<std::uint8_t>(value_bytes)),
        numbers_(numbers),
        graph_id_(graph_id),
        version_(version),
        vertex_version_(vertex_version) {}

  /// The id of the graph, unique in the process. A move of the graph moves the id. 0: rows that belong to no graph.
  [[nodiscard]] std::uint64_t graph_id() const { return graph_id_; }
  /// The number of changes of the contents: updates of at least one edge, build() and clear(). Views with the same id
  /// and version have the same neighbours, but possibly in different pages.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// The number of changes that added or removed vertices. Views with the same id and vertex version have the same
  /// vertices.
  [[nodiscard]] std::uint64_t vertex_version() const { return vertex_version_; }

  /// The number of ids. A vertex that was removed is absent, and has no neighbours.
  [[nodiscard]] WYRM_HD vertex_id vertices() const { return vertices_; }
  /// The number of vertices that are in the graph.
  [[nodiscard]] WYRM_HD vertex_id present_vertices() const { return vertices_ - absent_; }
  [[nodiscard]] WYRM_HD bool is_present(vertex_id v) const { return absent_ == 0 || !out_[v].is_absent(); }
  /// The number of stored arcs: twice the edges of an undirected graph (a self-loop counts once).
  [[nodiscard]] WYRM_HD std::uint64_t arcs() const { return arcs_; }
  [[nodiscard]] WYRM_HD bool directed() const { return directed_; }
  [[nodiscard]] WYRM_HD bool has_in_neighbours() const { return in_ != nullptr || vertices_ == 0; }

  /// The same graph with every arc reversed: its neighbours are the in-neighbours of this graph. It has no identity.
  /// Throws error(bad_argument) for a directed graph without in-neighbours.
  [[nodiscard]] graph_view reversed() const {
    if (!has_in_neighbours())
      throw error(error_code::bad_argument, "a graph without in-neighbours has no reversed view; make it with them");
    return {in_, out_, vertices_, arcs_, directed_, 0, 0, value_bytes_, absent_, numbers_};
  }

  /// The records of the vertex tables.
  [[nodiscard]] WYRM_HD packed_record const* out_records() const { return out_; }
  [[nodiscard]] WYRM_HD packed_record const* in_records() const { return in_; }

  [[nodiscard]] WYRM_HD std::uint32_t degree(vertex_id v) const { return out_[v].degree; }
  [[nodiscard]] WYRM_HD neighbour_list neighbours(vertex_id v) const { return {out_[v].page(), out_[v].degree}; }
  [[nodiscard]] WYRM_HD neighbour_list in_neighbours(vertex_id v) const { return {in_[v].page(), in_[v].degree}; }

  /// The bytes of the value of an edge; 0 without values.
  [[nodiscard]] WYRM_HD unsigned value_bytes() const { return value_bytes_; }
  /// The type of the values; none if there are no values, or values of another type.
  [[nodiscard]] WYRM_HD number_type numbers() const { return numbers_; }
  /// The values of the neighbours of v, in the same order. Value must be the type of the graph's values.
  template <class Value>
  [[nodiscard]] WYRM_HD Value const* values(vertex_id v) const {
    return values_in<Value>(out_[v]);
  }
  template <class Value>
  [[nodiscard]] WYRM_HD Value const* in_values(vertex_id v) const {
    return values_in<Value>(in_[v]);
  }

 private:
  template <class Value>
  [[nodiscard]] WYRM_HD static Value const* values_in(packed_record const& r) {
    return reinterpret_cast<Value const*>(r.page() + r.capacity());
  }

  packed_record const* out_;
  packed_record const* in_;
  std::uint64_t arcs_;
  vertex_id vertices_;
  vertex_id absent_;
  bool directed_;
  std::uint8_t value_bytes_;
  number_type numbers_;
  std::uint64_t graph_id_;
  std::uint64_t version_;
  std::uint64_t vertex_version_;
};

}  // namespace wyrm::graph
