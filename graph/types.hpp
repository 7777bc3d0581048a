// SPDX-License-Identifier: Apache-2.0
// The plain types in which graphs travel between files, programs and containers. Nothing here needs a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../exec/error.hpp"

namespace wyrm::graph {

/// Vertices are numbered 0 ... n-1.
using vertex_id = std::uint32_t;

/// The most vertices that a graph can have: the largest id stays free, to mean "no vertex".
inline constexpr std::size_t max_vertices = std::numeric_limits<vertex_id>::max();

struct edge {
  vertex_id source;
  vertex_id target;
  friend constexpr bool operator==(edge const&, edge const&) = default;
  friend constexpr auto operator<=>(edge const&, edge const&) = default;
};

/// Edges as a file or a generator gives them, in any order; repeats and self-loops may occur.
/// In an undirected list each edge stands once, in either direction.
struct edge_list {
  std::size_t vertices = 0;
  bool directed = false;
  std::vector<edge> edges;
  std::vector<double> weights;  // empty, or one weight per edge
  std::vector<double> times;    // empty, or when each edge came, in the unit of the file (often Unix seconds)

  // What the file calls vertex v, where that is not v itself: a number or a name.
  std::vector<std::uint64_t> ids;  // empty, or one per vertex
  std::vector<std::string> names;  // empty, or one per vertex
};

/// Compressed sparse rows: the neighbours of v are targets[offsets[v]] ... targets[offsets[v + 1] - 1], ascending.
struct csr {
  std::vector<std::uint64_t> offsets;  // vertices + 1 entries
  std::vector<vertex_id> targets;
  friend bool operator==(csr const&, csr const&) = default;
};

/// The same, of somebody else's arrays.
struct csr_view {
  csr_view(std::span<std::uint64_t const> o, std::span<vertex_id const> t) : offsets(o), targets(t) {}
  csr_view(csr const& c) : offsets(c.offsets), targets(c.targets) {}
  std::span<std::uint64_t const> offsets;
  std::span<vertex_id const> targets;
};

/// Edges in the memory of a space.
struct resident_edges {
  explicit resident_edges(edge const* first, std::size_t n) : data(first), size(n) {}
  edge const* data;
  std::size_t size;
};

/// A CSR in the memory of a space; see csr.
struct resident_csr {
  std::uint64_t const* offsets;
  vertex_id const* targets;
  std::uint64_t arcs;
};

}  // namespace wyrm::graph
