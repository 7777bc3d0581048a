// SPDX-License-Identifier: Apache-2.0
// Copies rows of a CSR, or of a graph, to pages, in blocks of 16 bytes. Rows of a CSR are checked during the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <type_traits>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../batch/status.hpp"
#include "../update/page_edit.hpp"
#include "../view.hpp"

namespace wyrm::graph::detail {

/// The rows of a CSR, which must be checked.
struct csr_rows {
  std::uint64_t const* offsets;
  vertex_id const* targets;
  std::uint64_t arcs;
  static constexpr bool trusted = false;

  /// The range of row v in the targets, if its offsets are valid.
  struct extent {
    std::uint64_t begin;
    std::uint64_t end;
    [[nodiscard]] WYRM_HD std::uint32_t degree() const { return static_cast<std::uint32_t>(end - begin); }
  };
  [[nodiscard]] WYRM_HD extent extent_of(std::size_t v) const { return {offsets[v], offsets[v + 1]}; }
  /// Whether row v is within the targets and has at most as many entries as there are vertices; and whether the first
  /// row begins, and the last row ends, with the targets. Has no branches. If a row ends before it begins, its unsigned
  /// length is too large, or the previous row is malformed.
  [[nodiscard]] WYRM_HD bool is_row(extent const& its, std::size_t v, vertex_id vertices) const {
    bool const fits = (its.end <= arcs) & (its.end - its.begin <= vertices);
    return fits & ((v > 0) | (its.begin == 0)) & ((v + 1 < vertices) | (its.end == arcs));
  }
  [[nodiscard]] WYRM_HD vertex_id const* row(extent const& its) const { return targets + its.begin; }

  struct block {
    page_block entries;
    vertex_id before;  // the entry before the block, if there is one
  };
  /// Loads n entries (1 to 4) from `from` on.
  [[nodiscard]] WYRM_HD block load(vertex_id const* from, std::uint32_t n, bool has_before) const {
    block b{};
    if (has_before) b.before = from[-1];
    for (std::uint32_t k = 0; k < page_block::size; ++k)
      if (k < n) b.entries.value[k] = from[k];
    return b;
  }

  /// The same by two aligned loads of 16 bytes, which contain all five entries for any alignment of a row, and other
  /// entries around them. Requires is_inside(): the surrounding entries must also be targets.
  struct two_blocks {
    page_block low;
    page_block high;
  };
  [[nodiscard]] WYRM_HD bool is_inside(vertex_id const* row, std::uint32_t n) const {
    auto const begin = reinterpret_cast<std::uintptr_t>(targets) + sizeof(page_block);
    auto const end = reinterpret_cast<std::uintptr_t>(targets + arcs) - 2 * sizeof(page_block);
    return (reinterpret_cast<std::uintptr_t>(row) >= begin) & (reinterpret_cast<std::uintptr_t>(row + n) <= end);
  }
  [[nodiscard]] WYRM_HD static two_blocks load_around(vertex_id const* from) {
    auto const* const blocks = reinterpret_cast<page_block const*>(before(from) & ~(sizeof(page_block) - 1));
    return {blocks[0], blocks[1]};
  }
  [[nodiscard]] WYRM_HD static block pick(two_blocks const& all, vertex_id const* from) {
    auto const shift = static_cast<unsigned>(before(from) / sizeof(vertex_id));
    vertex_id by_two[6];
    for (unsigned k = 0; k < 6; ++k) by_two[k] = (shift & 2) != 0 ? at(all, k + 2) : at(all, k);
    block b;
    b.before = (shift & 1) != 0 ? by_two[1] : by_two[0];
    for (unsigned k = 0; k < page_block::size; ++k)
      b.entries.value[k] = (shift & 1) != 0 ? by_two[k + 2] : by_two[k + 1];
    return b;
  }

 private:
  WYRM_HD static std::uintptr_t before(vertex_id const* from) {
    return reinterpret_cast<std::uintptr_t>(from) - sizeof(vertex_id);
  }
  WYRM_HD static vertex_id at(two_blocks const& all, unsigned k) {
    return k < page_block::size ? all.low.value[k % page_block::size] : all.high.value[k % page_block::size];
  }
};

/// The rows of a graph.
struct table_rows {
  packed_record const* records;
  static constexpr bool trusted = true;

  struct extent {
    vertex_id const* begin;
    std::uint32_t size;
    [[nodiscard]] WYRM_HD std::uint32_t degree() const { return size; }
  };
  [[nodiscard]] WYRM_HD extent extent_of(std::size_t v) const { return {records[v].page(), records[v].degree}; }
  [[nodiscard]] WYRM_HD static bool is_row(extent const&, std::size_t, vertex_id) { return true; }
  [[nodiscard]] WYRM_HD static vertex_id const* row(extent const& its) { return its.begin; }

