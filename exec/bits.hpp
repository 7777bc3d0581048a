// SPDX-License-Identifier: Apache-2.0
// Selection of set bits of a word: fks, Algorithm 4 of "Dynamic Buffer Management in Massively Parallel Systems" (ACM
// TOPC 2025), a binary search over popcounts. It has log2(width of the word) steps.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "config.hpp"

namespace wyrm::exec {

/// The position of the k-th set bit. Positions and k count from 0; k < popcount(x).
WYRM_HD inline unsigned find_kth_set(std::uint32_t x, unsigned k) {
  unsigned position = 0;
  for (unsigned half = 16; half > 0; half /= 2) {
    auto const low = static_cast<unsigned>(cuda::std::popcount(x >> position & ((1u << half) - 1)));
    if (low <= k) {
      k -= low;
      position += half;
    }
  }
  return position;
}
WYRM_HD inline unsigned find_kth_set(std::uint64_t x, unsigned k) {
  auto const low = static_cast<unsigned>(cuda::std::popcount(static_cast<std::uint32_t>(x)));
  bool const upper = low <= k;
  return (upper ? 32 : 0) + find_kth_set(static_cast<std::uint32_t>(upper ? x >> 32 : x), upper ? k - low : k);
}

/// A mask of all bits up to this position, inclusive.
template <class Word>
[[nodiscard]] WYRM_HD Word bits_up_to(unsigned position) {
  return static_cast<Word>(~Word{0} >> (8 * sizeof(Word) - 1 - position));
}

/// The n lowest set bits of x, or all if it has fewer.
template <class Word>
[[nodiscard]] WYRM_HD Word lowest_set(Word x, unsigned n) {
  if (n >= static_cast<unsigned>(cuda::std::popcount(x))) return x;
  return n == 0 ? Word{0} : static_cast<Word>(x & bits_up_to<Word>(find_kth_set(x, n - 1)));
}

}  // namespace wyrm::exec
