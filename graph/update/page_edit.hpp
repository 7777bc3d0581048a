// SPDX-License-Identifier: Apache-2.0
// Changes of a page in place: by a tile, which reads a block of neighbours and writes it to another position of the
// page, or by one thread, which moves all neighbours between two changes at once.
#pragma once

#include <cstdint>
#include <cstring>

#include "../types.hpp"
#include "../view.hpp"

namespace wyrm::graph::detail {

/// Moves n neighbours; the ranges may overlap. Called by one thread.
WYRM_HD inline void move_run(vertex_id* to, vertex_id const* from, std::uint32_t n) {
  if (n > 0) memmove(to, from, n * sizeof(vertex_id));
}

/// Inserts n ascending values, none of which is in the page; the page must have room for them. `positions` are their
/// final positions. Each value of the page moves up by the number of added values below it. The tile proceeds from the
/// end: it reads a block, and then writes it at or above its old position; all values above have been moved already.
/// Collective. O(degree).
template <class Tile>
WYRM_HD void insert_in_place(Tile const& t, vertex_record const& r, vertex_id const* added,
                             std::uint32_t const* positions, std::uint32_t n) {
  if constexpr (Tile::size() == 1) {
    std::uint32_t end = r.degree;
    for (std::uint32_t k = n; k-- > 0;) {
      std::uint32_t const from = positions[k] - k;
      move_run(r.page + from + k + 1, r.page + from, end - from);
      r.page[positions[k]] = added[k];
      end = from;
    }
  } else {
    std::uint32_t const first = positions[0];  // values before this position do not move
    for (std::uint32_t end = r.degree; end > first;) {
      std::uint32_t const base = end - first > Tile::size() ? end - Tile::size() : first;
      std::uint32_t const i = base + t.rank();
      vertex_id const value = i < end ? r.page[i] : 0;
      std::uint32_t const shift = i < end ? lower_bound(added, n, value) : 0;
      t.sync();
      if (i < end) r.page[i + shift] = value;
      t.sync();
      end = base;
    }
    for (std::uint32_t i = t.rank(); i < n; i += Tile::size()) r.page[positions[i]] = added[i];
  }
}

/// Erases the values at n ascending positions. The tile proceeds from the front. Collective. O(degree).
template <class Tile>
WYRM_HD void erase_in_place(Tile const& t, vertex_record const& r, std::uint32_t const* removed, std::uint32_t n) {
  if constexpr (Tile::size() == 1) {
    for (std::uint32_t k = 0; k < n; ++k) {
      std::uint32_t const end = k + 1 < n ? removed[k + 1] : r.degree;
      move_run(r.page + removed[k] - k, r.page + removed[k] + 1, end - removed[k] - 1);
    }
  } else {
    for (std::uint32_t base = removed[0]; base < r.degree; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      vertex_id const value = i < r.degree ? r.page[i] : 0;
      std::uint32_t const below = i < r.degree ? lower_bound(removed, n, i) : n;
      bool const stays = i < r.degree && (below == n || removed[below] != i);
      t.sync();
      if (stays) r.page[i - below] = value;
      t.sync();
    }
  }
}

// The following functions are called by one lane, for short pages, which are read and written in blocks of 16 bytes.

struct alignas(16) page_block {
  static constexpr std::uint32_t size = 16 / sizeof(vertex_id);
  vertex_id value[size];
};
[[nodiscard]] WYRM_HD inline page_block* blocks_of(vertex_id* page) { return reinterpret_cast<page_block*>(page); }

/// Inserts `added` at `position`; the values from there on move up by one.
WYRM_HD inline void insert_per_thread(vertex_id* page, std::uint32_t degree, std::uint32_t position, vertex_id added) {
  for (std::uint32_t b = position / page_block::size; b <= degree / page_block::size; ++b) {
    page_block block = blocks_of(page)[b];
    for (std::uint32_t k = 0; k < page_block::size; ++k) {
      if (b * page_block::size + k < position) continue;
      vertex_id const there = block.value[k];
      block.value[k] = added;
      added = there;
    }
    blocks_of(page)[b] = block;
  }
}

/// Erases the value at `position`; the values after it move down by one.
WYRM_HD inline void erase_per_thread(vertex_id* page, std::uint32_t degree, std::uint32_t position) {
  page_block block = blocks_of(page)[position / page_block::size];
  for (std::uint32_t b = position / page_block::size; b * page_block::size < degree; ++b) {
    page_block const next = (b + 1) * page_block::size < degree ? blocks_of(page)[b + 1] : block;
    for (std::uint32_t k = 0; k < page_block::size; ++k) {
      if (b * page_block::size + k < position) continue;
      block.value[k] = k + 1 < page_block::size ? block.value[(k + 1) % page_block::size] : next.value[0];
    }
    blocks_of(page)[b] = block;
    block = next;
  }
}

WYRM_HD inline void copy_per_thread(vertex_id* from, vertex_id* to, std::uint32_t degree) {
  for (std::uint32_t b = 0; b * page_block::size < degree; ++b) blocks_of(to)[b] = blocks_of(from)[b];
}

}  // namespace wyrm::graph::detail
