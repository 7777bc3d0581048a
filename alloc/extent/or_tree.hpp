// SPDX-License-Identifier: Apache-2.0
// A bitmap of free units with an OR-tree over it (AlignMalloc, TPDS 2025, section V-B): a bit of an inner node is the
// logical OR of its child node. So one descent finds the first free unit. Departures: a node has 64 children instead of
// two, and is one machine word, so 2^28 units need five levels. For each power of two the tree keeps a unit before
// which no run of this length begins, and searches for runs begin there. Not thread-safe: the caller holds a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../free_runs.hpp"

#include <nv/target>

namespace wyrm::alloc {

class or_tree {
 public:
  static constexpr unsigned levels = 5;
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t max_units = std::size_t{1} << 28;

  static constexpr unsigned lengths = 11;  // powers of two for which lowest_ is kept

  /// The words of a tree over so many units (at most max_units).
  static constexpr std::size_t words(std::size_t units) {
    std::size_t total = 0;
    for (unsigned l = 0; l < levels; ++l) {
      units = (units + 63) / 64;
      total += units;
    }
    return total + (lengths + 1) / 2;
  }

  /// For copying a tree over `units` units to a tree over `more` units: calls f(from, to, words) for each range of
  /// words, where from and to are the positions in the old and in the new tree.
  template <class F>
  static void for_each_part(std::size_t units, std::size_t more, F const& f) {
    std::size_t from = 0;
    std::size_t to = 0;
    for (unsigned l = 0; l < levels; ++l) {
      units = (units + 63) / 64;
      more = (more + 63) / 64;
      f(from, to, units);
      from += units;
      to += more;
    }
    f(from, to, std::size_t{(lengths + 1) / 2});
  }

  /// A tree in the words(units) words at `memory`. Words that are all zero are a tree without free units.
  or_tree(std::uint64_t* memory, std::uint32_t units) : units_(units) {
    for (unsigned l = 0; l < levels; ++l) {
      nodes_[l] = memory;
      memory += (std::size_t{units} + 63) / 64;
      units = (units + 63) / 64;
    }
    lowest_ = reinterpret_cast<std::uint32_t*>(memory);
  }

  [[nodiscard]] WYRM_HD std::uint32_t units() const { return units_; }
  /// Whether no unit is free; may be called without the lock.
  [[nodiscard]] WYRM_HD bool empty() const {
    return exec::atomic_ref<std::uint64_t>(*nodes_[levels - 1]).load(exec::acquire) == 0;
  }

