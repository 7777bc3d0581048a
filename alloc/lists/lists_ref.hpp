// SPDX-License-Identifier: Apache-2.0
// The device side of a list-based allocator (ScatterAlloc, InPar 2012, section 4): first fit in a free list with ten
// bins by size. A request takes the first segment that fits, starting with the bin of its size, and splits it. A free
// merges the segment with its successor if that is free and belongs to the same free list, and adds it to its bin.
//
// There is one free list (`list-size`), or one per multiprocessor (`list-mp`). A request first searches the list of its
// multiprocessor, under the lock of that list. If nothing fits there, it takes the locks of all lists, and a part of
// the first segment that fits in another list: about half of the segment, so that both lists have memory for further
// requests. If nothing fits in any list, it merges all free neighbours, and searches again. A segment returns to the
// list that it was taken from.
//
// Departures from the paper:
//  - There, threads change the lists without a lock per list, and mark a segment as allocated by an atomic operation.
//  - There, the lists of multiprocessors are parts of one list, in which a request continues. Here a request that finds
//    nothing in its own list moves memory to it.
//  - There, free neighbours are not merged if the first one was freed first, and a request may fail although enough
//    adjacent memory is free. Here they are merged before a request fails.
//
// Beyond the paper: the size of a refused request is kept until the next free. A request of this size or more is
// refused without a lock, so that many threads can find a pool used up at the same time.
//
// Why no segment is used twice: a segment leaves its free list, gets its new size, and is marked as used, under the
// lock of this list; so only one request takes it. Only the thread that frees a used segment, and the holder of the
// lock of its list, change its header. A thread that frees a segment reads the header of the successor, which may
// belong to another list whose lock it does not hold. It uses what it reads only if that is "free, and of my list". The
// successor can only get into this state, or out of it, under the lock that the thread holds. Otherwise the successor
// is used, or belongs to another list, and is not merged. The successor cannot move during the free: it begins where
// the freed segment ends, and the size of a used segment does not change. A free of a block that is not live is
// recognised by the header, which is read again under the lock.
//
// Why every request ends: a thread holds one lock, or takes all in ascending order; so no two threads wait for each
// other. What it does under locks is finite. The number of requests is finite, so each lock is released as often as it
// is taken, and goes to each of the threads that wait. The lanes of a tile serve their requests one after the other, so
// no lane waits for a lock that a lane of its own tile holds while that lane waits for it. The final refusal is exact:
// while a thread holds all locks, each free segment is in a list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../allocator.hpp"
#include "../ledger.hpp"
#include "free_lists.hpp"

namespace wyrm::alloc {

/// One free list for all threads.
struct one_free_list {
  static constexpr char const* name = "list-size";
  template <class Space>
  static std::uint32_t count(Space const&) {
    return 1;
  }
  WYRM_HD static std::uint32_t current(std::uint32_t) { return 0; }
};

/// A free list per multiprocessor of the device; on a host per thread.
struct free_list_per_multiprocessor {
  static constexpr char const* name = "list-mp";
  template <class Space>
  static std::uint32_t count(Space const& space) {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(space.multiprocessors(), 1, most));
  }
  WYRM_HD static std::uint32_t current(std::uint32_t count) { return exec::multiprocessor_number() % count; }

 private:
  static constexpr std::size_t most = std::size_t{1} << segment_word::list_bits;
};

/// For kernels. Thread-safe, except for add() and merge().
template <class Policy>
class lists_ref {
 public:
  lists_ref(free_lists_ref const& lists, list_pool_state* state, ledger_ref const& ledger)
      : lists_(lists), state_(state), ledger_(ledger) {}

