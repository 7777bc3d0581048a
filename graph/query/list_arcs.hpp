// SPDX-License-Identifier: Apache-2.0
// The arcs of a graph as batches of edges in memory of a space, in the order of the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "rows.hpp"
#include "scratch.hpp"
#include "values.hpp"

namespace wyrm::graph::detail {

/// Writes each arc from number `first` on, and its value.
template <class Value>
struct write_arc {
  std::uint64_t first;
  edge* edges;
  Value* values;
  template <class Row>
  WYRM_HD void operator()(Row const& row, std::uint64_t number, vertex_id target) const {
    edges[number - first] = {row.source, target};
  }
  template <class Row>
  WYRM_HD void operator()(Row const& row, std::uint64_t number, valued_neighbour<Value> const& entry) const {
    edges[number - first] = {row.source, entry.target};
    values[number - first] = entry.value;
  }
};

/// One tile per part from `first_part` on.
template <class Rows, class Visit>
struct visit_parts {
  visit_entries<Rows, Visit> visit;
  std::size_t first_part;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t part) const {
    visit(t, first_part + part);
  }
};

/// Calls f(edges, values) for slices of about `slice` arcs, one after another; values is not used if Value is no_value.
/// The arrays are reused after f returns. O(vertices + arcs). Scratch: 12 bytes per vertex, and a slice. f has the same
/// type for all callers, so that the kernels are compiled once, not for each allocator of a graph.
template <class Value, class Space>
void for_each_slice_of_arcs(Space const& space, graph_view const& g, std::size_t slice,
                            std::function<void(resident_edges, Value const*)> const& f) {
  constexpr bool has_values = !std::is_same_v<Value, no_value>;
  using rows = std::conditional_t<has_values, valued_rows<Value, all_rows>, all_rows>;
  if (g.arcs() == 0) return;
  query_scratch<Space> scratch(space);
  auto const all = number_all_entries(scratch, rows{{g}});
  constexpr std::size_t part = all.part_size;
  std::size_t const most = std::min<std::uint64_t>((slice + part - 1) / part * part, g.arcs());
  exec::buffer<edge, Space> edges(space, most);
  exec::buffer<Value, Space> values(space, has_values ? most : 0);
  for (std::uint64_t first = 0; first < g.arcs(); first += most) {
    std::size_t const n = std::min<std::uint64_t>(most, g.arcs() - first);
    write_arc<Value> const write{first, edges.data(), values.data()};
    exec::for_each_tile<32>(space, (n + part - 1) / part,
                            visit_parts<rows, write_arc<Value>>{{all, write}, static_cast<std::size_t>(first / part)});
    f(resident_edges(edges.data(), n), values.data());
  }
}

}  // namespace wyrm::graph::detail
