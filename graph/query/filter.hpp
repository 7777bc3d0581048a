// SPDX-License-Identifier: Apache-2.0
// Entries of rows that pass a test: their number for each row, or the entries themselves. The test is a predicate of
// the caller, or membership in another row. The second one computes an intersection: the entries of the shorter row are
// looked up in the longer one. Arguments, results and errors: see lookup.hpp.
//
// Each entry is tested once. A bit is stored for each entry, and the number of set bits for each part of entries
// (rows.hpp). The result has the order of the entries, so the prefix sums of these numbers are the positions at which
// the results of each part begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <span>
#include <utility>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/device_array.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/tile.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "neighbours.hpp"
#include "rows.hpp"
#include "scratch.hpp"

namespace wyrm::graph {

namespace detail {

/// Rows for filters also have a test: passes(row, entry).
template <class Predicate>
struct filtered_rows : listed_rows {
  Predicate predicate;
  [[nodiscard]] WYRM_HD bool passes(row const& r, vertex_id entry) const { return predicate(r.source, entry); }
};

/// For each pair of vertices, the shorter row; entries that are also in the other row pass.
struct intersections {
  struct row {
    neighbour_list entries;
    neighbour_list other;
  };
  graph_view g;
  edge const* pairs;
  [[nodiscard]] WYRM_HD bool is_valid(std::size_t i) const {
    return pairs[i].source < g.vertices() && pairs[i].target < g.vertices();
  }
  [[nodiscard]] WYRM_HD row at(std::size_t i) const {
    neighbour_list const a = g.neighbours(pairs[i].source);
    neighbour_list const b = g.neighbours(pairs[i].target);
    return a.size <= b.size ? row{a, b} : row{b, a};
  }
  [[nodiscard]] WYRM_HD static bool passes(row const& r, vertex_id entry) { return contains(r.other, entry); }
};

/// Adds the number of passing entries to the count of each row. One tile per part. Lanes with entries of the same row
/// make one addition.
template <class Rows>
struct test_entries {
  static constexpr std::size_t grain = 8;
  numbered_rows<Rows> all;
  std::uint32_t* counts;    // of rows; 0 at the begin; nullptr: not counted
  std::uint32_t* marks;     // a bit for each entry; nullptr: not stored
  std::uint32_t* of_parts;  // the number of passing entries of each part; nullptr: not stored
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t part) const {
    row_cursor<Rows> cursor(all);
    std::uint64_t const end = all.end_of(part);
    std::uint32_t in_part = 0;
    for (std::uint64_t word = std::uint64_t{part} * all.part_size; word < end; word += 32) {
      std::uint32_t bits = 0;
      for (unsigned k = 0; k < 32; k += Tile::size()) {
        std::uint64_t const i = word + k + t.rank();
        bool passes = false;
        if (i < end) {
          cursor.seek(i);
          passes = all.rows.passes(cursor.row(), cursor.entry(i));
        }
        std::uint32_t const found = t.ballot(passes);
        bits |= found << k;
        if (counts == nullptr || found == 0) continue;
        std::uint32_t const here = found & exec::match(t, static_cast<std::uint32_t>(cursor.index()));
        if (passes && exec::first_lane(here) == t.rank())
          exec::atomic_ref<std::uint32_t>(counts[cursor.index()])
              .fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(here)), exec::relaxed);
      }
      in_part += static_cast<std::uint32_t>(cuda::std::popcount(bits));
      if (marks != nullptr && t.rank() == 0) marks[word / 32] = bits;
    }
    if (of_parts != nullptr && t.rank() == 0) of_parts[part] = in_part;
  }
};

struct write_entry {
  vertex_id* to;
  template <class Row>
  WYRM_HD void operator()(std::uint64_t number, Row const&, vertex_id entry) const {
    to[number] = entry;
  }
};

/// Calls write(number, row, entry) for the entries that test_entries has marked, numbered in their order. One tile per
/// part.
template <class Rows, class Write = write_entry>
struct copy_marked {
  static constexpr std::size_t grain = 8;
  numbered_rows<Rows> all;
  std::uint32_t const* marks;
  std::uint64_t const* before;  // the number of passing entries before each part
  Write write;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t part) const {
    row_cursor<Rows> cursor(all);
    std::uint64_t next = before[part];
    for (std::uint64_t word = std::uint64_t{part} * all.part_size; word < all.end_of(part); word += 32) {
      std::uint32_t const bits = marks[word / 32];
      for (unsigned bit = t.rank(); bit < 32; bit += Tile::size()) {
        if ((bits >> bit & 1) == 0) continue;
        cursor.seek(word + bit);
        std::uint64_t const number = next + static_cast<std::uint32_t>(cuda::std::popcount(bits & ((1u << bit) - 1)));
        write(number, cursor.row(), cursor.entry(word + bit));
      }
      next += static_cast<std::uint32_t>(cuda::std::popcount(bits));
    }
  }
};

/// Counts the passing entries of each row.
template <class Space, class Rows, class Entry>
void count_passing(query_scratch<Space>& scratch, char const* query, Rows const& rows, Entry const* entries,
                   std::size_t n, std::uint32_t* counts) {
  if (n == 0) return;
  Space const& space = scratch.space();
  typename Space::guard const current(space);
  scratch.offsets.reserve(n + 1);
  auto const all = number_entries(scratch, query, rows, entries, n, scratch.offsets.data());
  space.fill(counts, 0, n * sizeof(std::uint32_t));
  exec::for_each_tile<32>(space, all.parts(), test_entries<Rows>{all, counts, nullptr, nullptr});
}

