// SPDX-License-Identifier: Apache-2.0
// Matrix product ("GEM"): C = A X, where A is tall and X has 16 columns. Access: streaming; each word of A and C is
// used once, and X stays in the caches.
#pragma once

#include "pattern.hpp"

namespace wyrm::bench {

struct matrix_product {
  static constexpr char const* name = "matrix_product";
  static constexpr char const* access = "streaming";
  static constexpr unsigned arrays = 2;  // A: rows of `inner` words; C: rows of `columns` words
  static constexpr unsigned result = 1;
  static constexpr unsigned inner = 48;
  static constexpr unsigned columns = 16;
  static_assert(inner * columns <= 2 * scratch_words);
  WYRM_HD static constexpr unsigned share(unsigned a) { return a == 0 ? 48 : 16; }

  extent size;

  [[nodiscard]] WYRM_HD std::uint64_t rows_per_thread() const { return size.words / (inner + columns); }
  [[nodiscard]] WYRM_HD word initial(unsigned array, std::uint64_t i) const { return array == 0 ? drawn(0, i) : 0; }
  /// The word of X in row k and column j.
  [[nodiscard]] WYRM_HD word factor(std::uint64_t k, unsigned j) const { return drawn(1, k * columns + j); }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
/// Thread k writes row k of X.
template <class Array>
struct write_factor {
  matrix_product p;
  pattern_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t k) const {
    for (unsigned j = 0; j < p.columns; ++j) m.table()[k * p.columns + j] = p.factor(k, j);
  }
};
/// Thread t computes its own rows of C, one after the other.
template <class Array>
struct multiply_rows {
  matrix_product p;
  pattern_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t t) const {
    word const* const x = m.table();
    std::uint64_t const own = p.rows_per_thread();
    for (std::uint64_t row = t * own; row < (t + 1) * own; ++row) {
      word sums[matrix_product::columns] = {};
      for (unsigned k = 0; k < p.inner; ++k) {
        word const a = m.arrays[0][row * p.inner + k];
        for (unsigned j = 0; j < p.columns; ++j) sums[j] += a * x[k * p.columns + j];
      }
      for (unsigned j = 0; j < p.columns; ++j) m.arrays[1][row * p.columns + j] = sums[j];
    }
  }
};
}  // namespace detail

template <class Space, class Array>
void matrix_product::run(Space const& space, pattern_memory<Array> const& m) const {
  for_each_thread(space, inner, detail::write_factor<Array>{*this, m});
  for_each_thread(space, size.threads, detail::multiply_rows<Array>{*this, m});
}

}  // namespace wyrm::bench
