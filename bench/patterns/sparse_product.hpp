// SPDX-License-Identifier: Apache-2.0
// Sparse matrix-vector product ("SPV"), repeated: y = A x, then x = A y, and so on. A is square and random, with 7
// entries per row (ELLPACK: columns and values in arrays of their own). Access: repetitive and thrashing; each product
// streams through A, and reads the vector at random places.
#pragma once

#include "pattern.hpp"

namespace wyrm::bench {

struct sparse_product {
  static constexpr char const* name = "sparse_product";
  static constexpr char const* access = "repetitive-thrashing";
  static constexpr unsigned arrays = 4;  // columns, values, x, y
  static constexpr unsigned products = 3;
  static constexpr unsigned result = 2 + products % 2;
  static constexpr unsigned entries = 7;  // per row
  WYRM_HD static constexpr unsigned share(unsigned a) { return a < 2 ? 28 : 4; }

  extent size;

  [[nodiscard]] WYRM_HD std::uint64_t rows_per_thread() const { return size.words / (2 * entries + 2); }
  [[nodiscard]] WYRM_HD word initial(unsigned array, std::uint64_t i) const {
    if (array == 0) return static_cast<word>(drawn_below(rows_per_thread() * size.threads, 0, i));
    return array == 3 ? 0 : drawn(array, i);
  }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
/// Thread t computes its own rows of the product.
template <class Array>
struct multiply_sparse_rows {
  sparse_product p;
  pattern_memory<Array> m;
  unsigned from;  // the vector that is read, 2 or 3; the other one is written
  WYRM_HD void operator()(std::uint64_t t) const {
    std::uint64_t const own = p.rows_per_thread();
    for (std::uint64_t row = t * own; row < (t + 1) * own; ++row) {
      word sum = 0;
      for (std::uint64_t i = row * p.entries; i < (row + 1) * p.entries; ++i)
        sum += m.arrays[1][i] * m.arrays[from][m.arrays[0][i]];
      m.arrays[5 - from][row] = sum;
    }
  }
};
}  // namespace detail

template <class Space, class Array>
void sparse_product::run(Space const& space, pattern_memory<Array> const& m) const {
  for (unsigned i = 0; i < products; ++i)
    for_each_thread(space, size.threads, detail::multiply_sparse_rows<Array>{*this, m, 2 + i % 2});
}

}  // namespace wyrm::bench
