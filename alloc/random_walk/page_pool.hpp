// SPDX-License-Identifier: Apache-2.0
// Pools of a fixed number of equal pages without central state, in the four variants of "Dynamic Buffer Management in
// Massively Parallel Systems: The Power of Randomness" (ACM TOPC 12(1), 2025): RW, RW-BM, CoRW, CRW (search.hpp). A
// pool only records which pages are used. The user of the pool owns the memory of the pages.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "search.hpp"
#include "theory.hpp"

namespace wyrm::alloc {

namespace detail {
template <class Used>
struct scatter_free_pages {
  typename Used::word* used;
  std::uint64_t pages;
  std::uint64_t limit;  // a page is free if its random number of 32 bits is below this
  std::uint64_t seed;
  std::uint64_t* free;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t p, bool valid) const {
    using word = typename Used::word;
    walk w(seed, p);
    word mine = 0;
    unsigned some = 0;
    for (unsigned bit = 0; bit < Used::bits; ++bit) {
      bool const is_free = p * Used::bits + bit < pages && w.draw(std::uint64_t{1} << 32) < limit;
      if (!is_free) mine |= word{1} << bit;
      some += is_free;
    }
    if (valid) used[p] = mine;
    unsigned const all = exec::sum(t, valid ? some : 0);
    if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(*free).fetch_add(all, exec::relaxed);
  }
};
}  // namespace detail

/// Owns the flags or the bitmap of a pool. All functions except ref() require that no kernel uses the pool.
template <class Space, class Used, page_search How>
class page_pool {
  using word = typename Used::word;

 public:
  using space_type = Space;
  using ref_type = page_pool_ref<Used, How>;

  /// pages: 1 to 2^32. fraction: a search is replaced by a sweep when less than this fraction of the pages is probably
  /// free (0 < fraction < 1). Throws error(bad_argument) for other values.
  page_pool(Space const& space, std::uint64_t pages, double fraction = 0.001)
      : space_(space),
        pages_(checked(pages, fraction)),
        used_(space, words()),
        lock_map_(space, Used::locks ? (words() + Used::bits - 1) / Used::bits : 1),
        give_up_after_(static_cast<std::uint32_t>(std::min(std::ceil(theory::pages_until_given_up(fraction)), 1e9))) {
    reset();
  }

  [[nodiscard]] ref_type ref() const { return {{used_.data(), lock_map_.data(), pages_}, give_up_after_}; }
  [[nodiscard]] std::uint64_t pages() const { return pages_; }
  /// Bytes of flags or bitmap and LockMap.
  [[nodiscard]] std::size_t bytes() const { return used_.bytes() + lock_map_.bytes(); }

  /// Frees all pages.
  void reset() {
    space_.fill(used_.data(), 0, used_.bytes());
    space_.fill(lock_map_.data(), 0, lock_map_.bytes());
    if (pages_ % Used::bits == 0) return;  // else the last word has bits beyond the last page
    exec::write(space_, used_.data() + words() - 1, static_cast<word>(~word{0} << pages_ % Used::bits));
  }

  /// Makes each page free with probability `fraction`, and the others used. Returns the number of free pages.
  std::uint64_t scatter(double fraction, std::uint64_t seed) {
    exec::buffer<std::uint64_t, Space> free(space_, 1);
    exec::write(space_, free.data(), std::uint64_t{0});
    auto const limit = static_cast<std::uint64_t>(std::clamp(fraction, 0.0, 1.0) * 0x1p32);
    exec::for_each_lane<32>(space_, words(),
                            detail::scatter_free_pages<Used>{used_.data(), pages_, limit, seed, free.data()});
    return exec::read(space_, free.data());
  }
  /// Sets which pages are used; one entry per page.
  void set_used(std::vector<bool> const& used) {
    if (used.size() != pages_)
      throw error(error_code::bad_argument, "there are " + std::to_string(pages_) + " pages, but " +
                                                std::to_string(used.size()) + " entries for them");
    std::vector<word> all(words(), 0);
    for (std::uint64_t page = 0; page < words() * Used::bits; ++page)
      if (page >= pages_ || used[page]) all[page / Used::bits] |= word{1} << page % Used::bits;
    exec::copy_in<word>(space_, used_.data(), all);
  }
  /// Which pages are used; one entry per page.
  [[nodiscard]] std::vector<bool> used() const {
    std::vector<word> const copy = exec::copy_out(space_, used_.data(), words());
    std::vector<bool> all(pages_);
    for (std::uint64_t page = 0; page < pages_; ++page)
      all[page] = (copy[page / Used::bits] >> page % Used::bits & 1) != 0;
    return all;
  }

 private:
  static std::uint64_t checked(std::uint64_t pages, double fraction) {
    if (pages == 0 || pages > std::uint64_t{1} << 32)
      throw error(error_code::bad_argument, "a pool of " + std::to_string(pages) + " pages: expected 1 to 4294967296");
    if (!(fraction > 0 && fraction < 1))
      throw error(error_code::bad_argument, "a free fraction of " + std::to_string(fraction) +
                                                ": expected a value between 0 and 1, both excluded");
    return pages;
  }
  [[nodiscard]] std::uint64_t words() const { return (pages_ + Used::bits - 1) / Used::bits; }

  Space space_;
  std::uint64_t pages_;
  exec::buffer<word, Space> used_;
  exec::buffer<word, Space> lock_map_;
  std::uint32_t give_up_after_;
};

template <class Space>
using rw_pages = page_pool<Space, used_flags_ref<>, page_search::per_thread>;
template <class Space, class Word = std::uint64_t, bool Locks = true>
using rw_bm_pages = page_pool<Space, used_bits_ref<Word, Locks>, page_search::per_thread>;
template <class Space, class Word = std::uint64_t, bool Locks = false>
using corw_pages = page_pool<Space, used_bits_ref<Word, Locks>, page_search::per_warp>;
template <class Space, class Word = std::uint64_t, bool Locks = false>
using crw_pages = page_pool<Space, used_bits_ref<Word, Locks>, page_search::clustered>;

}  // namespace wyrm::alloc
