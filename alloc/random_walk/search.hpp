// SPDX-License-Identifier: Apache-2.0
// The random-walk algorithms for pools of equal pages without central state: threads probe random positions for free
// pages ("Dynamic Buffer Management in Massively Parallel Systems: The Power of Randomness", ACM TOPC 12(1), 2025). The
// steps:
//  - RW (Algorithm 1): a thread probes the flag of a page;
//  - RW-BM (Algorithm 2): a thread probes a bitmap word of 32 or 64 pages;
//  - CoRW (Algorithm 3): each lane of a tile reads a word, and the lanes distribute the free pages among themselves;
//  - CRW (Algorithm 5): as RW-BM, but the first probe is at the page after the thread's last one.
//
// Departures from the paper:
//  - RW-BM draws a page, not a word. It takes the first free page from there to the end of the word, else the lowest
//    free page of the word (the paper: always the lowest). CRW does the same from the page after its last one.
//  - CoRW takes as many pages as the tile needs out of as few words as possible, by one atomic operation per word. Each
//    lane computes its page. So there is no round per page, and no bit is set for a page that no lane takes.
//  - The LockMap is optional. Without it the result of the OR that sets the bits determines which thread was first
//    (used_pages.hpp).
//
// Out of memory (section 3.2.3): a search ends when the number of probed used pages shows, with 99 % confidence, that
// less than a chosen fraction of the pages is free. Then the tile sweeps over all pages, beginning at a
// random one. A sweep finds every page that is free during the whole sweep. So `no_page` means that every page was used
// at some moment of the call.
//
// Progress: searches and frees wait for no other thread. A sweep is repeated if it has skipped free pages. In this case
// another thread has claimed a page, or is freeing pages, or is a lane of another tile that has locked their word; that
// lane waits for no other thread.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/bits.hpp"
#include "../../exec/tile.hpp"
#include "used_pages.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

enum class page_search { per_thread, per_warp, clustered };

/// A pool of pages, for kernels; pages are numbers. Used: used_flags_ref or used_bits_ref. Thread-safe.
template <class Used, page_search How>
class page_pool_ref {
 public:
  using used_type = Used;
  static constexpr page_search how = How;
  static constexpr std::uint64_t no_page = walk::no_page;

  /// give_up_after: the number of used pages that a search probes before it ends.
  WYRM_HD page_pool_ref(Used const& used, std::uint32_t give_up_after) : used_(used), give_up_after_(give_up_after) {}

