// SPDX-License-Identifier: Apache-2.0
// Queues that hold pages (Ouroboros, ICS 2020, section 4.1, Algorithm 3). A page that its queue has no room for, which
// happens when the pool has no chunk for a node, is kept in a list through the pages themselves: nothing is lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "compaction.hpp"
#include "manager.hpp"

namespace wyrm::alloc {

namespace detail {

/// The lists of a class: many, for a star that loses its leaves frees pages by the million. A list consists of batches,
/// each a list of pages that were freed together.
struct spilled_pages {
  static constexpr unsigned size = 32;
  static constexpr std::uint64_t locked = std::uint64_t{1} << 63;  // by who waits for nobody
  std::uint64_t count;        // pages that are in a list, or that somebody is taking out of one
  std::uint64_t lists[size];  // page of the first batch + 1; 0: none
};
/// What a page in the list says; its own memory holds it.
struct spilled_page {
  std::uint64_t next;        // of the batch, + 1; 0: none
  std::uint64_t next_batch;  // its first page + 1; 0: none; in the first page of a batch
};
static_assert(sizeof(spilled_page) <= page_bytes(0));

/// Writes down the pages of lists that are not changed meanwhile, by many walkers; no more than there should be.
template <class Store>
struct list_spilled {
  Store store;
  unsigned c;
  spilled_pages* lists;  // a copy, which gets empty
  std::uint64_t* pages;
  std::uint64_t room;
  std::uint64_t* count;
  WYRM_HD void operator()(std::size_t i) const {
    exec::atomic_ref<std::uint64_t> all(*count);
    auto const note = [&](std::uint64_t page) {
      std::uint64_t const k = all.fetch_add(1, exec::relaxed);
      if (k < room) pages[k] = page;
      return k < room;
    };
    while (all.load(exec::relaxed) <= room && store.visit_batch(*lists, c, i, note)) continue;
  }
};

}  // namespace detail

template <class Queues>
class page_store_ref {
 public:
  using ends_type = queue_ends;
  page_store_ref(std::byte* base, detail::spilled_pages* spilled, Queues const& queues)
      : base_(base), spilled_(spilled), queues_(queues) {}

  /// A group of lanes takes n pages, at positions from `first` on, mine the one of that rank; n is 0 for other lanes;
  /// collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t take(Tile const& t, chunk_pool_ref const& pool, unsigned c, std::uint32_t first,
                                           std::uint32_t rank, std::uint32_t n) const {
    std::uint64_t page = detail::no_page;
    std::uint32_t node = 0;
    if (n > 0) page = queues_.take(c, first + rank, node);
    queues_.finish(t, pool, c, node, first + rank, rank, n);
    return page;
  }

