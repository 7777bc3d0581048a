// SPDX-License-Identifier: Apache-2.0
// Changes of a page in place. A tile, or a block of threads (exec::for_each_block; called a tile here, too), reads a
// block of entries, and writes it to another position of the page. One thread moves all entries between two changes at
// once.
#pragma once

#include <cstdint>
#include <cuda/std/cstring>

#include "../types.hpp"
#include "../view.hpp"
#include "values.hpp"

namespace wyrm::graph::detail {

/// Moves n entries; the ranges may overlap. Called by one thread.
template <class T>
WYRM_HD void move_run(T* to, T const* from, std::uint32_t n) {
  if (n > 0) cuda::std::memmove(to, from, n * sizeof(T));
}

/// Two arrays of a page that change together: its ids, and their values (Width > 0).
template <unsigned Width>
struct page_arrays {
  vertex_id* ids;
  value_word<Width>* values;

  page_arrays() = default;
  WYRM_HD page_arrays(vertex_id* page, std::uint32_t capacity) : ids(page), values(values_of<Width>(page, capacity)) {}
  WYRM_HD void move(std::uint32_t to, std::uint32_t from, std::uint32_t n) const {
    move_run(ids + to, ids + from, n);
    if constexpr (Width > 0) move_run(values + to, values + from, n);
  }
};
/// The same for entries that are added to a page, or read.
template <unsigned Width>
struct const_arrays {
  vertex_id const* ids;
  value_word<Width> const* values;
};

/// Adjacent entries of a page, which a tile holds while it writes them to other positions.
template <class Tile, unsigned Width, std::uint32_t PerLane>
class entry_block {
 public:
  static constexpr std::uint32_t size = PerLane * Tile::size();
  static constexpr std::uint32_t nowhere = 0xffffffff;

  /// Reads the entries from `begin` to `end`, at most `size`. to(i, id): the position to which the entry at position i
  /// moves, or `nowhere`. Called by all lanes, which must synchronise before write().
  template <class F>
  WYRM_HD entry_block(Tile const& t, page_arrays<Width> const& page, std::uint32_t begin, std::uint32_t end,
                      F const& to) {
    for (std::uint32_t k = 0; k < PerLane; ++k) {
      std::uint32_t const i = begin + k * Tile::size() + t.rank();
      ids_[k] = i < end ? page.ids[i] : 0;
      if constexpr (Width > 0)
        if (i < end) values_[k] = page.values[i];
    }
    for (std::uint32_t k = 0; k < PerLane; ++k) {
      std::uint32_t const i = begin + k * Tile::size() + t.rank();
      to_[k] = i < end ? to(i, ids_[k]) : nowhere;
    }
  }
  /// Writes the entries. The lanes must synchronise before the next block is read.
  WYRM_HD void write(page_arrays<Width> const& page) const {
    for (std::uint32_t k = 0; k < PerLane; ++k) {
      if (to_[k] == nowhere) continue;
      page.ids[to_[k]] = ids_[k];
      if constexpr (Width > 0) page.values[to_[k]] = values_[k];
    }
  }

