// SPDX-License-Identifier: Apache-2.0
// The edges of a graph for which a predicate is true, as a list in memory of a space. The predicate is called once for
// each edge: a bit for each arc stores its result (filter.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "filter.hpp"
#include "rows.hpp"
#include "scratch.hpp"
#include "values.hpp"

namespace wyrm::graph::detail {

/// All rows. An edge passes if predicate(source, target) is true, or, with values, predicate(source, target, value).
/// For an undirected edge, the arc from the smaller id is tested.
template <class Rows, class Predicate>
struct selected_rows : Rows {
  Predicate predicate;
  [[nodiscard]] WYRM_HD bool passes(typename Rows::row const& r, vertex_id target) const {
    return (this->g.directed() || r.source <= target) && predicate(r.source, target);
  }
  template <class Value>
  [[nodiscard]] WYRM_HD bool passes(typename Rows::row const& r, valued_neighbour<Value> const& entry) const {
    return (this->g.directed() || r.source <= entry.target) && predicate(r.source, entry.target, entry.value);
  }
};

struct write_edge {
  edge* to;
  template <class Row>
  WYRM_HD void operator()(std::uint64_t number, Row const& row, vertex_id target) const {
    to[number] = {row.source, target};
  }
  template <class Row, class Value>
  WYRM_HD void operator()(std::uint64_t number, Row const& row, valued_neighbour<Value> const& entry) const {
    to[number] = {row.source, entry.target};
  }
};

/// The edges that pass, in the order of the rows. O(vertices + arcs). Waits for their number. Scratch: 12 bytes per
/// vertex, and 1/6 byte per arc.
template <class Space, class Rows>
exec::buffer<edge, Space> select_edges(Space const& space, Rows const& rows) {
  exec::buffer<edge, Space> edges(space);
  if (rows.g.arcs() == 0) return edges;
  query_scratch<Space> scratch(space);
  auto const all = number_all_entries(scratch, rows);
  std::size_t const parts = all.parts();
  scratch.tables.reserve((all.entries + 31) / 32);
  scratch.parts.reserve(parts);
  scratch.part_offsets.reserve(parts + 1);
  exec::for_each_tile<32>(space, parts, test_entries<Rows>{all, nullptr, scratch.tables.data(), scratch.parts.data()});
  scratch.bulk.inclusive_sum(scratch.parts.data(), scratch.part_offsets.data(), parts);
  std::size_t const count = exec::read(space, scratch.part_offsets.data() + parts);
  edges.reserve(count);
  if (count > 0)
    exec::for_each_tile<32>(
        space, parts,
        copy_marked<Rows, write_edge>{all, scratch.tables.data(), scratch.part_offsets.data(), {edges.data()}});
  return edges;
}

}  // namespace wyrm::graph::detail