  struct block {
    page_block entries;
  };
  [[nodiscard]] WYRM_HD static block load(vertex_id const* from, std::uint32_t, bool) {
    return {*reinterpret_cast<page_block const*>(from)};
  }
};

/// Records malformed rows in the status: bit k of `rows` is row v + k; at least one bit is set. Called by one thread.
WYRM_HD inline void record_bad_rows(update_status& status, std::size_t v, std::uint32_t rows) {
  add(status.out_of_range, static_cast<unsigned>(cuda::std::popcount(rows)));
  exec::atomic_ref<std::uint64_t>(status.first_out_of_range).fetch_max(~(v + exec::first_lane(rows)), exec::relaxed);
}

/// Copies rows to pages, and records rows with invalid neighbours in the status (out_of_range).
template <class Rows>
struct row_copier {
  Rows rows;
  vertex_id vertices;
  bool self_loops_allowed;
  update_status* status;

  struct job {
    vertex_id const* row;
    vertex_id* page;
    std::uint32_t end;       // number of entries to copy
    std::uint32_t capacity;  // of the page
  };

  /// Copies the row of each lane, of vertex v + rank, except for hubs. All blocks of 16 bytes are distributed evenly to
  /// the lanes. Collective.
  template <class Tile>
  WYRM_HD void copy_rows(Tile const& t, vertex_id v, job const& mine) const {
    found all;
    if constexpr (Tile::size() == 1) {
      for (std::uint32_t i = 0; i < mine.end; i += page_block::size) {
        piece const p = piece_of(mine, i, 0);
        store(p, rows.load(p.from, p.n, !p.begins), v, all);
      }
    } else {
      if_inside(t, mine.row, mine.end, [&](auto inside) { copy_blocks<inside()>(t, v, mine, all); });
    }
    record(t, v, all);
  }
  /// Copies the entries of the row of v from `begin`, a multiple of 4, to the end of the job. Collective.
  template <class Tile>
  WYRM_HD void copy_part(Tile const& t, vertex_id v, job const& part, std::uint32_t begin) const {
    found all;
    if_inside(t, part.row + begin, part.end - begin,
              [&](auto inside) { copy_entries<inside()>(t, v, part, begin, all); });
    record(t, v, all);
  }

 private:
  static constexpr unsigned at_once = 2;  // number of blocks that a lane loads before it uses the first one

  // A block: up to four entries of a row.
  struct piece {
    std::uint32_t n = 0;
    bool begins = false;  // whether it is the first block of the row
    bool pads = false;    // whether a block of zeros follows, see copy_blocks()
    unsigned row = 0;     // the lane of the row
    vertex_id const* from = nullptr;
    vertex_id* to = nullptr;
  };
  // The block from entry i on, of row k.
  WYRM_HD static piece piece_of(job const& j, std::uint32_t i, unsigned k) {
    if (i >= j.end) return {};
    std::uint32_t const left = j.end - i;
    return {left < page_block::size ? left : page_block::size, i == 0, false, k, j.row + i, j.page + i};
  }
  struct found {
    std::uint32_t bad_rows = 0;  // bit k: row k is invalid
    std::uint32_t self_loops = 0;
  };

  // Calls f(true_type) if all lanes may load their rows with surrounding entries, else f(false_type). Collective.
  template <class Tile, class F>
  WYRM_HD void if_inside(Tile const& t, vertex_id const* row, std::uint32_t n, F const& f) const {
    if constexpr (!Rows::trusted && Tile::size() > 1)
      if (t.all(n == 0 || rows.is_inside(row, n))) return f(std::true_type{});
    f(std::false_type{});
  }