 private:
  vertex_id ids_[PerLane];
  std::uint32_t to_[PerLane];
  value_word<Width> values_[PerLane];
};

/// Inserts n entries with ascending ids, none of which is among the `degree` entries of the page; the page must have
/// room for them. `positions` are their final positions. Each entry of the page moves up by the number of added ids
/// below its own. The tile proceeds from the end: it reads a block, and then writes it at or above its old position;
/// all entries above have been moved already. Each lane has PerLane entries of a block, whose loads overlap.
/// Collective. O(degree).
template <class Tile, unsigned Width, std::uint32_t PerLane = 1>
WYRM_HD void insert_in_place(Tile const& t, page_arrays<Width> const& page, std::uint32_t degree,
                             const_arrays<Width> const& added, std::uint32_t const* positions, std::uint32_t n) {
  if constexpr (Tile::size() == 1) {
    std::uint32_t end = degree;
    for (std::uint32_t k = n; k-- > 0;) {
      std::uint32_t const from = positions[k] - k;
      page.move(from + k + 1, from, end - from);
      page.ids[positions[k]] = added.ids[k];
      if constexpr (Width > 0) page.values[positions[k]] = added.values[k];
      end = from;
    }
  } else {
    using block_of_tile = entry_block<Tile, Width, PerLane>;
    std::uint32_t const first = positions[0];  // entries before this position do not move
    for (std::uint32_t end = degree; end > first;) {
      std::uint32_t const base = end - first > block_of_tile::size ? end - block_of_tile::size : first;
      block_of_tile const block(t, page, base, end,
                                [&](std::uint32_t i, vertex_id id) { return i + lower_bound(added.ids, n, id); });
      t.sync();
      block.write(page);
      t.sync();
      end = base;
    }
    for (std::uint32_t i = t.rank(); i < n; i += Tile::size()) {
      page.ids[positions[i]] = added.ids[i];
      if constexpr (Width > 0) page.values[positions[i]] = added.values[i];
    }
  }
}

/// Erases the entries at n ascending positions, of `degree`. The tile proceeds from the front. Collective. O(degree).
template <class Tile, unsigned Width, std::uint32_t PerLane = 1>
WYRM_HD void erase_in_place(Tile const& t, page_arrays<Width> const& page, std::uint32_t degree,
                            std::uint32_t const* removed, std::uint32_t n) {
  if constexpr (Tile::size() == 1) {
    for (std::uint32_t k = 0; k < n; ++k) {
      std::uint32_t const end = k + 1 < n ? removed[k + 1] : degree;
      page.move(removed[k] - k, removed[k] + 1, end - removed[k] - 1);
    }
  } else {
    using block_of_tile = entry_block<Tile, Width, PerLane>;
    for (std::uint32_t base = removed[0]; base < degree;) {
      std::uint32_t const end = degree - base > block_of_tile::size ? base + block_of_tile::size : degree;
      block_of_tile const block(t, page, base, end, [&](std::uint32_t i, vertex_id) {
        std::uint32_t const below = lower_bound(removed, n, i);
        return below < n && removed[below] == i ? block_of_tile::nowhere : i - below;
      });
      t.sync();
      block.write(page);
      t.sync();
      base = end;
    }
  }
}

// The following functions are called by one lane, for short pages, which are read and written in blocks of 16 bytes. An
// entry is an id or a value.

template <class T>
struct alignas(16) block_of {
  static constexpr std::uint32_t size = 16 / sizeof(T);
  T value[size];
};
using page_block = block_of<vertex_id>;
template <class T>
[[nodiscard]] WYRM_HD block_of<T>* blocks_of(T* page) {
  return reinterpret_cast<block_of<T>*>(page);
}

/// Inserts `added` at `position`; the entries from there on move up by one.
template <class T>
WYRM_HD void insert_per_thread(T* page, std::uint32_t degree, std::uint32_t position, T added) {
  constexpr std::uint32_t size = block_of<T>::size;
  for (std::uint32_t b = position / size; b <= degree / size; ++b) {
    block_of<T> block = blocks_of(page)[b];
    for (std::uint32_t k = 0; k < size; ++k) {
      if (b * size + k < position) continue;
      T const there = block.value[k];
      block.value[k] = added;
      added = there;
    }
    blocks_of(page)[b] = block;
  }
}

/// Writes the `degree` entries of `from` except the one at `position` to `to`. Both may be the same page: then the
/// entries before `position` stay, and those after it move down by one.
template <class T>
WYRM_HD void copy_all_but_one_per_thread(T const* from, T* to, std::uint32_t degree, std::uint32_t position) {
  constexpr std::uint32_t size = block_of<T>::size;
  auto const* const blocks = reinterpret_cast<block_of<T> const*>(from);
  if (from != to)
    for (std::uint32_t b = 0; b < position / size; ++b) blocks_of(to)[b] = blocks[b];
  block_of<T> block = blocks[position / size];
  for (std::uint32_t b = position / size; b * size < degree; ++b) {
    block_of<T> const next = (b + 1) * size < degree ? blocks[b + 1] : block;
    for (std::uint32_t k = 0; k < size; ++k) {
      if (b * size + k < position) continue;
      block.value[k] = k + 1 < size ? block.value[(k + 1) % size] : next.value[0];
    }
    blocks_of(to)[b] = block;
    block = next;
  }
}
/// Erases the entry at `position`; the entries after it move down by one.
template <class T>
WYRM_HD void erase_per_thread(T* page, std::uint32_t degree, std::uint32_t position) {
  copy_all_but_one_per_thread<T>(page, page, degree, position);
}

template <class T>
WYRM_HD void copy_per_thread(T const* from, T* to, std::uint32_t degree) {
  constexpr std::uint32_t size = block_of<T>::size;
  for (std::uint32_t b = 0; b * size < degree; ++b) blocks_of(to)[b] = reinterpret_cast<block_of<T> const*>(from)[b];
}

/// Copies the entries except those at n >= 1 ascending positions to a page with room for `capacity` entries.
template <class T>
WYRM_HD void copy_others_per_thread(T const* from, T* to, std::uint32_t capacity, std::uint32_t degree,
                                    std::uint32_t const* removed, std::uint32_t n) {
  if (degree <= capacity) {
    copy_all_but_one_per_thread(from, to, degree, removed[n - 1]);
    for (std::uint32_t k = n - 1; k-- > 0;) erase_per_thread(to, --degree, removed[k]);
    return;
  }
  for (std::uint32_t i = 0, k = 0; i < degree; ++i) {
    if (k < n && removed[k] == i)
      ++k;
    else
      to[i - k] = from[i];
  }
}

}  // namespace wyrm::graph::detail
