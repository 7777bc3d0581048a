// SPDX-License-Identifier: Apache-2.0
// Addition and removal of vertices: the marks of absent vertices in a vertex table, and the edges that are removed
// together with vertices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../query/neighbours.hpp"
#include "../query/select.hpp"
#include "../table/record.hpp"
#include "../types.hpp"
#include "../view.hpp"

namespace wyrm::graph::detail {

/// One thread per listed vertex, which has no neighbours: writes its record.
struct mark_vertices {
  packed_record* records;
  vertex_id const* vertices;
  bool absent;
  WYRM_HD void operator()(std::size_t i) const {
    records[vertices[i]] = absent ? packed_record::absent() : packed_record(vertex_record{nullptr, 0, 0});
  }
};

/// One thread per vertex: removes its page, and keeps its mark.
struct clear_row {
  packed_record* records;
  WYRM_HD void operator()(std::size_t v) const {
    records[v] = records[v].is_absent() ? packed_record::absent() : packed_record(vertex_record{nullptr, 0, 0});
  }
};

/// One thread per vertex: copies the marks of absent vertices to a table in which these have no page.
struct copy_absent {
  packed_record const* from;
  packed_record* to;
  WYRM_HD void operator()(std::size_t v) const {
    if (from[v].is_absent()) to[v] = packed_record::absent();
  }
};

struct find_absent {
  packed_record const* records;
  vertex_id const* vertices;
  std::uint8_t* absent;
  WYRM_HD void operator()(std::size_t i) const { absent[i] = records[vertices[i]].is_absent() ? 1 : 0; }
};

/// One lane per vertex.
struct count_absent {
  packed_record const* records;
  std::uint64_t* count;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    std::uint32_t const absent = t.ballot(valid && records[v].is_absent());
    if (t.rank() == 0 && absent != 0) add(*count, static_cast<unsigned>(cuda::std::popcount(absent)));
  }
};

/// One thread per entry of a batch: an insertion at an absent vertex is counted in the status, like one out of range.
struct refuse_absent_vertices {
  batch_arrays batch;
  packed_record const* records;
  vertex_id vertices;
  update_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    if ((batch.operations == nullptr ? batch.all : batch.operations[i]) != operation::insert) return;
    edge const e = batch.edges[i];
    if (e.source >= vertices || e.target >= vertices) return;  // already counted as out of range
    if (records[e.source].is_absent() || records[e.target].is_absent()) add(status->out_of_range, 1);
  }
};

struct write_incident {
  edge* to;
  bool reversed;
  WYRM_HD void operator()(listed_rows::row const& row, std::uint64_t number, vertex_id v) const {
    to[number] = reversed ? edge{v, row.source} : edge{row.source, v};
  }
};

/// Whether an end of an edge is one of n ascending vertices.
struct has_end_in {
  vertex_id const* vertices;
  std::uint32_t n;
  WYRM_HD bool operator()(vertex_id source, vertex_id target) const {
    neighbour_list const list{vertices, n};
    return contains(list, source) || contains(list, target);
  }
};

/// The edges of n vertices, which ascend; some edges may be listed twice. O(n + edges), but O(vertices + arcs log n)
/// for a directed graph without in-neighbours, in which all rows are searched.
template <class Space>
exec::buffer<edge, Space> incident_edges(Space const& space, graph_view const& g, vertex_id const* vertices,
                                         std::size_t n) {
  if (!g.has_in_neighbours())
    return select_edges(space, selected_rows<all_rows, has_end_in>{{g}, {vertices, static_cast<std::uint32_t>(n)}});
  query_scratch<Space> scratch(space);
  exec::buffer<std::uint64_t, Space> offsets(space, 2 * (n + 1));
  auto const out = number_entries(scratch, "remove_vertices", listed_rows{g, vertices}, vertices, n, offsets.data());
  auto in = out;
  in.entries = 0;
  if (g.directed())
    in = number_entries(scratch, "remove_vertices", listed_rows{g.reversed(), vertices}, vertices, n,
                        offsets.data() + n + 1);
  exec::buffer<edge, Space> edges(space, out.entries + in.entries);
  for_each_entry(space, out, write_incident{edges.data(), false});
  if (in.entries > 0) for_each_entry(space, in, write_incident{edges.data() + out.entries, true});
  return edges;
}

/// Determines which of n vertices, listed in memory of the space, are absent.
template <class Space>
std::vector<std::uint8_t> absent_among(Space const& space, packed_record const* records, vertex_id const* vertices,
                                       std::size_t n) {
  exec::buffer<std::uint8_t, Space> absent(space, n);
  exec::for_each(space, n, find_absent{records, vertices, absent.data()});
  return exec::copy_out(space, absent.data(), n);
}

/// The ids of absent vertices, as a stack: the ids that were removed last are reused first, in ascending order.
class absent_ids {
 public:
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] std::vector<vertex_id> const& all() const { return ids_; }
  /// Copies the next n ids to `to`.
  void next(std::size_t n, vertex_id* to) const { std::copy_n(ids_.rbegin(), n, to); }
  void pop(std::size_t n) { ids_.resize(ids_.size() - n); }
  /// Makes room for n more, so that push() cannot fail.
  void reserve(std::size_t n) {
    if (ids_.capacity() < ids_.size() + n) ids_.reserve(std::max(ids_.size() + n, 2 * ids_.size()));
  }
  void push(std::vector<vertex_id> const& ascending) { ids_.insert(ids_.end(), ascending.rbegin(), ascending.rend()); }

 private:
  std::vector<vertex_id> ids_;
};

/// Throws error(corrupt) unless exactly these vertices are absent in a table.
template <class Space>
void check_absent(Space const& space, packed_record const* records, vertex_id vertices, absent_ids const& ids) {
  exec::buffer<std::uint64_t, Space> count(space, 1);
  exec::write(space, count.data(), std::uint64_t{0});
  exec::for_each_lane<32>(space, vertices, count_absent{records, count.data()});
  std::uint64_t const marked = exec::read(space, count.data());
  std::vector<vertex_id> listed = ids.all();
  std::ranges::sort(listed);
  bool const unique = std::ranges::adjacent_find(listed) == listed.end();
  exec::buffer<vertex_id, Space> there(space, listed.size());
  exec::copy_in<vertex_id>(space, there.data(), listed);
  auto const absent = absent_among(space, records, there.data(), listed.size());
  if (marked != listed.size() || !unique || std::ranges::find(absent, 0) != absent.end())
    throw error(error_code::corrupt, "the graph is damaged: " + std::to_string(marked) +
                                         " vertices are marked as absent, but the list of absent vertices has " +
                                         std::to_string(listed.size()) + ", or others");
}

}  // namespace wyrm::graph::detail
