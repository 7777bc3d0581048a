// SPDX-License-Identifier: Apache-2.0
// The free lists of a list-based allocator: each has a lock and ten bins, which are lists of free segments by size
// (ScatterAlloc, InPar 2012, section 4). What the functions here do to the segments, except for locking, is for a
// thread that holds the locks of all lists concerned.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "segments.hpp"

namespace wyrm::alloc {

/// The state of a free list, on the device.
struct free_list {
  std::uint32_t lock;         // 1: held
  std::uint32_t padding[23];  // with the rest a multiple of 128 bytes
  std::uint64_t first[bins];  // the first segment of each bin, plus 1; 0: there is none
  std::uint64_t count[bins];
};
static_assert(sizeof(free_list) == 256);

/// The state of the pool beside its lists, on the device.
struct list_pool_state {
  segment_root root;
  // No free segment has this many units; not_known: no such number is known. A thread that holds all locks sets it when
  // nothing fits a request, and every free clears it.
  std::uint64_t unavailable;
  std::uint64_t granted;
  std::uint64_t peak;
  static constexpr std::uint64_t not_known = ~std::uint64_t{0};
};

/// For kernels.
class free_lists_ref {
 public:
  free_lists_ref(segments_ref const& segments, free_list* lists, std::uint32_t count)
      : segments_(segments), lists_(lists), count_(count) {}

  [[nodiscard]] WYRM_HD segments_ref const& segments() const { return segments_; }
  [[nodiscard]] WYRM_HD std::uint32_t count() const { return count_; }

  WYRM_HD void lock(std::uint32_t list) const {
    exec::atomic_ref<std::uint32_t> const held(lists_[list].lock);
    for (unsigned attempt = 0; held.load(exec::relaxed) != 0 || held.exchange(1, exec::acquire) != 0; ++attempt)
      exec::pause(attempt);
  }
  WYRM_HD void unlock(std::uint32_t list) const {
    exec::atomic_ref<std::uint32_t>(lists_[list].lock).store(0, exec::release);
  }
  /// All locks, for the holder of lock 0 only: in ascending order, so that two threads that do this never wait for each
  /// other.
  WYRM_HD void lock_rest() const {
    for (std::uint32_t list = 1; list < count_; ++list) lock(list);
  }
  WYRM_HD void unlock_all() const {
    for (std::uint32_t list = 0; list < count_; ++list) unlock(list);
  }

  /// Makes the units from i on a free segment of this list.
  WYRM_HD void insert(std::uint64_t i, std::uint64_t units, std::uint32_t list) const {
    free_list& l = lists_[list];
    unsigned const bin = bin_of(units);
    segments_.make_header(i, segment_word::free(units, list));
    segments_.links(i) = {l.first[bin], 0};
    if (l.first[bin] != 0) segments_.links(l.first[bin] - 1).previous = i + 1;
    l.first[bin] = i + 1;
    ++l.count[bin];
  }
  /// Takes a free segment out of its list. Its header stays as it is.
  WYRM_HD void remove(std::uint64_t i) const {
    segment_word const w = segments_.word(i);
    free_list& l = lists_[w.list()];
    unsigned const bin = bin_of(w.units());
    segment_links const links = segments_.links(i);
    if (links.next != 0) segments_.links(links.next - 1).previous = links.previous;
    (links.previous != 0 ? segments_.links(links.previous - 1).next : l.first[bin]) = links.next;
    --l.count[bin];
  }

  /// The first free segment of the list that fits: of its bins, from that of the size on; no_segment if none does.
  [[nodiscard]] WYRM_HD std::uint64_t find(std::uint32_t list, std::uint64_t units, std::size_t align) const {
    for (unsigned bin = bin_of(units); bin < bins; ++bin)
      for (std::uint64_t next = lists_[list].first[bin]; next != 0; next = segments_.links(next - 1).next)
        if (segments_.word(next - 1).units() >= lead(next - 1, align) + units) return next - 1;
    return no_segment;
  }
  /// The units before a segment at or behind i whose block has this alignment: 0, or as many as a segment needs.
  [[nodiscard]] WYRM_HD std::uint64_t lead(std::uint64_t i, std::size_t align) const {
    std::uint64_t const units = align / alignment;
    std::uint64_t const gap = (0 - reinterpret_cast<std::uintptr_t>(segments_.block(i)) / alignment) & (units - 1);
    return gap == 1 ? gap + units : gap;
  }
  /// Any segment that is so many units larger than a request fits it.
  [[nodiscard]] WYRM_HD static std::uint64_t largest_lead(std::size_t align) {
    return align > alignment ? align / alignment + 1 : 0;
  }

  /// Splits `all` units from i on, which are in no list: a used segment, whose block has this alignment, and what
  /// remains before and behind it, which this list gets. Returns the used segment.
  WYRM_HD std::uint64_t carve(std::uint64_t i, std::uint64_t all, std::uint64_t units, std::size_t align,
                              std::uint32_t list) const {
    if (std::uint64_t const before = lead(i, align); before > 0) {
      insert(i, before, list);
      i += before;
      all -= before;
    }
    if (all - units >= least_units) {
      insert(i + units, all - units, list);
      all = units;
    }
    segments_.make_header(i, segment_word::used(all, list));
    return i;
  }

  /// Merges all free segments that are neighbours, whichever lists they are in; for the holder of all locks. A merged
  /// segment is in the list of its first part. O(free segments). False if there were none.
  WYRM_HD bool merge_all() const {
    bool merged = false;
    for (std::uint32_t list = 0; list < count_; ++list)
      for (unsigned bin = 0; bin < bins; ++bin)
        for (std::uint64_t next = lists_[list].first[bin]; next != 0;)
          if (merge_with_successors(next - 1, next)) merged = true;
    return merged;
  }
  /// Takes a free segment out of its list, to make it a part of the segment before it. Returns where it ends. Its
  /// header stays, and says that it is free: so a header inside another segment never looks like a used one.
  WYRM_HD std::uint64_t absorb(std::uint64_t i) const {
    std::uint64_t const end = i + segments_.word(i).units();
    remove(i);
    return end;
  }

 private:
  // Merges a free segment with all free ones that follow it. next: the one behind it in its bin. The merged segment may
  // get to the front of this bin, which the caller has passed: no free segment follows it.
  WYRM_HD bool merge_with_successors(std::uint64_t i, std::uint64_t& next) const {
    segment_word const w = segments_.word(i);
    std::uint64_t end = i + w.units();
    while (end < segments_.units() && segments_.word(end).is_free()) end = absorb(end);
    next = segments_.links(i).next;  // behind those that have been taken out
    if (end == i + w.units()) return false;
    remove(i);
    insert(i, end - i, w.list());
    return true;
  }

  segments_ref segments_;
  free_list* lists_;
  std::uint32_t count_;
};

}  // namespace wyrm::alloc
