// SPDX-License-Identifier: Apache-2.0
// ScatterAlloc ("ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the GPU", InPar 2012) for kernels.
//
// A request begins at the page of the active super block that a hash of its size and its multiprocessor names (Eq. 3),
// and tries page after page; regions with few empty pages are passed over. If the active super block has no page for
// it, the thread makes another one active (section 5.4): one of which a third of the regions have room, or one with
// memory from alloc/extent. When there is none, it looks for empty pages, and then at all pages of all super blocks. A
// request for more than a page is a run of chunks from the extent; where that has none, empty pages of the super blocks
// are closed and returned to it. pages_ref.hpp says how a spot is taken, and what differs from the paper there. What
// differs here:
//  - A multiprocessor has up to 64 warps today, and a page serves a few of them; so warps that may be on it at the same
//    time begin at different pages, as many pages apart as they need. The default of k_mp spreads the multiprocessors
//    evenly over a super block of any size.
//  - Sizes are rounded up until another spot would not fit into a page, so pages of more requests suit each other.
//  - Lanes that request the same size, and have come to the same page, reserve their spots with one addition, and mark
//    them as used, beginning at the count of the page, word by word.
//  - A request that finds nothing near its first page goes on in a region with room that it draws at random, not in the
//    next one, as searches that meet would stay together. A super block is full when less than a quarter of its regions
//    have room, that is a quarter of their pages: when about 80 % of its pages are used.
//  - Super blocks are parts of one range of addresses, so that a division finds that of a pointer, and memory moves
//    between pages and runs page by page. The paper reserves whole super blocks for requests of more than a page, and
//    sets the size of each page of such a request; the public code serves them one after the other.
//
// Progress: searches of pages, and frees of their blocks, wait for no thread. A thread that needs another super block,
// or chunks for a run, waits for the thread that provides them, which waits at most for the lock of the extent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/bits.hpp"
#include "../../exec/tile.hpp"
#include "../extent/extent_ref.hpp"
#include "../ledger.hpp"
#include "../sequence_lock.hpp"
#include "pages_ref.hpp"

namespace wyrm::alloc {

/// The state on the device, beside tables.
struct scatter_state {
  std::uint32_t active;  // super block
  std::uint32_t padding[31];
  std::uint64_t lock;  // of the thread that makes another super block the active one
  std::uint32_t more_padding[30];
  std::uint64_t last_lock;  // of the thread that looks whether anything is left for requests of pages
  std::uint32_t last_padding[30];
  std::uint64_t run_lock;  // of the thread that takes empty pages for runs of chunks
};

/// For kernels. Thread-safe.
class scatter_ref {
 public:
  scatter_ref(pages_ref const& pages, std::uint32_t blocks, scatter_state* state, extent_ref const& memory,
              ledger_ref const& ledger)
      : pages_(pages), blocks_(blocks), state_(state), memory_(memory), ledger_(ledger) {}

  /// Collective; one request per lane, 0 bytes = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    std::size_t const wanted = ledger_.with_guard(bytes);
    bool const is_valid = wanted > 0 && align > 0 && align <= largest_alignment && (align & (align - 1)) == 0;
    bool const is_paged = is_valid && wanted <= shape().page_bytes() && align <= shape().page_bytes();
    void* result = nullptr;
    if (t.any(is_paged)) {
      std::uint32_t const small = is_paged ? static_cast<std::uint32_t>(wanted) : 1;
      spot_request const r = spot_request::of(shape(), small, is_paged ? static_cast<std::uint32_t>(align) : 1);
      result = find(t, r, is_paged);
    }
    bool const is_run = is_valid && !is_paged;
    if (t.any(is_run)) result = find_runs(t, wanted, is_run, result);
    t.sync();  // one lane may have acquired the memory for another
    if (bytes > 0 && result == nullptr) ledger_.count_failures(1);
    ledger_.record_allocation(result, bytes);
    return result;
  }