/// The passing entries of each row.
template <class Space, class Rows, class Entry>
resident_lists<Space> list_passing(query_scratch<Space>& scratch, char const* query, Rows const& rows,
                                   Entry const* entries, std::size_t n) {
  Space const& space = scratch.space();
  typename Space::guard const current(space);
  resident_lists<Space> result{exec::device_array<std::uint64_t, Space>(space, n + 1),
                               exec::device_array<vertex_id, Space>(space)};
  scratch.offsets.reserve(n + 1);
  auto const all = number_entries(scratch, query, rows, entries, n, scratch.offsets.data());
  if (all.entries == 0) {
    space.fill(result.offsets.data(), 0, result.offsets.bytes());
    return result;
  }
  std::size_t const parts = all.parts();
  scratch.tables.reserve((all.entries + 31) / 32);
  scratch.parts.reserve(parts);
  scratch.part_offsets.reserve(parts + 1);
  std::uint32_t* const counts = scratch.lengths.data();
  space.fill(counts, 0, n * sizeof(std::uint32_t));
  exec::for_each_tile<32>(space, parts, test_entries<Rows>{all, counts, scratch.tables.data(), scratch.parts.data()});
  scratch.bulk.inclusive_sum(scratch.parts.data(), scratch.part_offsets.data(), parts);
  scratch.add_up(counts, n, result.offsets.data());
  result.targets = exec::device_array<vertex_id, Space>(space, scratch.wait(query, rows.g, entries).total);
  exec::for_each_tile<32>(
      space, parts,
      copy_marked<Rows>{all, scratch.tables.data(), scratch.part_offsets.data(), {result.targets.data()}});
  return result;
}

}  // namespace detail

/// For each vertex v, the number of neighbours w with predicate(v, w). The predicate is called once for each neighbour,
/// by one lane; it is trivially copyable, may run on the device, and is never a lambda under nvcc. O(1) calls per
/// neighbour. `counts` is in memory of the space. Scratch: 12 bytes per vertex.
template <class On, class Predicate>
void filtered_degrees(On&& on, graph_view const& g, resident_vertices vertices, Predicate const& predicate,
                      std::uint32_t* counts) {
  auto&& scratch = detail::scratch_for(on);
  detail::count_passing(scratch, "filtered_degrees", detail::filtered_rows<Predicate>{{g, vertices.data}, predicate},
                        vertices.data, vertices.size, counts);
}
template <class On, class Predicate>
[[nodiscard]] auto filtered_degrees(On&& on, graph_view const& g, resident_vertices vertices,
                                    Predicate const& predicate) {
  auto&& scratch = detail::scratch_for(on);
  exec::device_array<std::uint32_t, detail::space_of<On>> counts(scratch.space(), vertices.size);
  filtered_degrees(scratch, g, vertices, predicate, counts.data());
  return counts;
}
template <class On, class Predicate>
[[nodiscard]] std::vector<std::uint32_t> filtered_degrees(On&& on, graph_view const& g,
                                                          std::span<vertex_id const> vertices,
                                                          Predicate const& predicate) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), vertices);
  return filtered_degrees(scratch, g, resident_vertices(entries.data(), vertices.size()), predicate).to_host();
}

/// For each pair, the number of vertices that are neighbours of both; of directed graphs, out-neighbours. O(smaller
/// degree * log larger degree) per pair. `counts` is in memory of the space. Scratch: 12 bytes per pair.
template <class On>
void common_neighbours_count(On&& on, graph_view const& g, resident_edges pairs, std::uint32_t* counts) {
  auto&& scratch = detail::scratch_for(on);
  detail::count_passing(scratch, "common_neighbours_count", detail::intersections{g, pairs.data}, pairs.data,
                        pairs.size, counts);
}
template <class On>
[[nodiscard]] auto common_neighbours_count(On&& on, graph_view const& g, resident_edges pairs) {
  auto&& scratch = detail::scratch_for(on);
  exec::device_array<std::uint32_t, detail::space_of<On>> counts(scratch.space(), pairs.size);
  common_neighbours_count(scratch, g, pairs, counts.data());
  return counts;
}
template <class On>
[[nodiscard]] std::vector<std::uint32_t> common_neighbours_count(On&& on, graph_view const& g,
                                                                 std::span<edge const> pairs) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), pairs);
  return common_neighbours_count(scratch, g, resident_edges(entries.data(), pairs.size())).to_host();
}

/// For each pair, the vertices that are neighbours of both, ascending. Cost: as common_neighbours_count, and 1/8 byte
/// of scratch per entry of the shorter rows.
template <class On>
[[nodiscard]] auto common_neighbours(On&& on, graph_view const& g, resident_edges pairs) {
  auto&& scratch = detail::scratch_for(on);
  return detail::list_passing(scratch, "common_neighbours", detail::intersections{g, pairs.data}, pairs.data,
                              pairs.size);
}
template <class On>
[[nodiscard]] csr common_neighbours(On&& on, graph_view const& g, std::span<edge const> pairs) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), pairs);
  return common_neighbours(scratch, g, resident_edges(entries.data(), pairs.size())).to_host();
}

}  // namespace wyrm::graph
