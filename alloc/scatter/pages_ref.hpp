// SPDX-License-Identifier: Apache-2.0
// The pages of ScatterAlloc (InPar 2012, sections 5.2, 5.4 and 6): the page usage table, the bit fields of used spots,
// and how many pages of each region are usable.
//
// tryUsePage is reserve() and mark(): a thread adds to the count of a page the spots that it needs, and if the count
// was below the number of spots, it owns as many spots as were left, and finds them in the bit field. Free is clear()
// and release(). It departs from the paper in these points:
//  - The number of spots and the count are one word. So the addition that reserves spots also returns how the page is
//    split. If the split has changed since a thread read it, or the thread has not read it, and it does not suit the
//    request, the addition fails and is undone.
//  - The paper locks a page that has become empty, and removes its split. Here an empty page keeps its split for
//    requests of the same size. A thread that needs another split sets it by one compare-and-swap, which fails if any
//    spot of the page is used or reserved.
//  - The count exceeds the number of spots only until additions are undone. Every change of a word, also by an addition
//    that is undone, updates the counts of usable and of empty pages of its region accordingly; so these counts are
//    right in the end. The paper counts full pages only; but a region of which no page is full may have none for a
//    request of another size.
//  - The bit field of a page is outside the pool, not at the begin of the page. So nothing must be written before a
//    page is used, blocks are aligned to their size where it is a power of two, and a page has room for one block of
//    its whole size. All words of the field lie in one or two sectors of memory; so there is no first level, which
//    could not be kept exact without a lock.
//
// Why a thread that has reserved spots finds them: a bit is set after the count is raised. A free clears a bit and
// lowers the count, in any order, as another thread may see it. So in the end no more bits are set than spots are used
// or reserved by others, and a bit of its own is clear. This bit may differ between two reads, but only if another
// thread has got a spot in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/bits.hpp"
#include "../../exec/tile.hpp"
#include "page_word.hpp"

namespace wyrm::alloc {

/// For kernels. Thread-safe. Pages, regions and super blocks are numbered by their addresses.
class pages_ref {
 public:
  /// words: one per page; fields: shape.words() per page; regions, blocks: see pages_of and regions_of.
  pages_ref(scatter_shape const& shape, std::byte* base, std::uint64_t* words, std::uint32_t* fields,
            std::uint64_t* regions, std::uint64_t* blocks)
      : shape_(shape), base_(base), words_(words), fields_(fields), regions_(regions), blocks_(blocks) {}

  [[nodiscard]] WYRM_HD scatter_shape const& shape() const { return shape_; }
  [[nodiscard]] WYRM_HD page_word word(std::uint32_t page) const { return page_word(at(page).load(exec::relaxed)); }
  /// How many pages of a region are usable, that is open and not full, and how many are empty.
  [[nodiscard]] WYRM_HD count_pair pages_of(std::uint32_t region) const {
    return count_pair::of(exec::atomic_ref<std::uint64_t>(regions_[region]).load(exec::relaxed));
  }
  /// How many regions of a super block have usable pages, and how many have shape.room() empty ones.
  [[nodiscard]] WYRM_HD count_pair regions_of(std::uint32_t block) const {
    return count_pair::of(exec::atomic_ref<std::uint64_t>(blocks_[block]).load(exec::relaxed));
  }

  [[nodiscard]] WYRM_HD std::byte* address(std::uint32_t page, std::uint32_t spot, std::uint32_t spots) const {
    return base_ + (std::size_t{page} << shape_.page_log2) + std::size_t{spot} * shape_.spot_units(spots) * alignment;
  }

