// SPDX-License-Identifier: Apache-2.0
// Pools of equal pages without any central state: threads look at random places for pages that are free ("Dynamic
// Buffer Management in Massively Parallel Systems: The Power of Randomness", ACM TOPC 12(1), 2025). RW (Algorithm 1):
// a flag a page. RW-BM (Algorithm 2): the same with words of 32 or 64 pages. CoRW (Algorithm 3): the lanes of a tile
// look at a word each and share what they find. CRW (Algorithm 5): a thread goes on from its last page.
//
// Departures. RW-BM draws a page, not a word: it takes the first free page from there to the end of its word, else the
// lowest of the word (the paper: always the lowest). CRW does the same from the page after its last one. In CoRW as
// many pages as are wanted are taken out of as few words as possible, by one atomic operation a word, and each lane
// computes whose it gets: no round per page, and no bit is set for a page that nobody takes. A LockMap is a choice:
// without one the OR that sets the bits says who was first, see used_pages.hpp.
//
// Out of memory (section 3.2.3): who has seen so many pages, all used, that with 99 % confidence less than a chosen
// share is free, gives up the search, and its tile sweeps over all pages, from a random one on. A page that is free as
// long as the sweep lasts is found; so `no_page` says that every page was used at some moment of the call. Searches and
// frees wait for nobody. A sweep is repeated while it passes by free pages: then somebody else got a page, or frees
// them, or has their word locked, a lane of another tile, who waits for nobody.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/tile.hpp"
#include "../bits.hpp"
#include "used_pages.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

enum class page_search { per_thread, per_warp, clustered };

/// For kernels. Used: used_flags_ref or used_bits_ref.
template <class Used, page_search How>
class page_pool_ref {
 public:
  using used_type = Used;
  static constexpr page_search how = How;
  static constexpr std::uint64_t no_page = walk::no_page;

  /// patience: pages seen in vain before a search ends.
  WYRM_HD page_pool_ref(Used const& used, std::uint32_t give_up_after) : used_(used), give_up_after_(give_up_after) {}

