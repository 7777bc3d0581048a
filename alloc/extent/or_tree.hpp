// SPDX-License-Identifier: Apache-2.0
// A bitmap of free units under an OR-tree (AlignMalloc, TPDS 2025, section V-B): a bit of an inner node is the logical
// OR of the node below it, so that the first free unit is found in one descent. Departure: the nodes have 64 children
// instead of two, one machine word each, so that 2^27 units take five levels. Not thread-safe: its user holds a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"

namespace wyrm::alloc {

class or_tree {
 public:
  static constexpr unsigned levels = 5;
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t max_units = std::size_t{1} << 27;

  /// How many words hold a tree over so many units (at most max_units).
  static constexpr std::size_t words(std::size_t units) {
    std::size_t total = 0;
    for (unsigned l = 0; l < levels; ++l) {
      units = (units + 63) / 64;
      total += units;
    }
    return total;
  }

  /// Over `words(units)` words, all zero: nothing is free.
  or_tree(std::uint64_t* memory, std::uint32_t units) : units_(units) {
    for (unsigned l = 0; l < levels; ++l) {
      nodes_[l] = memory;
      memory += (std::size_t{units} + 63) / 64;
      units = (units + 63) / 64;
    }
  }

  [[nodiscard]] WYRM_HD std::uint32_t units() const { return units_; }
  /// Whether anything is free; may be asked without the lock.
  [[nodiscard]] WYRM_HD bool empty() const {
    return exec::atomic_ref<std::uint64_t>(*nodes_[levels - 1]).load(exec::acquire) == 0;
  }

  /// The first free unit at or after `from`, or none.
  [[nodiscard]] WYRM_HD std::uint32_t next_free(std::uint32_t from) const {
    // Up, until a node has a set bit at or behind the place where we stand; then down along the first set bits.
    for (unsigned l = 0; l < levels; ++l) {
      if ((from >> 6) >= size(l)) return none;
      std::uint64_t const word = nodes_[l][from >> 6] & (~std::uint64_t{0} << (from & 63));
      if (word != 0) {
        std::uint32_t at = (from & ~63u) + static_cast<std::uint32_t>(cuda::std::countr_zero(word));
        for (; l > 0; --l) at = at * 64 + static_cast<std::uint32_t>(cuda::std::countr_zero(nodes_[l - 1][at]));
        return at;
      }
      from = (from >> 6) + 1;
    }
    return none;
  }

  /// The first unit that is not free at or after `from`, but at most `limit`.
  [[nodiscard]] WYRM_HD std::uint32_t next_used(std::uint32_t from, std::uint32_t limit) const {
    constexpr unsigned at_once = 8;  // loads that do not wait for each other
    while (from < limit) {
      std::uint64_t used[at_once];
      for (unsigned i = 0; i < at_once; ++i) used[i] = (from >> 6) + i < size(0) ? ~nodes_[0][(from >> 6) + i] : 0;
      used[0] &= ~std::uint64_t{0} << (from & 63);
      for (unsigned i = 0; i < at_once; ++i) {
        if (used[i] == 0) continue;
        std::uint32_t const at = ((from >> 6) + i) * 64 + static_cast<std::uint32_t>(cuda::std::countr_zero(used[i]));
        return at < limit ? at : limit;
      }
      from = ((from >> 6) + at_once) * 64;
    }
    return limit;
  }

  /// The lowest run of `count` free units, or none. O(free runs before it).
  [[nodiscard]] WYRM_HD std::uint32_t find(std::uint32_t count) const {
    for (std::uint32_t at = next_free(0); at != none && count <= units_ - at;) {
      std::uint32_t const end = next_used(at, at + count);
      if (end == at + count) return at;
      at = next_free(end);
    }
    return none;
  }

  WYRM_HD void set_free(std::uint32_t first, std::uint32_t count) const { change<true>(first, count); }
  WYRM_HD void set_used(std::uint32_t first, std::uint32_t count) const { change<false>(first, count); }

 private:
  [[nodiscard]] WYRM_HD std::uint32_t size(unsigned level) const { return ((units_ - 1) >> (6 * (level + 1))) + 1; }

  // Writes a run of bits, then every ancestor that this changes. The root is read without the lock: atomic stores.
  template <bool Free>
  WYRM_HD void change(std::uint32_t first, std::uint32_t count) const {
    std::uint32_t begin = first;
    std::uint32_t end = first + count;
    for (unsigned l = 0; l < levels && begin < end; ++l) {
      for (std::uint32_t w = begin >> 6; w <= (end - 1) >> 6; ++w) {
        std::uint32_t const low = w == begin >> 6 ? begin & 63 : 0;
        std::uint32_t const high = w == (end - 1) >> 6 ? (end - 1) & 63 : 63;
        std::uint64_t const mask = (~std::uint64_t{0} >> (63 - high)) & (~std::uint64_t{0} << low);
        std::uint64_t word = mask == ~std::uint64_t{0} ? 0 : nodes_[l][w];
        word = Free ? word | mask : word & ~mask;
        if (!Free && l > 0)  // the first and the last child of the run may still have other free units
          for (std::uint32_t const child : {begin, end - 1})
            if (child >> 6 == w && nodes_[l - 1][child] != 0) word |= std::uint64_t{1} << (child & 63);
        exec::atomic_ref<std::uint64_t>(nodes_[l][w]).store(word, exec::release);
      }
      end = ((end - 1) >> 6) + 1;
      begin >>= 6;
    }
  }

  std::uint64_t* nodes_[levels];
  std::uint32_t units_;
};

}  // namespace wyrm::alloc