  /// Collective; one pointer per lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    place at{};
    bool const is_live = p != nullptr && find_live(p, at);
    t.sync();  // one lane releases the memory of others
    exec::release_fence();
    bool is_cleared = is_live && at.spots > 0 && pages_.clear(at.page, at.spot);
    if (is_live && at.spots > 0 && !is_cleared) ledger_.count_bad_free(p);
    std::uint32_t const lanes = exec::match(t, is_cleared ? at.page : no_page | t.rank());
    if (is_cleared && exec::rank_in(t, lanes) == 0)
      if (pages_.release(at.page, static_cast<std::uint32_t>(cuda::std::popcount(lanes)))) reactivate(at.page);
    std::uint32_t const runs = t.ballot(is_live && at.spots == 0);
    extent_ref::one_by_one(t, runs, [&] {
      if (!memory_.free(p)) ledger_.count_bad_free(p);
    });
  }

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, state_, bytes, align);
  }
  WYRM_HD void free(void* p) const { free_together(*this, state_, p); }
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    return memory_.contains(p) ? ledger_.usable(p, granted_bytes(p)) : 0;
  }
  /// The bytes of the pool that the live block at p takes.
  [[nodiscard]] WYRM_HD std::size_t granted_bytes(void const* p) const {
    page_word const w = pages_.word(page_of(p));
    return w.is_closed() ? memory_.run_bytes(p) : shape().spot_units(w.spots()) * alignment;
  }

  /// Opens the pages of the next chunks of the extent, as many as a super block has, and makes their super block the
  /// active one; collective, for the holder of the lock, or while no other thread uses the pool. False if the extent
  /// has no chunks.
  template <class Tile>
  WYRM_HD bool open_super_block(Tile const& t) const {
    std::uint32_t opened = 0;
    std::uint32_t first = 0;
    std::uint32_t const all = ((shape().block_pages() - 1) >> pages_per_chunk_log2()) + 1;
    while (opened < all) {
      std::uint32_t page = 0;
      std::uint32_t const chunks = open_pages(t, all - opened, page);
      if (chunks == 0) break;
      if (opened == 0) first = page;
      opened += chunks;
      if (shape().block_of(page) != shape().block_of(first)) break;
    }
    if (opened > 0 && t.rank() == 0) active().store(shape().block_of(first), exec::relaxed);
    return opened > 0;
  }
  /// Closes empty pages, and returns their chunks to the extent, so many or all; collective. The number of chunks.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD std::uint32_t reclaim(Tile const t, std::uint32_t chunks) const {
    std::uint32_t closed = 0;
    for (std::uint32_t block = blocks_; block-- > 0 && closed < chunks;)
      if (t.shfl(pages_.regions_of(block).usable, 0) > 0) closed += reclaim_from(t, block, chunks - closed);
    return closed;
  }

 private:
  static constexpr std::uint32_t no_page = 0x80000000;  // with the rank of a lane: a key that no other lane has
  static constexpr std::uint32_t no_block = 0xffffffff;
  static constexpr std::uint32_t reclaimed = 512;    // chunks at a time, 4 MiB, so that pages stay open
  static constexpr std::uint32_t most_windows = 16;  // that a search at random looks at
  static constexpr int most_changes = 32;            // of the active super block during a request, before it tries all

  [[nodiscard]] WYRM_HD scatter_shape const& shape() const { return pages_.shape(); }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> active() const {
    return exec::atomic_ref<std::uint32_t>(state_->active);
  }
  [[nodiscard]] WYRM_HD static constexpr unsigned chunk_log2() {
    return static_cast<unsigned>(cuda::std::countr_zero(chunk_bytes));
  }
  [[nodiscard]] WYRM_HD unsigned pages_per_chunk_log2() const { return chunk_log2() - shape().page_log2; }
  [[nodiscard]] WYRM_HD std::uint32_t page_of(void const* p) const {
    auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(p) - memory_.base());
    return static_cast<std::uint32_t>(offset >> shape().page_log2);
  }

  // How a search goes on where it has found nothing: in regions with room that it draws, in regions with an empty page
  // that it draws, or through all pages in turn.
  enum class where { regions_with_room, regions_with_empty_pages, everywhere };
  // Where the lanes of a group, which request the same, are in their search through a super block.
  struct cursor {
    std::uint32_t page;  // in the super block
    std::uint32_t left;  // windows to look at, or, where a search goes everywhere, pages
  };
  // A page that suits a request, and the spots that it seems to have for it.
  struct candidate {
    std::uint32_t page = no_page;
    std::uint32_t spots = 0;
    page_word seen = page_word();
  };
  // The spots that a group has reserved, as its lane of rank k sees them: spot k of all is on the page of lane
  // `source`, whose spots begin with number `first`. `total` are reserved.
  struct share {
    unsigned source;
    std::uint32_t first;
    std::uint32_t total;
  };

  // The pages of a super block; the last one may have fewer than the others.
  [[nodiscard]] WYRM_HD std::uint32_t pages_in(std::uint32_t block) const {
    std::uint32_t const all = memory_.chunks() << pages_per_chunk_log2();
    return least(shape().block_pages(), all - block * shape().block_pages());
  }
  [[nodiscard]] WYRM_HD std::uint32_t regions_in(std::uint32_t block) const {
    return ((pages_in(block) - 1) >> shape().region_log2) + 1;
  }

  // The number of the first page in the super block for n lanes that request the same (Eq. 3).
  [[nodiscard]] WYRM_HD std::uint32_t first_page(std::uint32_t block, spot_request const& r, std::uint32_t n) const {
    std::uint32_t const bytes = shape().spot_units(r.most) * static_cast<std::uint32_t>(alignment);
    std::uint64_t const here = exec::multiprocessor_number() * shape().multiprocessor_factor >> 16;
    std::uint32_t const hash =
        bytes * shape().size_factor + static_cast<std::uint32_t>(here) + exec::warp_on_multiprocessor() * n / r.most;
    return hash % pages_in(block);
  }

  // Serves the lanes that ask from this super block; collective. `same`: the lanes with the same request. They look at
  // neighbouring pages together, reserve spots on as many as they need, and share them.
  template <class Tile>
  WYRM_HD void search(Tile const& t, std::uint32_t block, spot_request const& r, std::uint32_t same, where next,
                      bool& asks, void*& result) const {
    search(t, block, r, same, next, first_page(block, r, count(same)), asks, result);
  }
  // The same from this page of the super block on.
  template <class Tile>
  WYRM_HD void search(Tile const& t, std::uint32_t block, spot_request const& r, std::uint32_t same, where next,
                      std::uint32_t first, bool& asks, void*& result) const {
    cursor c{first, next == where::everywhere ? pages_in(block) : most_windows};
    bool searches = asks;
    for (;;) {
      std::uint32_t const all = t.ballot(searches);
      if (all == 0) return;
      std::uint32_t const group = all & same;
      std::uint32_t const n = count(group);
      std::uint32_t const rank = exec::rank_in(t, group);
      std::uint32_t const width = least(n, 2 * ((n + r.most - 1) / r.most) + 2);
      candidate const here = searches && rank < width ? look(block, c.page + rank, width, r) : candidate{};
      // Whether the page of the first lane has enough for its group, in all groups.
      bool const is_enough = t.shfl(here.spots, exec::first_lane(group != 0 ? group : 1)) >= n;
      bool const is_simple = t.all(is_enough || !searches);
      std::uint32_t wanted = rank == 0 && searches ? n : 0;
      bool const is_one_group = !is_simple && t.all(group == all || !searches);
      if (!is_simple) wanted = portion(t, is_one_group, group, rank, n, here.spots);
      page_word before;
      if (wanted > 0) before = pages_.reserve(here.page, here.seen, wanted, r);
      std::uint32_t const reserved = least(wanted, before.spots() - before.count());
      share s{exec::first_lane(group != 0 ? group : 1), 0, 0};
      if (is_simple)
        s.total = t.shfl(reserved, s.source);
      else
        s = divide(t, is_one_group, group, rank, n, reserved);
      bool const owns = searches && rank < s.total;
      std::uint32_t const page = t.shfl(here.page, s.source);
      before = page_word(t.shfl(before.bits(), s.source));
      std::uint32_t const on_page = t.shfl(reserved, s.source);
      std::uint32_t const spot = mark(t, page, before, group, rank, s.first, on_page, owns);
      if (owns) {
        result = pages_.address(page, spot, before.spots());
        asks = searches = false;
      }
      // The others look once more where there was something, else further on.
      std::uint32_t const finders = t.ballot(here.spots > 0);
      bool const goes_on = searches && (finders & group) == 0;
      if (!t.any(goes_on)) continue;
      bool const is_elsewhere = next == where::everywhere
                                    ? go_to_next(t, c, block, group, 4 * width, goes_on)
                                    : go_to_any(t, c, block, r.most, group, 4 * width, next, goes_on);
      searches = searches && (is_elsewhere || !goes_on);
    }
  }

  // The first page that suits the request, of four of a super block that are `width` apart.
  [[nodiscard]] WYRM_HD candidate look(std::uint32_t block, std::uint32_t first, std::uint32_t width,
                                       spot_request const& r) const {
    std::uint32_t const all = pages_in(block);
    std::uint32_t page[4];
    page_word w[4];
    for (std::uint32_t k = 0; k < 4; ++k) {
      std::uint32_t const in_block = first + k * width;
      page[k] = block * shape().block_pages() + (in_block < all ? in_block : in_block % all);
      w[k] = pages_.word(page[k]);
    }
    for (std::uint32_t k = 0; k < 4; ++k)
      if (r.suits(w[k])) return {page[k], w[k].is_empty() ? r.most : w[k].spots() - w[k].count(), w[k]};
    return {};
  }

  // How many of the n spots that a group needs each of its lanes reserves, whose page has so many; collective.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint32_t portion(Tile const t, bool is_one_group, std::uint32_t group,
                                                            std::uint32_t rank, std::uint32_t n,
                                                            std::uint32_t spots) const {
    std::uint32_t before = 0;
    if (is_one_group)
      before = exec::sum_below(t, spots);
    else
      for_each_in_groups(t, group, spots, n,
                         [&](std::uint32_t k, unsigned, std::uint32_t x) { before += k < rank ? x : 0; });
    return before < n ? least(spots, n - before) : 0;
  }
  // Divides the spots that the lanes of each group have reserved among them; collective.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD share divide(Tile const t, bool is_one_group, std::uint32_t group,
                                                   std::uint32_t rank, std::uint32_t n, std::uint32_t reserved) const {
    share s{t.rank(), 0, 0};
    if (is_one_group) {
      std::uint32_t const before = exec::sum_below(t, reserved);
      std::uint32_t const givers = t.ballot(reserved > 0);
      std::uint32_t const starts = exec::any_bits(t, reserved > 0 ? 1u << before : 0u);
      s.total = t.shfl(before + reserved, t.size() - 1);
      if (rank < s.total)
        s.source = exec::find_kth_set(givers, count(starts & exec::bits_up_to<std::uint32_t>(rank)) - 1);
      s.first = t.shfl(before, s.source);
      return s;
    }
    for_each_in_groups(t, group, reserved, n, [&](std::uint32_t, unsigned lane, std::uint32_t x) {
      if (s.total <= rank && rank < s.total + x) {
        s.source = lane;
        s.first = s.total;
      }
      s.total += x;
    });
    return s;
  }
  // Calls f(k, lane, value of the lane) for each lane of a group, in order: k = 0, 1, ... Each group at the same time;
  // collective. It stops where the sum of a group reaches n.
  template <class Tile, class F>
  WYRM_HD static void for_each_in_groups(Tile const& t, std::uint32_t group, std::uint32_t value, std::uint32_t n,
                                         F const& f) {
    std::uint32_t sum = 0;
    std::uint32_t left = group;
    for (std::uint32_t k = 0; t.any(left != 0 && sum < n); ++k) {
      unsigned const lane = left != 0 ? exec::first_lane(left) : t.rank();
      std::uint32_t const x = t.shfl(value, lane);
      if (left == 0 || sum >= n) continue;
      f(k, lane, x);
      sum += x;
      left &= left - 1;
    }
  }

  // The spot of the lane of this rank in `group`; collective. The page looked like `before`, and its spots that belong
  // to the group are those of ranks `first` to first + n - 1. They are adjacent if no other lanes are in the way.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t mark(Tile const& t, std::uint32_t page, page_word before, std::uint32_t group,
                                           std::uint32_t rank, std::uint32_t first, std::uint32_t n, bool owns) const {
    std::uint32_t const number = rank - first;
    std::uint32_t const spot = before.count() + number;
    std::uint32_t const in_word = spot % 32;
    std::uint32_t used = 0;
    if (owns && (number == 0 || in_word == 0)) used = pages_.mark_all(page, spot, least(n - number, 32 - in_word));
    // The lane of the first spot in the word has marked all of them.
    std::uint32_t const marker = owns ? rank - least(number, in_word) : 0;
    used = t.shfl(used, exec::find_kth_set(owns ? group : 1u, marker));
    return owns && (used >> in_word & 1) != 0 ? pages_.mark(page, spot, before.spots()) : spot;
  }

  // For lanes whose window of so many pages had nothing: goes on behind it while the region has room, or to another
  // region that has; collective. The lanes of a group draw regions together. False if the super block is full, or they
  // have looked at many windows.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool go_to_any(Tile const& t, cursor& c, std::uint32_t block, std::uint32_t seed,
                                       std::uint32_t group, std::uint32_t window, where next, bool goes_on) const {
    std::uint32_t const log2 = shape().region_log2;
    std::uint32_t const regions = regions_in(block);
    std::uint32_t const behind = (c.page + window) % pages_in(block);
    std::int32_t const least = next == where::regions_with_room ? shape().room() : 1;
    count_pair const counts = pages_.regions_of(block);
    bool const looks_full =
        next == where::regions_with_room && counts.empty < static_cast<std::int32_t>((regions + 3) / 4);
    bool const has_more = goes_on && has_empty(block, behind >> log2, least);
    // Lanes of a group may have read different counts; they decide together.
    std::uint32_t const full = t.ballot(goes_on && looks_full) & group;
    bool const may_go_on = goes_on && full == 0 && c.left > 0;
    bool const stays = (t.ballot(may_go_on && has_more) & group) != 0;
    bool draws = may_go_on && !stays;
    bool is_somewhere = may_go_on && stays;
    seed = scramble(seed ^ c.page << 10 ^ static_cast<std::uint32_t>(counts.bits() >> 32) << 20);
    seed = t.shfl(seed, exec::first_lane(group != 0 ? group : 1));
    if (is_somewhere) {
      c.page = behind;
      --c.left;
    }
    std::uint32_t const rank = exec::rank_in(t, group);
    while (t.any(draws)) {
      std::uint32_t const drawn = scramble(seed + (c.left << 5 | rank) * 0x9e3779b1u);
      std::uint32_t const found = t.ballot(draws && has_empty(block, drawn % regions, least)) & group;
      std::uint32_t const chosen = t.shfl(drawn, exec::first_lane(found != 0 ? found : 1));
      if (!draws) continue;
      --c.left;
      if (found != 0)
        c.page = ((chosen % regions << log2) + (chosen >> 16 & (shape().region_pages() - 1))) % pages_in(block);
      is_somewhere = found != 0;
      draws = found == 0 && c.left > 0;
    }
    return is_somewhere;
  }
  [[nodiscard]] WYRM_HD bool has_empty(std::uint32_t block, std::uint32_t region, std::int32_t least) const {
    return pages_.pages_of(first_region(block) + region).empty >= least;
  }

  // The same for a search through all pages: goes on behind the window, over regions without usable pages; collective.
  // False if they have looked at all.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool go_to_next(Tile const& t, cursor& c, std::uint32_t block, std::uint32_t group,
                                        std::uint32_t window, bool goes_on) const {
    std::uint32_t const pages = pages_in(block);
    std::uint32_t const regions = regions_in(block);
    std::uint32_t const log2 = shape().region_log2;
    std::uint32_t const rank = exec::rank_in(t, group);
    if (goes_on) {
      c.page = (c.page + window) % pages;
      c.left -= least(c.left, window);
    }
    bool moves = goes_on && c.left > 0;
    while (t.any(moves)) {
      std::uint32_t const region = (c.page >> log2) + rank;  // not beyond the last one, from which the search wraps
      bool const is_usable = moves && region < regions && pages_.pages_of(first_region(block) + region).usable > 0;
      std::uint32_t const found = t.ballot(is_usable) & group;
      if (!moves) continue;
      std::uint32_t const skipped = found != 0 ? count(group & ((1u << exec::first_lane(found)) - 1)) : count(group);
      if (skipped > 0) {
        std::uint32_t const next = least(((c.page >> log2) + skipped) << log2, pages);
        c.left -= least(c.left, next - c.page);
        c.page = next < pages ? next : 0;
      }
      moves = found == 0 && c.left > 0;
    }
    return goes_on && c.left > 0;
  }
  [[nodiscard]] WYRM_HD std::uint32_t first_region(std::uint32_t block) const { return block * shape().block_regions; }

  WYRM_HD static std::uint32_t scramble(std::uint32_t x) {
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    return x ^ x >> 12;
  }

  WYRM_HD static std::uint32_t least(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
  WYRM_HD static std::uint32_t count(std::uint32_t lanes) {
    return static_cast<std::uint32_t>(cuda::std::popcount(lanes));
  }

  template <class Tile>
  [[nodiscard]] WYRM_HD void* find(Tile const& t, spot_request const& r, bool asks) const {
    void* result = nullptr;
    std::uint32_t const block = t.shfl(active().load(exec::relaxed), 0);
    std::uint32_t const same = exec::match(t, asks ? r.most << 16 | r.least : no_page | t.rank());
    search(t, block, r, same, where::regions_with_room, asks, result);
    if (t.any(asks)) result = find_elsewhere(t, r, same, block, asks, result);
    return result;
  }
  // For lanes that find nothing in the active super block.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* find_elsewhere(Tile const t, spot_request const r, std::uint32_t same,
                                                           std::uint32_t block, bool asks, void* result) const {
    bool may_change = t.any(t.rank() == 0 && !memory_.looks_used_up()) || super_block_with_room(t, block) != block;
    for (int changes = 0; may_change && changes < most_changes && t.any(asks); ++changes) {
      std::uint32_t const next = next_super_block(t, block, changes < most_changes / 2);
      may_change = next != no_block;
      if (may_change) search(t, block = next, r, same, where::regions_with_room, asks, result);
    }
    for (where const next : {where::regions_with_empty_pages, where::everywhere})
      for (std::uint32_t k = 0; k < blocks_ && t.any(asks); ++k) {
        count_pair const regions = pages_.regions_of(block);
        if (t.shfl(regions.usable, 0) > 0) search(t, block, r, same, next, asks, result);
        block = block + 1 < blocks_ ? block + 1 : 0;
      }
    while (t.any(asks) && search_last(t, r, same, asks, result)) continue;
    return result;
  }

  // Looks at all pages while no thread opens others, and then opens as many as the lanes need; collective. False if
  // nothing is left, which then holds for all threads that wait.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool search_last(Tile const& t, spot_request const& r, std::uint32_t same, bool& asks,
                                         void*& result) const {
    sequence_lock last(state_->last_lock);
    sequence_lock lock(state_->lock);
    if (!t.any(t.rank() == 0 && last.take_unless_exhausted())) return false;
    if (t.rank() == 0) lock.lock();
    t.sync();
    for (std::uint32_t block = 0; block < blocks_ && t.any(asks); ++block)
      if (t.shfl(pages_.regions_of(block).usable, 0) > 0) search(t, block, r, same, where::everywhere, asks, result);
    std::uint32_t page = 0;
    std::uint32_t const needed = count(t.ballot(asks));
    std::uint32_t const chunks = needed > 0 ? open_pages(t, needed, page) : 0;
    std::uint32_t const end = page + (chunks << pages_per_chunk_log2());
    while (page < end) {
      std::uint32_t const block = shape().block_of(page);
      std::uint32_t const begin = block * shape().block_pages();
      search(t, block, r, same, where::everywhere, page - begin, asks, result);
      page = begin + shape().block_pages();
    }
    bool const is_left = needed == 0 || chunks > 0;
    t.sync();
    if (t.rank() == 0) {
      lock.unlock();
      if (is_left)
        last.unlock();
      else
        last.unlock_exhausted();
    }
    return is_left;
  }

  // The active super block if it is another one by now. If not, makes another one the active one; collective. no_block
  // if the extent has no memory.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t next_super_block(Tile const& t, std::uint32_t block, bool may_return) const {
    sequence_lock lock(state_->lock);
    auto outcome = sequence_lock::outcome::wait;
    std::uint32_t now = block;
    if (t.rank() == 0) {
      for (unsigned attempt = 0; outcome == sequence_lock::outcome::wait; ++attempt) {
        if (attempt > 0) exec::pause(attempt);
        now = active().load(exec::relaxed);
        if (now != block) break;
        outcome = lock.try_take();
      }
    }
    bool const has_lock = t.any(outcome == sequence_lock::outcome::taken);
    if (has_lock && t.rank() == 0) {
      now = active().load(exec::relaxed);
      if (now != block) lock.unlock();  // another holder has changed it just before
    }
    now = t.shfl(now, 0);
    if (now != block) return now;
    if (!has_lock) return no_block;
    if (may_return) now = super_block_with_room(t, block);
    bool const found = now != block;
    if (found && t.rank() == 0) active().store(now, exec::relaxed);
    bool const has_opened = !found && open_super_block(t);
    t.sync();
    if (t.rank() == 0) {
      if (has_opened) now = active().load(exec::relaxed);
      if (found || has_opened)
        lock.unlock();
      else
        lock.unlock_exhausted();
    }
    return t.shfl(found || has_opened ? now : no_block, 0);
  }
  // The first super block after this one of which a third of the regions have room; this one if there is none;
  // collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t super_block_with_room(Tile const& t, std::uint32_t block) const {
    for (std::uint32_t k = 1; k < blocks_; k += t.size()) {
      std::uint32_t const other = (block + k + t.rank()) % blocks_;
      std::uint32_t const lanes = t.ballot(
          k + t.rank() < blocks_ && pages_.regions_of(other).empty > static_cast<std::int32_t>(regions_in(other) / 3));
      if (lanes != 0) return t.shfl(other, exec::first_lane(lanes));
    }
    return block;
  }
  // A thread that has freed the last block of a page in another super block makes that the active one at times, if it
  // has more room: with a probability that grows with its regions that have room (section 5.4).
  WYRM_HD void reactivate(std::uint32_t page) const {
    std::uint32_t const block = shape().block_of(page);
    std::uint32_t const now = active().load(exec::relaxed);
    if (block == now) return;
    std::uint32_t const hash = scramble(page ^ exec::multiprocessor_number() << 20);
    std::int32_t const with_room = pages_.regions_of(block).empty;
    if (with_room > pages_.regions_of(now).empty &&
        std::uint64_t{hash} * shape().block_regions * 8 >> 32 < static_cast<std::uint32_t>(with_room))
      active().store(block, exec::relaxed);
  }

  // Takes up to so many chunks and opens their pages; collective. Returns the number of chunks.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t open_pages(Tile const& t, std::uint32_t chunks, std::uint32_t& page) const {
    chunk_range range{0, 0};
    if (t.rank() == 0) range = memory_.take_chunks(chunks < extent_ref::at_once ? chunks : extent_ref::at_once);
    range.first = t.shfl(range.first, 0);
    range.count = t.shfl(range.count, 0);
    t.sync();
    page = range.first << pages_per_chunk_log2();
    if (range.count > 0) pages_.open(t, page, range.count << pages_per_chunk_log2());
    t.sync();
    return range.count;
  }

  // Closes empty pages of a super block, from its end; collective. Returns the number of chunks.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t reclaim_from(Tile const& t, std::uint32_t block, std::uint32_t chunks) const {
    std::uint32_t const log2 = pages_per_chunk_log2();
    std::uint32_t const begin = block * shape().block_pages() >> log2;
    std::uint32_t const end = (block + 1) * shape().block_pages() >> log2;
    std::uint32_t last = end < memory_.chunks() ? end : memory_.chunks();
    std::uint32_t count = 0;
    while (last > begin && count < chunks) {
      std::uint32_t const first = last - begin > t.size() ? last - t.size() : begin;
      std::uint32_t const chunk = first + t.rank();
      std::uint32_t const lanes = t.ballot(chunk < last && has_empty_pages(chunk) && close_chunk(chunk));
      t.sync();  // one lane returns the chunks of all
      if (lanes != 0) memory_.return_runs(t, lanes, chunk, 1);
      count += static_cast<std::uint32_t>(cuda::std::popcount(lanes));
      last = first;
    }
    return count;
  }
  [[nodiscard]] WYRM_HD bool has_empty_pages(std::uint32_t chunk) const {
    return pages_.pages_of(chunk << pages_per_chunk_log2() >> shape().region_log2).empty > 0;
  }
  // Closes the pages of a chunk, all or none.
  [[nodiscard]] WYRM_HD bool close_chunk(std::uint32_t chunk) const {
    std::uint32_t const pages = 1u << pages_per_chunk_log2();
    std::uint32_t const first = chunk << pages_per_chunk_log2();
    for (std::uint32_t k = 0; k < pages; ++k)
      if (!pages_.word(first + k).is_empty()) return false;
    std::uint32_t closed = 0;
    while (closed < pages && pages_.close(first + closed)) ++closed;
    if (closed == pages) return true;
    if (closed > 0) pages_.open(exec::scalar_tile{}, first, closed);
    return false;
  }

  // Runs of chunks for the lanes that ask; collective.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* find_runs(Tile const t, std::size_t bytes, bool asks, void* result) const {
    asks = asks && bytes <= std::size_t{memory_.chunks()} * chunk_bytes;
    auto const chunks = static_cast<std::uint32_t>(asks ? (bytes + chunk_bytes - 1) / chunk_bytes : 1);
    for (std::uint32_t left = t.ballot(asks); left != 0;) {
      std::uint32_t const each = t.shfl(chunks, exec::first_lane(left));
      std::uint32_t const lanes = t.ballot(asks && chunks == each);
      chunk_range runs = take_runs(t, count(lanes), each);
      if (runs.count == 0) runs = reclaim_runs(t, count(lanes), each);
      std::uint32_t const rank = exec::rank_in(t, lanes);
      bool const mine = (lanes >> t.rank() & 1) != 0;
      if (mine && rank < runs.count) result = memory_.begin_run(runs.first + rank * each, each);
      if (mine && (rank < runs.count || runs.count == 0)) asks = false;
      left = t.ballot(asks);
    }
    return result;
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD chunk_range take_runs(Tile const& t, std::uint32_t n, std::uint32_t each) const {
    chunk_range runs{0, 0};
    if (t.rank() == 0) runs = memory_.take_runs(n, each);
    return {t.shfl(runs.first, 0), t.shfl(runs.count, 0)};
  }
  // The same from the chunks of empty pages, of which it takes more and more, at last all; collective. The lock keeps
  // others from finding neither these pages nor their chunks.
  template <class Tile>
  [[nodiscard]] WYRM_HD chunk_range reclaim_runs(Tile const& t, std::uint32_t n, std::uint32_t each) const {
    sequence_lock lock(state_->run_lock);
    bool const has_lock = t.any(t.rank() == 0 && lock.take_unless_exhausted());
    chunk_range runs = take_runs(t, n, each);
    for (std::uint32_t more = each > reclaimed ? each : reclaimed; has_lock && runs.count == 0;) {
      std::uint32_t const closed = reclaim(t, more);
      if (closed > 0) runs = take_runs(t, n, each);
      if (closed == 0 || more >= memory_.chunks()) break;
      more = more < memory_.chunks() / 2 ? 2 * more : memory_.chunks();
    }
    if (has_lock && t.rank() == 0) {
      if (runs.count > 0)
        lock.unlock();
      else
        lock.unlock_exhausted();
    }
    return runs;
  }

  // A block, or where it may be: a spot of a page or, if spots is 0, a run of chunks.
  struct place {
    std::uint32_t page;
    std::uint32_t spot;
    std::uint32_t spots;
  };
  // Counts a bad free, and returns false, where no live block can be.
  [[nodiscard]] WYRM_HD bool find_live(void const* p, place& at) const {
    bool is_block = false;
    if (memory_.contains(p)) {
      auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(p) - memory_.base());
      at.page = page_of(p);
      page_word const w = pages_.word(at.page);
      auto const in_page = static_cast<std::uint32_t>(offset & (shape().page_bytes() - 1));
      is_block = in_page % alignment == 0;
      if (!w.is_closed()) {
        std::uint32_t const units = shape().spot_units(w.spots());
        std::uint32_t const unit = in_page / static_cast<std::uint32_t>(alignment);
        at.spots = w.spots();
        at.spot = unit / units;
        is_block = is_block && at.spot * units == unit && at.spot < at.spots;
      }
    }
    if (!is_block) ledger_.count_bad_free(p);
    return is_block && ledger_.record_free(p);
  }

  pages_ref pages_;
  std::uint32_t blocks_;  // super blocks
  scatter_state* state_;
  extent_ref memory_;
  ledger_ref ledger_;
};

}  // namespace wyrm::alloc