  /// The first free unit at or after `from`, or none.
  [[nodiscard]] WYRM_HD std::uint32_t next_free(std::uint32_t from) const {
    // Up, until a node has a set bit at or after the current position; then down along the first set bits.
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
    // A device loads several words before it examines the first, so that the loads do not wait for each other.
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return next_used<8>(from, limit);), (return next_used<1>(from, limit);))
  }
  /// The same, with so many loads at once.
  template <unsigned AtOnce>
  [[nodiscard]] WYRM_HD std::uint32_t next_used(std::uint32_t from, std::uint32_t limit) const {
    while (from < limit) {
      std::uint64_t used[AtOnce];
      for (unsigned i = 0; i < AtOnce; ++i) used[i] = (from >> 6) + i < size(0) ? ~nodes_[0][(from >> 6) + i] : 0;
      used[0] &= ~std::uint64_t{0} << (from & 63);
      for (unsigned i = 0; i < AtOnce; ++i) {
        if (used[i] == 0) continue;
        std::uint32_t const at = ((from >> 6) + i) * 64 + static_cast<std::uint32_t>(cuda::std::countr_zero(used[i]));
        return at < limit ? at : limit;
      }
      from = ((from >> 6) + AtOnce) * 64;
    }
    return limit;
  }

  /// The lowest run of `count` free units, or none. O(words with runs that are too short + count / 64). A search for a
  /// power of two, at most 1024, does not visit the words before the result of an earlier one again, unless units
  /// become free there.
  [[nodiscard]] WYRM_HD std::uint32_t find(std::uint32_t count) const {
    unsigned const k = floor_log2(count);
    std::uint32_t const power = 1u << k;
    std::uint32_t at = next_free(lowest_[k]);
    std::uint32_t lowest = none;
    std::uint32_t found = none;
    while (at != none && count <= units_ - at) {
      std::uint32_t const first = at & ~63u;  // first unit of the word
      std::uint64_t const word = nodes_[0][at >> 6] & (~std::uint64_t{0} << (at & 63));
      auto const run = static_cast<std::uint32_t>(cuda::std::countr_one(word >> (at & 63)));
      if (run >= power && lowest == none) lowest = at;
      if (run >= count) {
        found = at;
        break;
      }
      if (at + run < first + 64) {  // more runs may follow in the word
        if (lowest == none) lowest = run_in(word, first, power);
        found = run_in(word, first, count);
        if (found != none) break;
      }
      auto const tail = static_cast<std::uint32_t>(cuda::std::countl_one(word));
      at = first + 64 - tail;
      if (tail > 0) {  // this run may continue
        if (count > units_ - at) break;
        std::uint32_t const end = next_used(first + 64, at + count);
        if (lowest == none && end - at >= power) lowest = at;
        if (end == at + count) {
          found = at;
          break;
        }
        at = end;
      }
      at = next_free(at);
    }
    if (lowest == none) lowest = at == none ? units_ : at;
    lowest_[k] = lowest;
    return found;
  }

  /// The number of free units at the end. O(their number).
  [[nodiscard]] WYRM_HD std::uint32_t free_at_end() const { return units_ - begin_of_run(units_, 0); }

  WYRM_HD void set_free(std::uint32_t first, std::uint32_t count) const {
    change<true>(first, count);
    std::uint32_t const begin = begin_of_run(first, first > longest ? first - longest : 0);
    std::uint32_t const after = first + count;
    std::uint32_t const end = next_used(after, units_ - after < longest ? units_ : after + longest);
    for (unsigned k = 0; k <= floor_log2(end - begin); ++k)
      if (lowest_[k] > begin) lowest_[k] = begin;
  }
  WYRM_HD void set_used(std::uint32_t first, std::uint32_t count) const { change<false>(first, count); }

 private:
  // Where the first run of so many set bits begins in a word; `first` is the unit of its bit 0.
  [[nodiscard]] WYRM_HD static std::uint32_t run_in(std::uint64_t word, std::uint32_t first, std::uint32_t count) {
    std::uint32_t const bit = detail::first_run(word, count);
    return bit < 64 ? first + bit : none;
  }
  static constexpr std::uint32_t longest = std::uint32_t{1} << (lengths - 1);

  [[nodiscard]] WYRM_HD static unsigned floor_log2(std::uint32_t count) {
    return count < longest ? static_cast<unsigned>(cuda::std::bit_width(count)) - 1 : lengths - 1;
  }
  // Where the run of free units that ends before `at` begins (`at` if there is none), or a unit of that run at or
  // before `limit`.
  [[nodiscard]] WYRM_HD std::uint32_t begin_of_run(std::uint32_t at, std::uint32_t limit) const {
    while (at > limit) {
      std::uint32_t const word = (at - 1) >> 6;
      std::uint64_t const used = ~nodes_[0][word] << (63 - ((at - 1) & 63));
      if (used != 0) return at - static_cast<std::uint32_t>(cuda::std::countl_zero(used));
      at = word * 64;
    }
    return at;
  }
  [[nodiscard]] WYRM_HD std::uint32_t size(unsigned level) const { return ((units_ - 1) >> (6 * (level + 1))) + 1; }

  // Writes a run of bits, then the ancestors that this changes: those of words that become 0, or were 0. The stores are
  // atomic because empty() reads the root without the lock.
  template <bool Free>
  WYRM_HD void change(std::uint32_t first, std::uint32_t count) const {
    std::uint32_t begin = first;
    std::uint32_t end = first + count;
    bool changes_parents = true;
    for (unsigned l = 0; l < levels && begin < end && changes_parents; ++l) {
      changes_parents = false;
      for (std::uint32_t w = begin >> 6; w <= (end - 1) >> 6; ++w) {
        std::uint32_t const low = w == begin >> 6 ? begin & 63 : 0;
        std::uint32_t const high = w == (end - 1) >> 6 ? (end - 1) & 63 : 63;
        std::uint64_t const mask = (~std::uint64_t{0} >> (63 - high)) & (~std::uint64_t{0} << low);
        std::uint64_t word = mask == ~std::uint64_t{0} ? 0 : nodes_[l][w];
        if (Free && word == 0) changes_parents = true;
        word = Free ? word | mask : word & ~mask;
        if (!Free && l > 0)  // the first and the last child of the run may still have other free units
          for (std::uint32_t const child : {begin, end - 1})
            if (child >> 6 == w && nodes_[l - 1][child] != 0) word |= std::uint64_t{1} << (child & 63);
        if (!Free && word == 0) changes_parents = true;
        exec::atomic_ref<std::uint64_t>(nodes_[l][w]).store(word, exec::release);
      }
      end = ((end - 1) >> 6) + 1;
      begin >>= 6;
    }
  }

  std::uint64_t* nodes_[levels];
  std::uint32_t* lowest_;  // [k]: no run of 2^k or more free units begins before this unit
  std::uint32_t units_;
};

}  // namespace wyrm::alloc