  /// Puts one page for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void put(Tile const& t, chunk_pool_ref const& pool, detail::class_states<queue_ends> states, unsigned c,
                   std::uint64_t page, bool has) const {
    detail::lane_group const mine = detail::group_by(t, c, has);
    bool const leads = mine.led_by(t.rank());
    bool room = queues_.reserve(t, pool, states[leads ? c : 0].pages, leads, c, mine.size);
    std::uint32_t first = 0;
    if (room) first = queues_.claim_back(states[c].pages, mine.size);
    room = t.shfl(room, mine.leader);
    first = t.shfl(first, mine.leader);
    if (has && room) queues_.put(c, first + mine.rank, page);
    if (t.any(has && !room)) spill(t, c, page, mine, has && !room);
  }

  /// Up to n pages out of the list of class c, the first for the lane with rank 0; collective. How many.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t take_spilled(Tile const& t, unsigned c, unsigned leader, std::uint32_t n,
                                                   std::uint32_t rank, std::uint64_t& page) const {
    return take_batch(t, spilled_[c], c, leader, t.rank() == leader ? n : 0, rank, page);
  }
  /// The same out of any list, n being the leader's; of one batch, whose rest goes back.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint32_t take_batch(Tile const t, detail::spilled_pages& lists, unsigned c,
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
  /// The pages of a batch, which stay where they are, by one thread, until f says false; takes the batch out of its
  /// list, the one at `home` or one behind it. False if there is none.
  template <class F>
  [[nodiscard]] WYRM_HD bool visit_batch(detail::spilled_pages& lists, unsigned c, std::uint64_t home,
                                         F const& f) const {
    std::uint64_t next = pop_batch(lists, c, home);
    bool const some = next != 0;
    while (next != 0 && f(next - 1)) next = at(c, next - 1).next;
    return some;
  }
  [[nodiscard]] WYRM_HD std::uint64_t peek(unsigned c, std::uint32_t position) const {
    return queues_.peek(c, position);
  }
  [[nodiscard]] WYRM_HD bool has_spilled(unsigned c) const { return count(spilled_[c]).load(exec::relaxed) > 0; }

  [[nodiscard]] WYRM_HD bool count_carved(std::uint64_t& chunks, unsigned, std::uint32_t count) const {
    exec::atomic_ref<std::uint64_t>(chunks).fetch_add(count, exec::relaxed);
    return true;
  }
  /// Chunks that become class c's; nothing is kept of them.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t keep(Tile const& t, chunk_pool_ref const&, std::uint64_t& chunks, unsigned,
                                           unsigned leader, std::uint32_t, std::uint32_t count) const {
    if (t.rank() == leader) exec::atomic_ref<std::uint64_t>(chunks).fetch_add(count, exec::relaxed);
    return 0;
  }
  [[nodiscard]] WYRM_HD std::uint32_t nodes_lacking(std::uint64_t&, unsigned, std::uint32_t, bool) const { return 0; }
  template <class Tile>
  WYRM_HD void add_nodes(Tile const&, chunk_pool_ref const&, unsigned, unsigned, std::uint32_t, std::uint32_t) const {}
  /// Gives the pool pages that are chunks, or runs of them, one a lane at most, whichever class has some; collective.
  /// False if none were found.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool reclaim(Tile const t, chunk_pool_ref const& pool,
                                                   detail::class_states<queue_ends> states) const {
    for (unsigned c = detail::page_classes; c-- > 0 && detail::pages_a_chunk(c) == 1;) {
      std::uint32_t n = 0;
      std::uint32_t first = 0;
      if (t.rank() == 0 && states[c].pages.number() > 0) {
        n = states[c].pages.take(Tile::size());
        if (n < Tile::size()) states[c].pages.give_back(Tile::size() - n);
        if (n > 0) first = states[c].pages.claim_front(n);
      }
      n = t.shfl(n, 0);
      first = t.shfl(first, 0);
      std::uint64_t page = take(t, pool, c, first, t.rank(), t.rank() < n ? n : 0);
      if (n == 0 && t.shfl(has_spilled(c), 0)) n = take_spilled(t, c, 0, Tile::size(), t.rank(), page);
      if (n == 0) continue;
      if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(states[c].chunks).fetch_sub(n, exec::relaxed);
      pool.give_runs(t, static_cast<std::uint32_t>(page), detail::run_chunks(c), t.rank() < n);
      return true;
    }
    return false;
  }

 private:
  [[nodiscard]] WYRM_HD static exec::atomic_ref<std::uint64_t> count(detail::spilled_pages& lists) {
    return exec::atomic_ref<std::uint64_t>(lists.count);
  }
  [[nodiscard]] WYRM_HD detail::spilled_page& at(unsigned c, std::uint64_t page) const {
    return *reinterpret_cast<detail::spilled_page*>(base_ + (page << detail::number_log2(c)));
  }
  using list_word = exec::atomic_ref<std::uint64_t>;
  [[nodiscard]] WYRM_HD static list_word list_at(detail::spilled_pages& lists, std::uint64_t k) {
    return list_word(lists.lists[k % detail::spilled_pages::size]);
  }
  // Locks a list, if nobody has; a store unlocks it. `first`: its first batch.
  [[nodiscard]] WYRM_HD static bool try_lock(list_word const& list, std::uint64_t& first) {
    first = list.fetch_or(detail::spilled_pages::locked, exec::acquire);
    return (first & detail::spilled_pages::locked) == 0;
  }
  // Takes a batch out of the first list at `home` or behind it that has one and is not locked; 0 if all lists are
  // empty. A list that is empty is not locked, and another list is tried before a locked one is waited for. Otherwise
  // hundreds of lanes that look for the last pages lock one list in turn, and the lane that returns the rest of a batch
  // does not get the lock for seconds.
  [[nodiscard]] WYRM_HD std::uint64_t pop_batch(detail::spilled_pages& lists, unsigned c, std::uint64_t home) const {
    for (unsigned attempt = 4;; ++attempt) {
      bool some = false;
      for (unsigned k = 0; k < detail::spilled_pages::size; ++k) {
        list_word const list = list_at(lists, home + k);
        std::uint64_t first = list.load(exec::relaxed);
        if ((first & ~detail::spilled_pages::locked) == 0) continue;
        some = true;
        if ((first & detail::spilled_pages::locked) != 0 || !try_lock(list, first)) continue;
        list.store(first != 0 ? at(c, first - 1).next_batch : 0, exec::release);
        if (first != 0) return first;
      }
      if (!some) return 0;
      exec::pause(attempt);
    }
  }
  // Into the first list at `home` or behind it that is not locked.
  WYRM_HD void push_batch(detail::spilled_pages& lists, unsigned c, std::uint64_t home, std::uint64_t page) const {
    std::uint64_t first = 0;
    unsigned k = 0;
    while (!try_lock(list_at(lists, home + k), first))
      if (++k % detail::spilled_pages::size == 0) exec::pause(k);
    at(c, page).next_batch = first;
    list_at(lists, home + k).store(page + 1, exec::release);
  }

  // Puts pages that the queue has no room for into the lists of their classes, a batch a group; collective.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD void spill(Tile const t, unsigned c, std::uint64_t page, detail::lane_group const mine,
                                   bool spills) const {
    std::uint32_t const above = mine.lanes & ~((2u << t.rank()) - 1u);
    std::uint64_t const next = t.shfl(page, above != 0 ? exec::first_lane(above) : t.rank());
    if (spills) at(c, page).next = above != 0 ? next + 1 : 0;
    t.sync();
    extent_ref::one_by_one(t, t.ballot(spills && mine.led_by(t.rank())), [&] {
      count(spilled_[c]).fetch_add(mine.size, exec::relaxed);
      push_batch(spilled_[c], c, exec::thread_number(t) / 32, page);
    });
  }

  std::byte* base_;
  detail::spilled_pages* spilled_;
  Queues queues_;
};