  template <bool Inside, class Tile>
  WYRM_HD void copy_blocks(Tile const& t, vertex_id v, job const& mine, found& all) const {
    constexpr unsigned width = Tile::size();
    // A row without entries has one empty block, so that the k-th row that begins is the row of lane k.
    std::uint32_t const blocks = mine.end > 0 ? (mine.end + page_block::size - 1) / page_block::size : 1;
    std::uint32_t const begin = exec::sum_below(t, blocks);
    std::uint32_t const end = t.shfl(begin + blocks, width - 1);
    // A device reads a sector of 32 bytes before it writes a part of it. If a row ends in the middle of a sector, and
    // its page does not, a block of zeros fills the sector.
    std::uint32_t const filled = (mine.end + page_block::size - 1) / page_block::size * page_block::size;
    bool const pads = mine.end > 0 && filled + page_block::size <= mine.capacity &&
                      (reinterpret_cast<std::uintptr_t>(mine.page) + filled * sizeof(vertex_id)) % 32 != 0;
    // The addresses at which each row would begin if its first block were block 0 of the tile; and twice the number of
    // entries up to its end, plus 1 if it is padded.
    std::uintptr_t const from = reinterpret_cast<std::uintptr_t>(mine.row) - begin * sizeof(page_block);
    std::uintptr_t const to = reinterpret_cast<std::uintptr_t>(mine.page) - begin * sizeof(page_block);
    auto const last = static_cast<std::int32_t>((begin * page_block::size + mine.end) * 2 + pads);
    std::uint32_t begun = 0;  // number of rows that have begun
    for (std::uint32_t base = 0; base < end; base += at_once * width) {
      piece pieces[at_once];
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const first = base + k * width;
        std::uint32_t const at = first + t.rank();
        std::uint32_t const starts = exec::any_bits(t, begin - first < width ? 1u << (begin - first) : 0);
        bool const begins = (starts >> t.rank() & 1) != 0;
        unsigned const lane = begun + exec::rank_in(t, starts) + begins - 1;
        begun += static_cast<std::uint32_t>(cuda::std::popcount(starts));
        std::int32_t const its_last = t.shfl(last, lane);
        std::int32_t const left = (its_last >> 1) - static_cast<std::int32_t>(at * page_block::size);
        bool const ends = left <= static_cast<std::int32_t>(page_block::size);
        std::size_t const ahead = at * sizeof(page_block);
        pieces[k].n = ends ? static_cast<std::uint32_t>(left < 0 ? 0 : left) : page_block::size;
        pieces[k].begins = begins;
        pieces[k].pads = ends && (its_last & 1) != 0;
        pieces[k].row = lane;
        pieces[k].from = reinterpret_cast<vertex_id const*>(t.shfl(from, lane) + ahead);
        pieces[k].to = reinterpret_cast<vertex_id*>(t.shfl(to, lane) + ahead);
      }
      copy<Inside>(pieces, v, all);
    }
  }
  template <bool Inside, class Tile>
  WYRM_HD void copy_entries(Tile const& t, vertex_id v, job const& part, std::uint32_t begin, found& all) const {
    constexpr std::uint32_t step = Tile::size() * page_block::size;
    for (std::uint32_t i = begin + page_block::size * t.rank(); i < part.end; i += at_once * step) {
      piece pieces[at_once];
      for (unsigned k = 0; k < at_once; ++k) pieces[k] = piece_of(part, i + k * step, 0);
      copy<Inside>(pieces, v, all);
    }
  }

  // Issues the loads of all blocks before it uses the first one.
  template <bool Inside>
  WYRM_HD void copy(piece const (&pieces)[at_once], vertex_id v, found& all) const {
    if constexpr (Inside) {
      typename Rows::two_blocks there[at_once];
      for (unsigned k = 0; k < at_once; ++k)
        if (pieces[k].n > 0) there[k] = rows.load_around(pieces[k].from);
      for (unsigned k = 0; k < at_once; ++k)
        if (pieces[k].n > 0) store(pieces[k], rows.pick(there[k], pieces[k].from), v, all);
    } else {
      typename Rows::block there[at_once]{};
      for (unsigned k = 0; k < at_once; ++k)
        if (pieces[k].n > 0) there[k] = rows.load(pieces[k].from, pieces[k].n, !pieces[k].begins);
      for (unsigned k = 0; k < at_once; ++k)
        if (pieces[k].n > 0) store(pieces[k], there[k], v, all);
    }
  }
  // Stores a block. Checks that targets ascend and that the last one is in range; then all targets are in range.
  WYRM_HD void store(piece const& p, typename Rows::block const& b, vertex_id v, found& all) const {
    *blocks_of(p.to) = b.entries;
    if (p.pads) blocks_of(p.to)[1] = page_block{};
    if constexpr (!Rows::trusted) {
      vertex_id const own = v + p.row;
      vertex_id last = b.entries.value[0];
      bool is_bad = !p.begins && b.before >= last;
      bool has_loop = last == own;
      for (std::uint32_t k = 1; k < page_block::size; ++k) {
        vertex_id const target = b.entries.value[k];
        bool const is_there = k < p.n;
        is_bad |= is_there && last >= target;
        has_loop |= is_there && target == own;
        if (is_there) last = target;
      }
      is_bad |= last >= vertices || (has_loop && !self_loops_allowed);
      if (is_bad) all.bad_rows |= 1u << p.row;
      all.self_loops += has_loop;  // at most one, unless the row is invalid
    }
  }
  // Adds the findings of all lanes to the status. Collective.
  template <class Tile>
  WYRM_HD void record(Tile const& t, vertex_id v, found const& all) const {
    if constexpr (Rows::trusted) return;
    if (!t.any((all.bad_rows | all.self_loops) != 0)) return;
    std::uint32_t const loops = exec::sum(t, all.self_loops);
    std::uint32_t const bad = exec::any_bits(t, all.bad_rows);
    if (t.rank() != 0) return;
    if (loops > 0) add(status->mine(t).self_loops, loops);
    if (bad != 0) record_bad_rows(*status, v, bad);
  }
};

}  // namespace wyrm::graph::detail