  /// A page for each lane that asks, or no_page; collective. Every lane brings its own walk.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t allocate(Tile const& t, walk& w, bool asks) const {
    std::uint64_t page = no_page;
    search(t, w, asks, page);
    if (t.any(asks)) page = sweep(t, w, asks, page);
    if (page != no_page) w.last_page = page;
    return page;
  }

  /// Frees a page that get() returned; one thread. A plain store (RW), or one atomic AND.
  WYRM_HD void free(std::uint64_t page) const { used_.clear(page); }

  [[nodiscard]] WYRM_HD Used const& used() const { return used_; }

  /// In parts: lanes that get a page do not ask any more. First until a lane, or its tile, has seen enough in vain;
  /// collective. is_short: a tile that searches together looks once.
  template <class Tile>
  WYRM_HD void search(Tile const& t, walk& w, bool& asks, std::uint64_t& page,
                      [[maybe_unused]] bool single_probe = false) const {
    if constexpr (How == page_search::per_warp)
      search_per_warp(t, w, asks, page, single_probe);
    else
      search_per_thread(w, asks, page);
  }
  /// The same for one lane, or for lanes that have different pools.
  WYRM_HD void search_per_thread(walk& w, bool& asks, std::uint64_t& page) const {
    std::uint64_t const all = used_.words() * Used::bits;
    if (How == page_search::clustered && asks && w.last_page != walk::no_page && w.last_page + 1 < all)
      asks = probe(w.last_page + 1, w, page) != probe_result::claimed;
    constexpr std::uint32_t locked_probes = 4;  // for one in vain
    std::uint32_t const enough = (give_up_after_ + Used::bits - 1) / Used::bits * locked_probes;
    for (std::uint32_t failures = 0; asks && failures < enough;) {
      // Of more than 2^32 pages up to 255 at the end are left to sweeps.
      std::uint64_t const from = all <= most_drawn ? w.draw(all) : w.draw(all / 256) * 256 + w.draw(256);
      probe_result const found = probe(from, w, page);
      asks = found != probe_result::claimed;
      failures += found == probe_result::full ? locked_probes : found == probe_result::locked;
    }
  }
  /// Then through all pages, until none was passed by that is free; collective. What is passed by value stays in
  /// registers.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint64_t sweep(Tile const t, walk w, bool asks, std::uint64_t page) const {
    for (unsigned attempt = 0; t.any(asks) && !sweep_once(t, w, asks, page); ++attempt) t.backoff(attempt);
    return page;
  }

 private:
  static constexpr std::uint64_t most_drawn = std::uint64_t{1} << 32;

  // The lanes, each of which has seen word p, share what they found among those that ask, lowest lanes first;
  // collective. Whether there was a free page, be it that somebody else took it first.
  template <class Tile>
  WYRM_HD bool distribute(Tile const& t, std::uint64_t p, seen_word<typename Used::word> const& seen, bool& asks,
                          std::uint64_t& page) const {
    using word = typename Used::word;
    std::uint32_t const askers = t.ballot(asks);
    auto const wanted = static_cast<unsigned>(cuda::std::popcount(askers));
    auto const found = static_cast<unsigned>(cuda::std::popcount(seen.free));
    // The k-th asker wants the k-th page, which is of the first lane up to which there are more than k.
    unsigned const k = exec::rank_in(t, askers);
    unsigned const before = exec::sum_below(t, found);
    unsigned source = 0;
    for (unsigned step = Tile::size() / 2; step > 0; step /= 2)
      if (t.shfl(before + found, source + step - 1) <= k) source += step;
    unsigned const all = t.shfl(before + found, Tile::size() - 1);
    bool const has_candidate = asks && k < all;
    word const pages = t.shfl(seen.free, source);
    unsigned const first = t.shfl(before, source);
    unsigned const bit = has_candidate ? find_kth_set(pages, k - first) : 0;
    // A lane gives all that it found; or up to what the last asker wants; or nothing.
    unsigned const last = t.shfl(bit, 31 - static_cast<unsigned>(cuda::std::countl_zero(askers | 1)));
    word takes = before < wanted ? seen.free : word{0};
    if (before + found > wanted) takes = static_cast<word>(takes & bits_up_to<word>(last));
    word const got = takes != 0 ? used_.claim(p, takes) : word{0};
    if (seen.locked_by_us) used_.unlock(p);
    word const ours = t.shfl(got, source);
    std::uint64_t const at = t.shfl(p, source);
    bool const served = has_candidate && (ours >> bit & 1) != 0;
    if (served) page = at * Used::bits + bit;
    asks = asks && !served;
    return all > 0;
  }

  // beaten: there was a free page, which says nothing of how few are free; neither does a locked word, but nobody waits
  // for it.
  enum class probe_result { claimed, lost_race, locked, full };

  // Takes the first free page from this one on to the end of its word, else any of the word. If somebody else is
  // faster, the next: who looks at a word together with others finds as much as one after the other.
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

  // All lanes look at a word each, until those that ask have a page, or the tile has seen enough in vain; collective.
  template <class Tile>
  WYRM_HD void search_per_warp(Tile const& t, walk& w, bool& asks, std::uint64_t& page, bool single_probe) const {
    constexpr std::uint32_t at_once = Used::bits * Tile::size();
    std::uint32_t const enough = (give_up_after_ + at_once - 1) / at_once;
    for (std::uint32_t failures = 0; t.any(asks);) {
      ++w.steps;
      std::uint64_t const p = w.draw(used_.words());
      failures = distribute(t, p, used_.lock_and_read(p), asks, page) ? 0 : failures + 1;
      if (single_probe || failures >= enough) return;
    }
  }

  // Looks at all pages, once, for the lanes that ask; collective. False if it passed by free pages, because somebody
  // else took those that it wanted: then it must be done again. It goes without locks, which searches would keep it
  // from.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool sweep_once(Tile const& t, walk& w, bool& asks, std::uint64_t& page) const {
    std::uint64_t const words = used_.words();
    std::uint64_t const start = t.shfl(w.draw(words), 0);
    bool sure = true;
    for (std::uint64_t i = 0; i < words && t.any(asks); i += Tile::size()) {
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