  /// Collective; one request per lane, 0 bytes = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    void* result = nullptr;
    for (std::uint32_t lanes = t.ballot(bytes > 0); lanes != 0; lanes &= lanes - 1) {
      if (t.rank() == exec::first_lane(lanes)) result = serve(bytes, align);
      t.sync();
    }
    return result;
  }
  /// Collective; one pointer per lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    for (std::uint32_t lanes = t.ballot(p != nullptr); lanes != 0; lanes &= lanes - 1) {
      if (t.rank() == exec::first_lane(lanes)) release(p);
      t.sync();
    }
  }
  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, state_, bytes, align);
  }
  WYRM_HD void free(void* p) const { free_together(*this, state_, p); }

  /// The usable bytes of the live block at p; 0 if no live block begins there. Per thread.
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    std::uint64_t const i = segments().at(p);
    if (i == no_segment || !segments().looks_used(i)) return 0;
    return ledger_.usable(p, (segments().word(i).units() - 1) * alignment);
  }
  /// The bytes of the live block at p, without its header.
  [[nodiscard]] WYRM_HD std::size_t granted_bytes(void const* p) const {
    return (segments().word(segments().at(p)).units() - 1) * alignment;
  }

  // For the owner, while no kernel uses the pool; one thread.

  /// Makes the units from `first` to the end of the pool a free segment.
  WYRM_HD void add(std::uint64_t first) const {
    lists_.insert(first, segments().units() - first, 0);
    state_->unavailable = list_pool_state::not_known;
  }
  /// Merges all free neighbours.
  WYRM_HD void merge() const {
    if (lists_.merge_all()) state_->unavailable = list_pool_state::not_known;
  }

 private:
  using counter = exec::atomic_ref<std::uint64_t>;

  [[nodiscard]] WYRM_HD segments_ref const& segments() const { return lists_.segments(); }

  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* serve(std::size_t bytes, std::size_t align) const {
    std::size_t const wanted = ledger_.with_guard(bytes);
    bool const is_possible = wanted <= segments().bytes() && is_alignment(align);
    std::uint64_t const i =
        is_possible ? take(segment_units(wanted), align > alignment ? align : alignment) : no_segment;
    if (i == no_segment) {
      ledger_.count_failures(1);
      return nullptr;
    }
    void* const p = segments().block(i);
    ledger_.record_allocation(p, bytes);
    return p;
  }

  // A used segment of so many units, or of one more; no_segment if there was a moment at which none fitted.
  [[nodiscard]] WYRM_HD std::uint64_t take(std::uint64_t units, std::size_t align) const {
    if (is_refused(units)) return no_segment;
    std::uint32_t const own = Policy::current(lists_.count());
    if (lists_.count() > 1) {
      lists_.lock(own);
      std::uint64_t const i = take_from(own, units, align);
      lists_.unlock(own);
      if (i != no_segment) return i;
    }
    lists_.lock(0);
    if (is_refused(units)) {  // by a thread that had all locks while this one waited
      lists_.unlock(0);
      return no_segment;
    }
    lists_.lock_rest();
    std::uint64_t i = take_from_any(own, units, align);
    counter const unavailable(state_->unavailable);
    if (i == no_segment && unavailable.load(exec::relaxed) == list_pool_state::not_known && lists_.merge_all())
      i = take_from_any(own, units, align);
    std::uint64_t const fits = units + free_lists_ref::largest_lead(align);
    if (i == no_segment && fits < unavailable.load(exec::relaxed)) unavailable.store(fits, exec::relaxed);
    lists_.unlock_all();
    return i;
  }
  [[nodiscard]] WYRM_HD bool is_refused(std::uint64_t units) const {
    return units >= counter(state_->unavailable).load(exec::relaxed);
  }
  // For the holder of all locks.
  [[nodiscard]] WYRM_HD std::uint64_t take_from_any(std::uint32_t own, std::uint64_t units, std::size_t align) const {
    std::uint64_t i = take_from(own, units, align);
    for (std::uint32_t k = 1; k < lists_.count() && i == no_segment; ++k)
      i = take_from_other((own + k) % lists_.count(), own, units, align);
    return i;
  }
  // For the holder of the lock of the list.
  [[nodiscard]] WYRM_HD std::uint64_t take_from(std::uint32_t list, std::uint64_t units, std::size_t align) const {
    std::uint64_t const i = lists_.find(list, units, align);
    if (i == no_segment) return i;
    std::uint64_t const all = segments().word(i).units();
    lists_.remove(i);
    return count(lists_.carve(i, all, units, align, list));
  }
  // For the holder of both locks. The other list keeps the front half of the segment, in multiples of the size of the
  // request: so requests of one size fill the pool however often memory moves between lists.
  [[nodiscard]] WYRM_HD std::uint64_t take_from_other(std::uint32_t list, std::uint32_t own, std::uint64_t units,
                                                      std::size_t align) const {
    std::uint64_t i = lists_.find(list, units, align);
    if (i == no_segment) return i;
    std::uint64_t all = segments().word(i).units();
    lists_.remove(i);
    std::uint64_t const kept = align == alignment ? all / 2 / units * units : 0;
    if (kept > 0) {
      lists_.insert(i, kept, list);
      i += kept;
      all -= kept;
    }
    return count(lists_.carve(i, all, units, align, own));
  }
  [[nodiscard]] WYRM_HD std::uint64_t count(std::uint64_t i) const {
    std::uint64_t const bytes = segments_ref::bytes_of(i, segments().word(i).units());
    std::uint64_t const now = counter(state_->granted).fetch_add(bytes, exec::relaxed) + bytes;
    counter(state_->peak).fetch_max(now, exec::relaxed);
    return i;
  }

  WYRM_NOINLINE WYRM_HD void release(void* p) const {
    std::uint64_t const i = segments().at(p);
    if (i == no_segment) return ledger_.count_bad_free(p);
    if (!ledger_.record_free(p)) return;
    if (!segments().looks_used(i)) return ledger_.count_bad_free(p);
    segment_word const w = segments().word(i);
    std::uint32_t const list = w.list();
    if (list >= lists_.count()) return ledger_.count_bad_free(p);
    lists_.lock(list);
    if (segments().word(i).bits() == w.bits()) {
      put_back(i, w.units(), list);
      lists_.unlock(list);
    } else {  // another thread has freed it
      lists_.unlock(list);
      ledger_.count_bad_free(p);
    }
  }
  // Frees a used segment; for the holder of the lock of its list.
  WYRM_HD void put_back(std::uint64_t i, std::uint64_t units, std::uint32_t list) const {
    counter(state_->granted).fetch_sub(segments_ref::bytes_of(i, units), exec::relaxed);
    std::uint64_t end = i + units;
    if (end < segments().units()) {
      segment_word const successor = segments().word(end);
      if (successor.is_free() && successor.list() == list) end = lists_.absorb(end);
    }
    lists_.insert(i, end - i, list);
    counter const unavailable(state_->unavailable);
    if (unavailable.load(exec::relaxed) != list_pool_state::not_known)
      unavailable.store(list_pool_state::not_known, exec::relaxed);
  }

  free_lists_ref lists_;
  list_pool_state* state_;
  ledger_ref ledger_;
};

}  // namespace wyrm::alloc