  /// Reserves up to n spots of a page that looked like `seen`, and suits the request. Returns the page as it was
  /// before: the caller owns min(n, spots - count) spots. Returns a closed page if it owns none.
  [[nodiscard]] WYRM_HD page_word reserve(std::uint32_t page, page_word seen, std::uint32_t n,
                                          spot_request const& r) const {
    if (seen.is_empty() && seen.spots() != r.most) {
      std::uint64_t bits = seen.bits();
      std::uint32_t const taken = n < r.most ? n : r.most;
      if (at(page).compare_exchange_strong(bits, page_word::split(r.most, taken).bits(), exec::acquire,
                                           exec::relaxed)) {
        add(page, {taken == r.most ? -1 : 0, -1});
        return page_word::split(r.most, 0);
      }
      seen = page_word(bits);
    }
    return r.fits(seen) ? reserve_unseen(page, n, r) : page_word::closed();
  }
  /// The same without a look at the page, which may be any page.
  [[nodiscard]] WYRM_HD page_word reserve_unseen(std::uint32_t page, std::uint32_t n, spot_request const& r) const {
    page_word const before(at(page).fetch_add(n, exec::acquire));
    count_change(page, before, before.plus(n));
    std::uint32_t const left = r.fits(before) ? before.spots() - before.count() : 0;
    if (left < n) (void)release(page, n - left);
    return left > 0 ? before : page_word::closed();
  }

  /// Marks n reserved spots as used, from this one on, which are in one word of the bit field. Returns the word as it
  /// was before: where a bit is set, another thread has that spot, and one has to be found by mark().
  [[nodiscard]] WYRM_HD std::uint32_t mark_all(std::uint32_t page, std::uint32_t start, std::uint32_t n) const {
    std::uint32_t const bits = (n < 32 ? (1u << n) - 1 : ~0u) << (start % 32);
    return field(page, start / 32).fetch_or(bits, exec::acquire);
  }
  /// Finds a spot that the thread has reserved: by the number `start` among the free ones of eight words, so threads
  /// that begin at different spots mostly try different ones.
  [[nodiscard]] WYRM_HD std::uint32_t mark(std::uint32_t page, std::uint32_t start, std::uint32_t spots) const {
    constexpr std::uint32_t at_once = 8;  // words, so that their loads overlap
    std::uint32_t const words = (spots - 1) / 32 + 1;
    for (std::uint32_t first = start / 32 & ~(at_once - 1);; first = first + at_once < words ? first + at_once : 0) {
      std::uint32_t free[at_once];
      std::uint32_t all = 0;
      for (std::uint32_t k = 0; k < at_once; ++k)
        free[k] = first + k < words ? field(page, first + k).load(exec::relaxed) : ~0u;
      for (std::uint32_t k = 0; k < at_once; ++k) {
        free[k] = free_spots(free[k], first + k, spots);
        all += static_cast<std::uint32_t>(cuda::std::popcount(free[k]));
      }
      if (all == 0) continue;
      std::uint32_t nth = start % all;
      std::uint32_t word = 0;
      std::uint32_t choice = free[0];
      for (std::uint32_t k = 1; k < at_once; ++k)
        if (auto const before = static_cast<std::uint32_t>(cuda::std::popcount(choice));
            word == k - 1 && nth >= before) {
          nth -= before;
          word = k;
          choice = free[k];
        }
      std::uint32_t const bit = exec::find_kth_set(choice, nth);
      if ((field(page, first + word).fetch_or(1u << bit, exec::acquire) >> bit & 1) == 0)
        return (first + word) * 32 + bit;
    }
  }

  /// Makes a used spot free, but not its reservation. False if it is not used. After exec::release_fence().
  [[nodiscard]] WYRM_HD bool clear(std::uint32_t page, std::uint32_t spot) const {
    std::uint32_t const bit = 1u << (spot % 32);
    return (field(page, spot / 32).fetch_and(~bit, exec::after_fence) & bit) != 0;
  }
  /// The same for several spots of a word. Returns the word as it was before.
  [[nodiscard]] WYRM_HD std::uint32_t clear_all(std::uint32_t page, std::uint32_t word, std::uint32_t bits) const {
    return field(page, word).fetch_and(~bits, exec::after_fence);
  }
  /// Takes back n reservations. True if nothing of the page is used any more. After exec::release_fence(), if spots
  /// were used.
  WYRM_HD bool release(std::uint32_t page, std::uint32_t n) const {
    page_word const before(at(page).fetch_sub(n, exec::after_fence));
    page_word const now = before.minus(n);
    count_change(page, before, now);
    return now.is_empty();
  }

