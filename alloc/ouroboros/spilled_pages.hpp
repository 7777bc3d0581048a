// SPDX-License-Identifier: Apache-2.0
// Freed pages for which their queue has no room, because the pool has no chunk for a queue node. They are kept in
// linked lists, whose links are in the pages themselves, so that no page is lost.
//
// A class has many lists, because many threads may free pages at the same time, possibly millions of pages. A list
// consists of batches; each batch is a list of the pages that one group of lanes freed. The first word of a list is
// also its lock. A thread that holds it waits for no other thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../extent/extent_ref.hpp"
#include "../size_classes.hpp"

namespace wyrm::alloc::detail {

/// The lists of a class.
struct spilled_pages {
  static constexpr unsigned size = 32;
  static constexpr std::uint64_t locked = std::uint64_t{1} << 63;
  std::uint64_t count;        // pages in lists, or being taken out of one
  std::uint64_t lists[size];  // first page of the first batch, + 1; 0: the list is empty
};
/// The contents of a page in a list.
struct spilled_page {
  std::uint64_t next;        // page of the batch, + 1; 0: none
  std::uint64_t next_batch;  // in the first page of a batch: the first page of the next one, + 1; 0: none
};
static_assert(sizeof(spilled_page) <= page_bytes(0));

/// The lists of all classes, on the device.
class spilled_pages_ref {
 public:
  /// base: of the pool.
  spilled_pages_ref(std::byte* base, spilled_pages* classes) : base_(base), classes_(classes) {}

  /// Whether class c probably has spilled pages; a hint.
  [[nodiscard]] WYRM_HD bool has_some(unsigned c) const { return count(classes_[c]).load(exec::relaxed) > 0; }