  /// A page for each lane with `asks`, or no_page; collective. `w` is the lane's own walk.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t allocate(Tile const& t, walk& w, bool asks) const {
    std::uint64_t page = no_page;
    search(t, w, asks, page);
    if (t.any(asks)) page = sweep(t, w, asks, page);
    if (page != no_page) w.last_page = page;
    return page;
  }

  /// Frees a page that allocate() returned; per thread. A plain store (RW), or one atomic AND.
  WYRM_HD void free(std::uint64_t page) const { used_.clear(page); }

  [[nodiscard]] WYRM_HD Used const& used() const { return used_; }

  /// The first part of allocate(): searches until every lane has a page, or the lane (CoRW: the tile) gives up;
  /// collective. Clears `asks` in lanes that get a page. single_probe: CoRW makes one step only.
  template <class Tile>
  WYRM_HD void search(Tile const& t, walk& w, bool& asks, std::uint64_t& page,
                      [[maybe_unused]] bool single_probe = false) const {
    if constexpr (How == page_search::per_warp)
      search_per_warp(t, w, asks, page, single_probe);
    else
      search_per_thread(w, asks, page);
  }
  /// The same per thread; the lanes of a tile may search different pools.
  WYRM_HD void search_per_thread(walk& w, bool& asks, std::uint64_t& page) const {
    std::uint64_t const all = used_.words() * Used::bits;
    if (How == page_search::clustered && asks && w.last_page != walk::no_page && w.last_page + 1 < all)
      asks = probe(w.last_page + 1, w, page) != probe_result::claimed;
    constexpr std::uint32_t locked_probes = 4;  // locked words that count as one full word
    std::uint32_t const enough = (give_up_after_ + Used::bits - 1) / Used::bits * locked_probes;
    for (std::uint32_t failures = 0; asks && failures < enough;) {
      // draw() has a range of 2^32. In larger pools only sweeps find the last pages, which are at most 255.
      std::uint64_t const from = all <= most_drawn ? w.draw(all) : w.draw(all / 256) * 256 + w.draw(256);
      probe_result const found = probe(from, w, page);
      asks = found != probe_result::claimed;
      failures += found == probe_result::full ? locked_probes : found == probe_result::locked;
    }
  }
  /// The second part: sweeps over all pages until every lane has a page, or a sweep has skipped no free page;
  /// collective. Arguments are passed by value so that they stay in registers.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint64_t sweep(Tile const t, walk w, bool asks, std::uint64_t page) const {
    for (unsigned attempt = 0; t.any(asks) && !sweep_once(t, w, asks, page); ++attempt) t.backoff(attempt);
    return page;
  }

 private:
  static constexpr std::uint64_t most_drawn = std::uint64_t{1} << 32;

  // Distributes the free pages that the lanes have read, each in its own word p, among the lanes with `asks`, lowest
  // lanes first; collective. True if there was a free page, also if another thread has claimed it first.
  template <class Tile>
  WYRM_HD bool distribute(Tile const& t, std::uint64_t p, seen_word<typename Used::word> const& seen, bool& asks,
                          std::uint64_t& page) const {
    using word = typename Used::word;
    std::uint32_t const askers = t.ballot(asks);
    auto const wanted = static_cast<unsigned>(cuda::std::popcount(askers));
    auto const found = static_cast<unsigned>(cuda::std::popcount(seen.free));
    // The k-th asking lane gets the k-th free page. Of the lanes that have free pages, its source is the last one whose
    // first page is page k or an earlier one.
    unsigned const k = exec::rank_in(t, askers);
    unsigned const before = exec::sum_below(t, found);
    std::uint32_t const sources = t.ballot(found > 0);
    std::uint32_t const first_pages = exec::any_bits(t, found > 0 && before < 32 ? 1u << before : 0);
    unsigned const all = t.shfl(before + found, t.size() - 1);
    bool const has_candidate = asks && k < all;
    auto const up_to_k = static_cast<unsigned>(cuda::std::popcount(first_pages & exec::bits_up_to<std::uint32_t>(k)));
    unsigned const source = has_candidate ? exec::find_kth_set(sources, up_to_k - 1) : 0;
    word const pages = t.shfl(seen.free, source);
    unsigned const first = t.shfl(before, source);
    unsigned const bit = has_candidate ? exec::find_kth_set(pages, k - first) : 0;
    // A lane claims all free pages of its word, or those up to the page of the last asking lane, or none.
    unsigned const last = t.shfl(bit, 31 - static_cast<unsigned>(cuda::std::countl_zero(askers | 1)));
    word takes = before < wanted ? seen.free : word{0};
    if (before + found > wanted) takes = static_cast<word>(takes & exec::bits_up_to<word>(last));
    word const got = takes != 0 ? used_.claim(p, takes) : word{0};
    if (seen.locked_by_us) used_.unlock(p);
    word const ours = t.shfl(got, source);
    std::uint64_t const at = t.shfl(p, source);
    bool const served = has_candidate && (ours >> bit & 1) != 0;
    if (served) page = at * Used::bits + bit;
    asks = asks && !served;
    return all > 0;
  }

  // lost_race: the word had a free page, but another thread was faster. It does not count as a failure, because it is
  // no sign that few pages are free. A locked word is no such sign either, but counts as a fraction of a failure, so
  // that a search ends even if words stay locked.
  enum class probe_result { claimed, lost_race, locked, full };

  // Claims the first free page from this one to the end of its word, else the lowest free page of the word. If another
  // thread is faster, it tries the next free page of the word: so threads that probe a word at the same time find as
  // many pages as if they probed it one after the other.
  WYRM_HD probe_result probe(std::uint64_t from, walk& w, std::uint64_t& page) const {
    using word = typename Used::word;
    std::uint64_t const p = from / Used::bits;
    ++w.steps;
    seen_word<word> seen = used_.lock_and_read(p);
    probe_result const otherwise = seen.locked_by_other ? probe_result::locked
                                   : seen.free == 0     ? probe_result::full
                                                        : probe_result::lost_race;
    word got = 0;
    while (got == 0 && seen.free != 0) {
      auto first = static_cast<word>(seen.free >> from % Used::bits << from % Used::bits);
      if (first == 0) first = seen.free;
      first = static_cast<word>(first & (~first + 1));
      got = used_.claim(p, first);
      seen.free = static_cast<word>(seen.free & ~first);
    }
    if (seen.locked_by_us) used_.unlock(p);
    if (got != 0) page = p * Used::bits + static_cast<unsigned>(cuda::std::countr_zero(got));
    return got != 0 ? probe_result::claimed : otherwise;
  }

  // CoRW: each lane reads a word per step, until all asking lanes have a page, or the tile gives up; collective.
  template <class Tile>
  WYRM_HD void search_per_warp(Tile const& t, walk& w, bool& asks, std::uint64_t& page, bool single_probe) const {
    std::uint32_t const at_once = Used::bits * t.size();
    std::uint32_t const enough = (give_up_after_ + at_once - 1) / at_once;
    for (std::uint32_t failures = 0; t.any(asks);) {
      ++w.steps;
      std::uint64_t const p = w.draw(used_.words());
      failures = distribute(t, p, used_.lock_and_read(p), asks, page) ? 0 : failures + 1;
      if (single_probe || failures >= enough) return;
    }
  }

  // One sweep over all pages for the lanes with `asks`; collective. False if a lane still lacks a page and the sweep
  // has skipped free pages, because other threads claimed the pages that it tried to claim: then the sweep must be
  // repeated. It takes no locks, because searches could hold them in turn forever.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool sweep_once(Tile const& t, walk& w, bool& asks, std::uint64_t& page) const {
    std::uint64_t const words = used_.words();
    std::uint64_t const start = t.shfl(w.draw(words), 0);
    bool sure = true;
    for (std::uint64_t i = 0; i < words && t.any(asks); i += t.size()) {
      std::uint64_t p = start + i + t.rank();
      if (p >= words) p -= words;
      seen_word<typename Used::word> seen;
      if (i + t.rank() < words) seen.free = used_.read(p);
      bool const has_some = seen.free != 0;
      if (!t.any(has_some)) continue;
      (void)distribute(t, has_some ? p : 0, seen, asks, page);
      if (t.any(has_some && used_.read(p) != 0)) sure = false;
    }
    return sure || !t.any(asks);
  }

  Used used_;
  std::uint32_t give_up_after_;
};

}  // namespace wyrm::alloc
