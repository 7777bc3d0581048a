// SPDX-License-Identifier: Apache-2.0
// ScatterAlloc ("ScatterAlloc: Massively Parallel Dynamic Memory Allocation for the GPU", InPar 2012) for kernels.
//
// A search begins at a page of the active super block, which a hash of the size and the multiprocessor selects (Eq. 3),
// and tries page after page; regions with few empty pages are skipped. If the active super block has no suitable page,
// the thread makes another one active (section 5.4): one in which a third of the regions have room, or one with memory
// from alloc/extent. If there is none, it searches for empty pages, and then all pages of all super blocks. A request
// for more than a page gets a run of chunks from the extent; if the extent has none, empty pages of the super blocks
// are closed and returned to it. pages_ref.hpp describes how a spot is taken, and the differences from the paper in
// this step. The differences here:
//  - A multiprocessor of current GPUs has up to 64 warps, and a page serves only a few of them. So warps that may run
//    on it at the same time begin at different pages, as many pages apart as they need. The default of k_mp spreads the
//    multiprocessors evenly over a super block of any size.
//  - A warp begins at the page of its last request of a size, if possible, instead of the page that the hash selects.
//    Otherwise a thread with many requests would search the pages that it has filled again and again. If the page has
//    many spots, the warp reserves some without a look at the page.
//  - Sizes are rounded up as far as the number of spots per page allows, so requests of more sizes can use the same
//    page.
//  - Lanes that request the same size, and have come to the same page, reserve their spots with one addition, and mark
//    them as used, beginning at the count of the page, word by word.
//  - A request that finds nothing near its first page continues in a random region with room, not in the next region,
//    because searches that meet would stay together. A region has room if a quarter of its pages is usable. A super
//    block is full if less than a quarter of its regions have room, which is when about 80 % of its pages are used.
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
#include "../../exec/call_apart.hpp"
#include "../../exec/converged_tile.hpp"
#include "../../exec/tile.hpp"
#include "../extent/extent_ref.hpp"
#include "../ledger.hpp"
#include "../sequence_lock.hpp"
#include "block_search.hpp"
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
  /// The number of `hints`, for warps and sizes: the page, plus one, where the active super block served the last
  /// request; 0: none yet.
  static constexpr std::uint32_t hint_count = 1u << 14;

  scatter_ref(pages_ref const& pages, std::uint32_t blocks, scatter_state* state, std::uint32_t* hints,
              extent_ref const& memory, ledger_ref const& ledger)
      : pages_(pages), blocks_(blocks), state_(state), hints_(hints), memory_(memory), ledger_(ledger) {}

  /// Collective; one request per lane, 0 bytes = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    std::size_t const wanted = ledger_.with_guard(bytes);
    bool const is_valid = wanted > 0 && is_alignment(align);
    bool const is_paged = is_valid && wanted <= shape().page_bytes() && align <= shape().page_bytes();
    void* result = nullptr;
    if (t.any(is_paged)) {
      std::uint32_t const small = is_paged ? static_cast<std::uint32_t>(wanted) : 1;
      spot_request const r = spot_request::of(shape(), small, is_paged ? static_cast<std::uint32_t>(align) : 1);
      result = find(t, r, is_paged);
    }
    bool const is_run = is_valid && !is_paged;
    if (t.any(is_run)) result = exec::call_apart<&scatter_ref::find_runs<Tile>>(*this, t, wanted, is_run, result);
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
    free_spots(exec::by_position(t), is_live && at.spots > 0, at, p);
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
  static constexpr std::uint32_t no_block = 0xffffffff;
  static constexpr std::uint32_t reclaimed = 512;  // chunks at a time, 4 MiB, so that pages stay open
  static constexpr std::uint32_t takers = 4;       // a page has spots for as many groups, if they are taken unseen
  static constexpr int most_changes = 32;          // of the active super block during a request, before it tries all

  [[nodiscard]] WYRM_HD scatter_shape const& shape() const { return pages_.shape(); }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> active() const {
    return exec::atomic_ref<std::uint32_t>(state_->active);
  }
  // Warps and sizes may share a hint; a wrong one costs only time.
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> hint_for(spot_request const& r) const {
    std::uint32_t const warp = exec::multiprocessor_number() * 64 + exec::warp_on_multiprocessor();
    return exec::atomic_ref<std::uint32_t>(hints_[(warp + r.most * 0x9e3779b1u) % hint_count]);
  }
  [[nodiscard]] WYRM_HD block_search searches() const { return {pages_, memory_.chunks() << pages_per_chunk_log2()}; }
  [[nodiscard]] WYRM_HD static constexpr unsigned chunk_log2() {
    return static_cast<unsigned>(cuda::std::countr_zero(chunk_bytes));
  }
  [[nodiscard]] WYRM_HD unsigned pages_per_chunk_log2() const { return chunk_log2() - shape().page_log2; }
  [[nodiscard]] WYRM_HD std::uint32_t page_of(void const* p) const {
    auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(p) - memory_.base());
    return static_cast<std::uint32_t>(offset >> shape().page_log2);
  }

  template <class Tile>
  [[nodiscard]] WYRM_HD void* find(Tile const& t, spot_request const& r, bool asks) const {
    auto const& lanes = exec::by_position(t);
    exec::atomic_ref<std::uint32_t> const hint = hint_for(r);
    std::uint32_t const now = active().load(exec::relaxed);
    std::uint32_t const last = hint.load(exec::relaxed);
    bool const is_used_up = memory_.looks_used_up();  // all three at once
    std::uint32_t const block = t.shfl(now, 0);
    std::uint32_t const same = exec::match(lanes, asks ? r.most << 16 | r.least : block_search::no_page | lanes.rank());
    std::uint32_t const known = lanes.shfl(last, exec::first_lane(same));
    bool const is_usable = known > 0 && shape().block_of(known - 1) == block;
    std::uint32_t const n = block_search::count(same);
    void* result = nullptr;
    // Additions that are taken back hide spots for a moment. So there are none where others could not find any
    // elsewhere.
    bool const takes = asks && is_usable && r.most >= takers * n && !is_used_up;
    if (t.any(takes)) searches().take_from(lanes, known - 1, takes, r, same, asks, result);
    bool const asked = asks;
    if (t.any(asks)) {
      std::uint32_t const first =
          is_usable ? known - 1 - block * shape().block_pages() : searches().first_page(block, r, n);
      searches().search(lanes, block, r, same, further::regions_with_room, first, asks, result);
      if (asked && !asks) hint.store(page_of(result) + 1, exec::relaxed);
    }
    if (t.any(asks))
      result = exec::call_apart<&scatter_ref::find_elsewhere<Tile>>(*this, t, r, same, block, asks, result);
    return result;
  }
  // Serves the lanes that ask from a super block, beginning at its page `first`. `same` is in the numbers of
  // by_position(t).
  template <class Tile>
  WYRM_HD void search(Tile const& t, std::uint32_t block, spot_request const& r, std::uint32_t same, further next,
                      std::uint32_t first, bool& asks, void*& result) const {
    void* const found = find_in(t, block, r, same, next, first, asks);
    if (found != nullptr) result = found;
    asks = asks && found == nullptr;
  }
  template <class Tile>
  WYRM_HD void search(Tile const& t, std::uint32_t block, spot_request const& r, std::uint32_t same, further next,
                      bool& asks, void*& result) const {
    search(t, block, r, same, next, searches().first_page(block, r, block_search::count(same)), asks, result);
  }
  // A function of its own, because find_elsewhere() has many calls of it.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* find_in(Tile const t, std::uint32_t block, spot_request const r,
                                                    std::uint32_t same, further next, std::uint32_t first,
                                                    bool asks) const {
    void* result = nullptr;
    searches().search(exec::by_position(t), block, r, same, next, first, asks, result);
    return result;
  }
  // For lanes that find nothing in the active super block. `same` is in the numbers of by_position(t).
  template <class Tile>
  [[nodiscard]] WYRM_HD void* find_elsewhere(Tile const t, spot_request const r, std::uint32_t same,
                                             std::uint32_t block, bool asks, void* result) const {
    bool may_change = t.any(t.rank() == 0 && !memory_.looks_used_up()) || super_block_with_room(t, block) != block;
    for (int changes = 0; may_change && changes < most_changes && t.any(asks); ++changes) {
      std::uint32_t const next = next_super_block(t, block, changes < most_changes / 2);
      may_change = next != no_block;
      if (may_change) search(t, block = next, r, same, further::regions_with_room, asks, result);
    }
    for (further const next : {further::regions_with_empty_pages, further::everywhere})
      for (std::uint32_t k = 0; k < blocks_ && t.any(asks); ++k) {
        count_pair const regions = pages_.regions_of(block);
        if (t.shfl(regions.usable, 0) > 0) search(t, block, r, same, next, asks, result);
        block = block + 1 < blocks_ ? block + 1 : 0;
      }
    while (t.any(asks) && search_last(t, r, same, asks, result)) continue;
    return result;
  }

  // Looks at all pages while no thread opens others, and then opens as many as the lanes need; collective. False if
  // nothing is left, which then holds for all threads that wait. `same` is in the numbers of by_position(t).
  template <class Tile>
  [[nodiscard]] WYRM_HD bool search_last(Tile const& t, spot_request const& r, std::uint32_t same, bool& asks,
                                         void*& result) const {
    sequence_lock last(state_->last_lock);
    sequence_lock lock(state_->lock);
    if (!t.any(t.rank() == 0 && last.take_unless_exhausted())) return false;
    if (t.rank() == 0) lock.lock();
    t.sync();
    for (std::uint32_t block = 0; block < blocks_ && t.any(asks); ++block)
      if (t.shfl(pages_.regions_of(block).usable, 0) > 0) search(t, block, r, same, further::everywhere, asks, result);
    std::uint32_t page = 0;
    std::uint32_t const needed = block_search::count(t.ballot(asks));
    std::uint32_t const chunks = needed > 0 ? open_pages(t, needed, page) : 0;
    std::uint32_t const end = page + (chunks << pages_per_chunk_log2());
    while (page < end) {
      std::uint32_t const block = shape().block_of(page);
      std::uint32_t const begin = block * shape().block_pages();
      search(t, block, r, same, further::everywhere, page - begin, asks, result);
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
      std::uint32_t const lanes =
          t.ballot(k + t.rank() < blocks_ &&
                   pages_.regions_of(other).empty > static_cast<std::int32_t>(searches().regions_in(other) / 3));
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
    std::uint32_t const hash = block_search::scramble(page ^ exec::multiprocessor_number() << 20);
    std::int32_t const with_room = pages_.regions_of(block).empty;
    if (with_room > pages_.regions_of(now).empty &&
        std::uint64_t{hash} * shape().block_regions * 8 >> 32 < static_cast<std::uint32_t>(with_room))
      active().store(block, exec::relaxed);
  }

  // Takes up to so many chunks and opens their pages; collective. Returns the number of chunks.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t open_pages(Tile const& t, std::uint32_t chunks, std::uint32_t& page) const {
    chunk_range range{0, 0};
    if (t.rank() == 0) range = take_chunks(chunks < extent_ref::at_once ? chunks : extent_ref::at_once);
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
      count += block_search::count(lanes);
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

  // Functions of their own, because several functions call them, and they have 5,000 instructions.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD chunk_range take_chunks(std::uint32_t n) const { return memory_.take_chunks(n); }
  [[nodiscard]] WYRM_NOINLINE WYRM_HD chunk_range take_some_runs(std::uint32_t n, std::uint32_t each) const {
    return memory_.take_runs(n, each);
  }

  // Runs of chunks for the lanes that ask; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* find_runs(Tile const t, std::size_t bytes, bool asks, void* result) const {
    asks = asks && bytes <= std::size_t{memory_.chunks()} * chunk_bytes;
    auto const chunks = static_cast<std::uint32_t>(asks ? (bytes + chunk_bytes - 1) / chunk_bytes : 1);
    for (std::uint32_t left = t.ballot(asks); left != 0;) {
      std::uint32_t const each = t.shfl(chunks, exec::first_lane(left));
      std::uint32_t const lanes = t.ballot(asks && chunks == each);
      chunk_range runs = take_runs(t, block_search::count(lanes), each);
      if (runs.count == 0) runs = reclaim_runs(t, block_search::count(lanes), each);
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
    if (t.rank() == 0) runs = take_some_runs(n, each);
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
  // Frees the spots of the lanes that own one; collective. Where all are in one word of a bit field, and no lane frees
  // that of another, by one access.
  template <class Tile>
  WYRM_HD void free_spots(Tile const& t, bool owns, place const& at, void* p) const {
    std::uint32_t const owners = t.ballot(owns);
    if (owners == 0) return;
    unsigned const first = exec::first_lane(owners);
    std::uint32_t const word = at.spot / 32;
    std::uint32_t const page = t.shfl(at.page, first);
    std::uint32_t const first_word = t.shfl(word, first);
    bool const in_one_word = t.all(!owns || (at.page == page && word == first_word));
    std::uint32_t const bits = in_one_word ? exec::any_bits(t, owns ? 1u << at.spot % 32 : 0) : 0;
    bool is_cleared = false;
    std::uint32_t same = owners;
    if (block_search::count(bits) == block_search::count(owners)) {
      std::uint32_t used = 0;
      if (t.rank() == first) used = pages_.clear_all(page, word, bits);
      used = t.shfl(used, first);
      is_cleared = owns && (used >> at.spot % 32 & 1) != 0;
      same = t.ballot(is_cleared);
    } else {
      is_cleared = owns && pages_.clear(at.page, at.spot);
      same = exec::match(t, is_cleared ? at.page : block_search::no_page | t.rank());
    }
    if (owns && !is_cleared) ledger_.count_bad_free(p);
    if (is_cleared && exec::rank_in(t, same) == 0)
      if (pages_.release(at.page, block_search::count(same))) reactivate(at.page);
  }
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
  std::uint32_t* hints_;
  extent_ref memory_;
  ledger_ref ledger_;
};

}  // namespace wyrm::alloc