  /// Makes closed pages empty ones; collective. The caller has their memory.
  template <class Tile>
  WYRM_HD void open(Tile const& t, std::uint32_t first, std::uint32_t count) const {
    constexpr unsigned at_once = 8;  // so that the additions overlap
    exec::release_fence();
    for (std::uint32_t i = t.rank(); i < count; i += at_once * t.size()) {
      page_word before[at_once];
      for (unsigned k = 0; k < at_once; ++k)
        if (i + k * t.size() < count)
          before[k] = page_word(at(first + i + k * t.size()).fetch_add(opened.bits(), exec::after_fence));
      for (unsigned k = 0; k < at_once; ++k)  // pages with additions that will be taken back are not empty yet
        if (before[k].count() > 0) add(first + i + k * t.size(), {-1, -1});
    }
    t.sync();
    std::uint32_t const end = first + count;
    std::uint32_t const log2 = shape_.region_log2;
    for (std::uint32_t region = (first >> log2) + t.rank(); region <= (end - 1) >> log2; region += t.size()) {
      std::uint32_t const begin = region << log2;
      std::uint32_t const from = first > begin ? first : begin;
      std::uint32_t const to = end - begin < shape_.region_pages() ? end : begin + shape_.region_pages();
      auto const pages = static_cast<std::int32_t>(to - from);
      add(from, {pages, pages});
    }
  }
  /// Makes an empty page a closed one; then the caller has its memory. False if something of it is used.
  [[nodiscard]] WYRM_HD bool close(std::uint32_t page) const {
    std::uint64_t seen = word(page).bits();
    bool const is_closed =
        page_word(seen).is_empty() &&
        at(page).compare_exchange_strong(seen, page_word::closed().bits(), exec::acquire, exec::relaxed);
    if (is_closed) add(page, {-1, -1});
    return is_closed;
  }

 private:
  static constexpr page_word opened = page_word::split(1, 0);

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> at(std::uint32_t page) const {
    return exec::atomic_ref<std::uint64_t>(words_[page]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> field(std::uint32_t page, std::uint32_t word) const {
    return exec::atomic_ref<std::uint32_t>(fields_[std::size_t{page} * shape_.words() + word]);
  }
  // The spots of a word that are neither used nor beyond the last one.
  WYRM_HD static std::uint32_t free_spots(std::uint32_t used, std::uint32_t word, std::uint32_t spots) {
    std::uint32_t const here = spots - word * 32;
    return ~used & (here >= 32 ? ~0u : (1u << here) - 1);
  }
  WYRM_HD void count_change(std::uint32_t page, page_word before, page_word now) const {
    count_pair const change{static_cast<int>(now.is_usable()) - static_cast<int>(before.is_usable()),
                            static_cast<int>(now.is_empty()) - static_cast<int>(before.is_empty())};
    if (change.usable != 0 || change.empty != 0) add(page, change);
  }
  // Counts pages, all in one region, and the regions of its super block.
  WYRM_HD void add(std::uint32_t page, count_pair change) const {
    std::uint32_t const region = page >> shape_.region_log2;
    std::uint64_t const bits =
        exec::atomic_ref<std::uint64_t>(regions_[region]).fetch_add(change.bits(), exec::relaxed);
    count_pair const before = count_pair::of(bits);
    count_pair const now = count_pair::of(bits + change.bits());
    count_pair const regions{
        static_cast<int>(now.usable > 0) - static_cast<int>(before.usable > 0),
        static_cast<int>(now.empty >= shape_.room()) - static_cast<int>(before.empty >= shape_.room())};
    if (regions.usable != 0 || regions.empty != 0)
      (void)exec::atomic_ref<std::uint64_t>(blocks_[region / shape_.block_regions])
          .fetch_add(regions.bits(), exec::relaxed);
  }

  scatter_shape shape_;
  std::byte* base_;
  std::uint64_t* words_;
  std::uint32_t* fields_;
  std::uint64_t* regions_;
  std::uint64_t* blocks_;
};

}  // namespace wyrm::alloc
