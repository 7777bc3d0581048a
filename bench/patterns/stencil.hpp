// SPDX-License-Identifier: Apache-2.0
// Stencil ("STN"): sweeps over a grid, in which each cell becomes the sum of itself and its four neighbours. Edges wrap
// around. Access: thrashing; each sweep streams through both grids, so memory that is smaller than the grids has lost
// the first page when the next sweep needs it. At the ends of its part, a thread reads rows of two other threads.
#pragma once

#include "pattern.hpp"

namespace wyrm::bench {

struct stencil {
  static constexpr char const* name = "stencil";
  static constexpr char const* access = "thrashing";
  static constexpr unsigned arrays = 2;  // two grids with rows of `width` words
  static constexpr unsigned sweeps = 4;
  static constexpr unsigned result = sweeps % 2;
  static constexpr std::uint64_t width = 1024;
  WYRM_HD static constexpr unsigned share(unsigned) { return 32; }

  extent size;

  [[nodiscard]] WYRM_HD std::uint64_t rows_per_thread() const { return size.words / 2 / width; }
  [[nodiscard]] WYRM_HD word initial(unsigned array, std::uint64_t i) const { return array == 0 ? drawn(0, i) : 0; }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
/// Thread t computes its own rows.
template <class Array>
struct sweep_rows {
  stencil p;
  pattern_memory<Array> m;
  unsigned from;  // the grid that is read; the other one is written
  WYRM_HD void operator()(std::uint64_t t) const {
    Array const in = m.arrays[from];
    Array const out = m.arrays[1 - from];
    std::uint64_t const own = p.rows_per_thread();
    std::uint64_t const height = own * p.size.threads;
    for (std::uint64_t y = t * own; y < (t + 1) * own; ++y) {
      std::uint64_t const row = y * p.width;
      std::uint64_t const above = ((y == 0 ? height : y) - 1) * p.width;
      std::uint64_t const below = (y + 1 == height ? 0 : y + 1) * p.width;
      word const first = in[row];
      word left = in[row + p.width - 1];
      word here = first;
      for (std::uint64_t x = 0; x < p.width; ++x) {
        word const right = x + 1 == p.width ? first : in[row + x + 1];
        out[row + x] = left + here + right + in[above + x] + in[below + x];
        left = here;
        here = right;
      }
    }
  }
};
}  // namespace detail

template <class Space, class Array>
void stencil::run(Space const& space, pattern_memory<Array> const& m) const {
  for (unsigned s = 0; s < sweeps; ++s)
    for_each_thread(space, size.threads, detail::sweep_rows<Array>{*this, m, s % 2});
}

}  // namespace wyrm::bench
