// SPDX-License-Identifier: Apache-2.0
// Plain types for the exchange of graphs between files, programs and containers. They do not need a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "../exec/error.hpp"

namespace wyrm::graph {

/// Vertices are numbered 0 ... n-1.
using vertex_id = std::uint32_t;

/// The maximum number of vertices of a graph. The largest id is reserved for "no vertex".
inline constexpr std::size_t max_vertices = std::numeric_limits<vertex_id>::max();

/// The reserved id.
inline constexpr vertex_id no_vertex = std::numeric_limits<vertex_id>::max();

struct edge {
  vertex_id source;
  vertex_id target;
  friend constexpr bool operator==(edge const&, edge const&) = default;
  friend constexpr auto operator<=>(edge const&, edge const&) = default;
};

/// An edge with a value, such as a weight or a time.
template <class Value>
struct valued_edge {
  vertex_id source;
  vertex_id target;
  Value value;
  friend constexpr bool operator==(valued_edge const&, valued_edge const&) = default;
};

/// What an entry of a batch does with its edge. Any value other than `insert` erases.
enum class operation : std::uint8_t { insert, erase };

/// The Value of a graph whose edges have none.
struct no_value {};

/// The types of values that are numbers: those that can be combined, and that algorithms take as weights.
enum class number_type : std::uint8_t { none, u32, i64, f32, f64 };
template <class Value>
inline constexpr number_type number_type_of = std::is_same_v<Value, std::uint32_t>  ? number_type::u32
                                              : std::is_same_v<Value, std::int64_t> ? number_type::i64
                                              : std::is_same_v<Value, float>        ? number_type::f32
                                              : std::is_same_v<Value, double>       ? number_type::f64
                                                                                    : number_type::none;

/// The Value of a graph whose values are numbers of Width bytes, 4 or 8, of a type that options::values has at run
/// time.
template <unsigned Width>
struct any_number {
  alignas(Width) unsigned char bytes[Width];
  friend constexpr bool operator==(any_number const&, any_number const&) = default;
};
/// The bytes of a number.
[[nodiscard]] constexpr unsigned width_of_numbers(number_type type) {
  return type == number_type::none ? 0 : type == number_type::u32 || type == number_type::f32 ? 4 : 8;
}

/// How the value of an edge and that of an insertion of the same edge become one.
enum class combiner : std::uint8_t { latest, min, max, sum };

/// Edges of a file or a generator, in any order, possibly with duplicates and self-loops. An undirected list has each
/// edge once, in either direction.
struct edge_list {
  std::size_t vertices = 0;
  bool directed = false;
  std::vector<edge> edges;
  std::vector<double> weights;  // empty, or one weight per edge
  std::vector<double> times;    // empty, or one time per edge, in the unit of the file (often Unix seconds)

  // The numbers or names of vertices in the file. Without ids and names, the number of vertex v is first_id + v.
  std::uint64_t first_id = 0;
  std::vector<std::uint64_t> ids;  // empty, or one per vertex
  std::vector<std::string> names;  // empty, or one per vertex
};

/// Compressed sparse rows: the neighbours of v are targets[offsets[v]] ... targets[offsets[v + 1] - 1], ascending.
struct csr {
  std::vector<std::uint64_t> offsets;  // vertices + 1 entries
  std::vector<vertex_id> targets;
  friend bool operator==(csr const&, csr const&) = default;
};

/// A CSR in arrays of the caller.
struct csr_view {
  csr_view(std::span<std::uint64_t const> o, std::span<vertex_id const> t) : offsets(o), targets(t) {}
  csr_view(csr const& c) : offsets(c.offsets), targets(c.targets) {}
  std::span<std::uint64_t const> offsets;
  std::span<vertex_id const> targets;
};

/// Edges in memory of a space.
struct resident_edges {
  explicit resident_edges(edge const* first, std::size_t n) : data(first), size(n) {}
  edge const* data;
  std::size_t size;
};

/// Edges with values in memory of a space.
template <class Value>
struct resident_valued_edges {
  explicit resident_valued_edges(valued_edge<Value> const* first, std::size_t n) : data(first), size(n) {}
  valued_edge<Value> const* data;
  std::size_t size;
};

/// Vertices in memory of a space.
struct resident_vertices {
  explicit resident_vertices(vertex_id const* first, std::size_t n) : data(first), size(n) {}
  vertex_id const* data;
  std::size_t size;
};

/// A CSR in memory of a space; see csr.
struct resident_csr {
  std::uint64_t const* offsets;
  vertex_id const* targets;
  std::uint64_t arcs;
};

}  // namespace wyrm::graph