template <class Space, class Queues>
class page_store {
 public:
  using ref_type = page_store_ref<typename Queues::ref_type>;
  static constexpr char const* queue_kind = Queues::kind;
  static constexpr char kind = 'p';
  static constexpr std::size_t bytes_a_class = sizeof(detail::spilled_pages) + Queues::bytes_a_class;

  page_store(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space),
        pool_(pool),
        spilled_(space, detail::page_classes),
        queues_(space, pool.memory(), node_log2, false) {}

  [[nodiscard]] ref_type ref() const { return {pool_.memory().base(), spilled_.data(), queues_.ref()}; }
  [[nodiscard]] std::size_t bytes() const { return spilled_.bytes() + queues_.bytes(); }
  /// states: as they were until now.
  void reset(std::vector<detail::page_class_state<queue_ends>> const& states) {
    space_.fill(spilled_.data(), 0, spilled_.bytes());
    queues_.reset(pool_.chunks(), [&](unsigned c) -> queue_ends const& { return states[c].pages; });
  }
  [[nodiscard]] auto prepare(std::uint32_t chunks) { return queues_.prepare(chunks); }
  template <class Prepared, class Ends>
  void grow(Prepared prepared, Ends const& ends) {
    queues_.grow(std::move(prepared), ends);
  }

