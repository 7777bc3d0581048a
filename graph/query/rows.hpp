// SPDX-License-Identifier: Apache-2.0
// The rows that a query reads, and the even distribution of their entries: the entries of all rows are numbered
// consecutively, and each tile processes a part of fixed length, which may begin and end in any row. So many tiles
// process a hub, and one tile processes many short rows. A lane finds the row of its first entry by a binary search in
// the offsets, and the rows of later entries by a search from there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/config.hpp"
#include "../../exec/launch.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "scratch.hpp"

namespace wyrm::graph::detail {

/// The neighbours of listed vertices. Each kind of rows has:
///   is_valid(i)   whether entry i of the query has ids of the graph
///   at(i)         row i for a valid entry: a `row` with `entries`, which are ids or other entries
struct listed_rows {
  struct row {
    neighbour_list entries;
    vertex_id source;
  };
  graph_view g;
  vertex_id const* vertices;
  [[nodiscard]] WYRM_HD bool is_valid(std::size_t i) const { return vertices[i] < g.vertices(); }
  [[nodiscard]] WYRM_HD row at(std::size_t i) const {
    vertex_id const v = vertices[i];
    return {g.neighbours(v), v};
  }
};

/// The neighbours of all vertices.
struct all_rows {
  using row = listed_rows::row;
  graph_view g;
  [[nodiscard]] WYRM_HD bool is_valid(std::size_t) const { return true; }
  [[nodiscard]] WYRM_HD row at(std::size_t i) const {
    auto const v = static_cast<vertex_id>(i);
    return {g.neighbours(v), v};
  }
};

/// Writes the lengths of rows, and refuses entries that are not valid. One thread per row.
template <class Rows>
struct measure_rows {
  Rows rows;
  std::uint32_t* lengths;
  query_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    bool const valid = rows.is_valid(i);
    if (!valid) status->refuse(i);
    lengths[i] = valid ? rows.at(i).entries.size : 0;
  }
};

/// Rows with their offsets, for kernels.
template <class Rows>
struct numbered_rows {
  static constexpr std::uint32_t part_size = 512;  // entries
  Rows rows;
  std::uint64_t const* offsets;  // size + 1; the last one is the number of entries
  std::size_t size;
  std::uint64_t entries;

  [[nodiscard]] WYRM_HD std::uint64_t parts() const { return (entries + part_size - 1) / part_size; }
  [[nodiscard]] WYRM_HD std::uint64_t end_of(std::uint64_t part) const {
    return (part + 1) * part_size < entries ? (part + 1) * part_size : entries;
  }
};

/// Finds the row of an entry. Each lane has its own cursor, and moves it to entries in ascending order.
template <class Rows>
class row_cursor {
 public:
  WYRM_HD explicit row_cursor(numbered_rows<Rows> const& all) : all_(all) {}

  /// Moves to the row of the entry with this number.
  WYRM_HD void seek(std::uint64_t entry) {
    if (entry < end_) return;
    std::size_t count = all_.size;  // the row is one of `count` rows from `index_` on
    if (end_ > 0) {
      ++index_;
      for (count = 1; index_ + count < all_.size && all_.offsets[index_ + count] <= entry; count *= 2) index_ += count;
      if (count > all_.size - index_) count = all_.size - index_;
    }
    while (count > 1) {
      std::size_t const half = count / 2;
      if (all_.offsets[index_ + half] <= entry) index_ += half;
      count -= half;
    }
    begin_ = all_.offsets[index_];
    end_ = all_.offsets[index_ + 1];
    row_ = all_.rows.at(index_);
  }
  [[nodiscard]] WYRM_HD std::size_t index() const { return index_; }
  [[nodiscard]] WYRM_HD typename Rows::row const& row() const { return row_; }
  [[nodiscard]] WYRM_HD auto entry(std::uint64_t number) const {
    return row_.entries[static_cast<std::uint32_t>(number - begin_)];
  }

 private:
  numbered_rows<Rows> const& all_;
  std::size_t index_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;  // 0: no row yet
  typename Rows::row row_{};
};

/// Calls visit(row, number, entry) for each entry, by one lane. One tile per part.
template <class Rows, class Visit>
struct visit_entries {
  static constexpr std::size_t grain = 8;
  numbered_rows<Rows> all;
  Visit visit;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t part) const {
    row_cursor<Rows> cursor(all);
    for (std::uint64_t i = std::uint64_t{part} * all.part_size + t.rank(); i < all.end_of(part); i += Tile::size()) {
      cursor.seek(i);
      visit(cursor.row(), i, cursor.entry(i));
    }
  }
};

template <class Space, class Rows, class Visit>
void for_each_entry(Space const& space, numbered_rows<Rows> const& all, Visit const& visit) {
  exec::for_each_tile<32>(space, all.parts(), visit_entries<Rows, Visit>{all, visit});
}

/// Numbers the entries of n rows; writes n + 1 offsets. Waits for their number. Throws error(bad_argument) for an entry
/// of the query that is not valid.
template <class Space, class Rows, class Entry>
numbered_rows<Rows> number_entries(query_scratch<Space>& scratch, char const* query, Rows const& rows,
                                   Entry const* entries, std::size_t n, std::uint64_t* offsets) {
  if (n == 0) {
    exec::write(scratch.space(), offsets, std::uint64_t{0});
    return {rows, offsets, 0, 0};
  }
  scratch.lengths.reserve(n);
  query_status* const status = scratch.begin();
  exec::for_each(scratch.space(), n, measure_rows<Rows>{rows, scratch.lengths.data(), status});
  scratch.add_up(scratch.lengths.data(), n, offsets);
  return {rows, offsets, n, scratch.wait(query, rows.g, entries).total};
}

/// Numbers the entries of the rows of all vertices; the graph has at least one. Does not wait for the device.
template <class Space, class Rows>
numbered_rows<Rows> number_all_entries(query_scratch<Space>& scratch, Rows const& rows) {
  std::size_t const n = rows.g.vertices();
  scratch.lengths.reserve(n);
  scratch.offsets.reserve(n + 1);
  exec::for_each(scratch.space(), n, measure_rows<Rows>{rows, scratch.lengths.data(), nullptr});
  scratch.bulk.inclusive_sum(scratch.lengths.data(), scratch.offsets.data(), n);
  return {rows, scratch.offsets.data(), n, rows.g.arcs()};
}

}  // namespace wyrm::graph::detail