  /// Takes up to n pages of class c out of one batch, the first for the lane with rank 0; collective. Returns how many.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t take(Tile const& t, unsigned c, unsigned leader, std::uint32_t n,
                                           std::uint32_t rank, std::uint64_t& page) const {
    return take_from(t, classes_[c], c, leader, t.rank() == leader ? n : 0, rank, page);
  }
  /// The same out of other lists than the class's own; n is the leader's. The rest of the batch is returned to a list.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint32_t take_from(Tile const t, spilled_pages& lists, unsigned c,
                                                              unsigned leader, std::uint32_t n, std::uint32_t rank,
                                                              std::uint64_t& page) const {
    std::uint64_t const home = exec::thread_number(t) / 32;
    std::uint64_t next = 0;  // + 1; in the leader
    std::uint32_t got = 0;
    if (n > 0) next = pop_batch(lists, c, home);
    while (t.shfl(got < n && next != 0, leader)) {
      std::uint64_t const one = t.shfl(next, leader) - 1;
      if (rank == t.shfl(got, leader)) page = one;
      if (next != 0) next = at(c, one).next;
      ++got;
    }
    if (next != 0) push_batch(lists, c, home, next - 1);
    got = t.shfl(got, leader);
    if (t.rank() == leader && got > 0) count(lists).fetch_sub(got, exec::release);
    return got;
  }
  /// Removes a batch from the list at `home`, or from the next one that has some, and calls f(page) for its pages until
  /// f returns false; one thread. False if all lists are empty.
  template <class F>
  [[nodiscard]] WYRM_HD bool visit_batch(spilled_pages& lists, unsigned c, std::uint64_t home, F const& f) const {
    std::uint64_t next = pop_batch(lists, c, home);
    bool const some = next != 0;
    while (next != 0 && f(next - 1)) next = at(c, next - 1).next;
    return some;
  }

  /// Adds the pages of a group of lanes to a list of class c, as one batch; `spills`: the lane is of a group;
  /// collective.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD void add(Tile const t, unsigned c, std::uint64_t page, lane_group const mine,
                                 bool spills) const {
    std::uint32_t const above = mine.lanes & ~((2u << t.rank()) - 1u);
    std::uint64_t const next = t.shfl(page, above != 0 ? exec::first_lane(above) : t.rank());
    if (spills) at(c, page).next = above != 0 ? next + 1 : 0;
    t.sync();
    extent_ref::one_by_one(t, t.ballot(spills && mine.led_by(t.rank())), [&] {
      count(classes_[c]).fetch_add(mine.size, exec::relaxed);
      push_batch(classes_[c], c, exec::thread_number(t) / 32, page);
    });
  }

 private:
  using list_word = exec::atomic_ref<std::uint64_t>;
  [[nodiscard]] WYRM_HD static exec::atomic_ref<std::uint64_t> count(spilled_pages& lists) {
    return exec::atomic_ref<std::uint64_t>(lists.count);
  }
  [[nodiscard]] WYRM_HD spilled_page& at(unsigned c, std::uint64_t page) const {
    return *reinterpret_cast<spilled_page*>(base_ + page_offset(c, page));
  }
  [[nodiscard]] WYRM_HD static list_word list_at(spilled_pages& lists, std::uint64_t k) {
    return list_word(lists.lists[k % spilled_pages::size]);
  }
  // Locks a list, if no thread has; a store unlocks it. `first`: the first page of its first batch, + 1.
  [[nodiscard]] WYRM_HD static bool try_lock(list_word const& list, std::uint64_t& first) {
    first = list.fetch_or(spilled_pages::locked, exec::acquire);
    return (first & spilled_pages::locked) == 0;
  }
  // Removes a batch from the first list, at `home` or behind it, that has one and is not locked; returns its first
  // page, + 1, or 0 if all lists are empty. An empty list is not locked, and another list is tried before a locked one
  // is waited for. Otherwise hundreds of lanes that look for the last pages lock one list in turn, and the lane that
  // returns the rest of a batch does not get the lock for seconds.
  [[nodiscard]] WYRM_HD std::uint64_t pop_batch(spilled_pages& lists, unsigned c, std::uint64_t home) const {
    for (unsigned attempt = 4;; ++attempt) {
      bool some = false;
      for (unsigned k = 0; k < spilled_pages::size; ++k) {
        list_word const list = list_at(lists, home + k);
        std::uint64_t first = list.load(exec::relaxed);
        if ((first & ~spilled_pages::locked) == 0) continue;
        some = true;
        if ((first & spilled_pages::locked) != 0 || !try_lock(list, first)) continue;
        list.store(first != 0 ? at(c, first - 1).next_batch : 0, exec::release);
        if (first != 0) return first;
      }
      if (!some) return 0;
      exec::pause(attempt);
    }
  }
  // Adds a batch to the first list, at `home` or behind it, that is not locked.
  WYRM_HD void push_batch(spilled_pages& lists, unsigned c, std::uint64_t home, std::uint64_t page) const {
    std::uint64_t first = 0;
    unsigned k = 0;
    while (!try_lock(list_at(lists, home + k), first))
      if (++k % spilled_pages::size == 0) exec::pause(k);
    at(c, page).next_batch = first;
    list_at(lists, home + k).store(page + 1, exec::release);
  }

  std::byte* base_;
  spilled_pages* classes_;
};

/// Lists the pages of a copy of the lists, by many threads, while no other thread changes the pages; at most `room`.
struct list_spilled {
  spilled_pages_ref pool;
  unsigned c;
  spilled_pages* lists;  // a copy, which is emptied
  std::uint64_t* pages;
  std::uint64_t room;
  std::uint64_t* count;
  WYRM_HD void operator()(std::size_t i) const {
    exec::atomic_ref<std::uint64_t> all(*count);
    auto const append = [&](std::uint64_t page) {
      std::uint64_t const k = all.fetch_add(1, exec::relaxed);
      if (k < room) pages[k] = page;
      return k < room;
    };
    while (all.load(exec::relaxed) <= room && pool.visit_batch(*lists, c, i, append)) continue;
  }
};

}  // namespace wyrm::alloc::detail