  /// Chunks all of whose pages are free go to the pool, while nobody else uses it.
  void compact(chunk_pool_ref const& pool, detail::class_states<queue_ends> states) {
    exec::buffer<std::uint32_t, Space> free(space_, pool_.chunks());
    // Of pages that are chunks reclaim() takes care.
    for (unsigned c = 0; detail::pages_a_chunk(c) > 1; ++c) compact(pool, states, c, free);
  }

  [[nodiscard]] std::size_t spilled(unsigned c) const { return exec::read(space_, spilled_.data() + c).count; }

  /// Calls take(page, where) for each page of class c in the store.
  template <class Take>
  void check(char const* who, std::string const& what, unsigned c, detail::page_class_state<queue_ends> const& state,
             std::vector<std::uint32_t> const&, Take const& take) const {
    for (std::uint64_t const page : queues_.entries(c, state.pages, who, what)) take(page, "queued");
    detail::spilled_pages const list = exec::read(space_, spilled_.data() + c);
    bool const none =
        std::all_of(std::begin(list.lists), std::end(list.lists), [](std::uint64_t first) { return first == 0; });
    if (none && list.count == 0) return;
    exec::buffer<detail::spilled_pages, Space> copy(space_, 1);
    exec::buffer<std::uint64_t, Space> pages(space_, list.count);
    exec::buffer<std::uint64_t, Space> count(space_, 1);
    exec::write(space_, copy.data(), list);
    exec::write(space_, count.data(), std::uint64_t{0});
    // Each walker goes over all lists, and takes batches until there is none.
    exec::for_each(space_, std::min<std::size_t>(walkers, list.count + 1),
                   detail::list_spilled<ref_type>{ref(), c, copy.data(), pages.data(), list.count, count.data()});
    std::uint64_t const found = exec::read(space_, count.data());
    ensure(found == list.count, who, what + "spilled pages are not counted");
    for (std::uint64_t const page : exec::copy_out(space_, pages.data(), found)) take(page, "spilled");
  }
  void check_queues(char const* who, std::vector<detail::page_class_state<queue_ends>> const& states) const {
    queues_.check(who, pool_, [&](unsigned c) -> queue_ends const& { return states[c].pages; });
  }

 private:
  static constexpr std::size_t walkers = 1024;  // of lists

  void compact(chunk_pool_ref const& pool, detail::class_states<queue_ends> states, unsigned c,
               exec::buffer<std::uint32_t, Space>& free) {
    detail::page_class_state<queue_ends> const state = exec::read(space_, &states[c]);
    detail::spilled_pages list = exec::read(space_, spilled_.data() + c);
    if (state.pages.size() + list.count < detail::pages_a_chunk(c)) return;
    space_.fill(free.data(), 0, free.bytes());
    exec::buffer<detail::spilled_pages, Space> old(space_, 1);
    detail::compaction<ref_type> const job{ref(), pool, states, c, state.pages.first(), free.data(), old.data()};
    std::size_t const some = list.count > 0 ? walkers : 0;

    exec::write(space_, old.data(), list);
    exec::for_each(space_, state.pages.size(), detail::count_queued<ref_type>{job});
    exec::for_each(space_, some, detail::count_spilled<ref_type>{job});
    exec::write(space_, old.data(), list);
    exec::write(space_, spilled_.data() + c, detail::spilled_pages{});
    exec::for_each_lane<32>(space_, state.pages.size(), detail::sift_queued<ref_type>{job});
    exec::for_each_tile<32>(space_, some, detail::sift_spilled<ref_type>{job});
    exec::for_each(space_, pool_.chunks(), detail::give_chunks<ref_type>{job});
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::spilled_pages, Space> spilled_;
  Queues queues_;
};

}  // namespace wyrm::alloc
