// SPDX-License-Identifier: Apache-2.0
// What managing pages and managing chunks have in common (Ouroboros, ICS 2020, section 4). The pages of a class that
// were freed are in its store: page_store.hpp or chunk_store.hpp. Pages come, in this order, from the store; from a
// window of chunks that were carved for the class and that nobody has had yet; from the pool. Departures from the
// paper: fresh pages never go through the queue, so the first use of memory costs one atomic addition a tile; the lanes
// of a tile that want the same class are served together, by neighbouring pages where they are fresh or were freed
// together.
//
// Who waits for whom: for an entry of a queue, on its writer, who has claimed its position and waits for nobody; for
// the lock of the pool, on its holder, who waits for nobody. The lock of a class is never waited for: the tile that
// did not get it goes round, for its lanes that want other classes, and looks again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../sequence_lock.hpp"
#include "chunk_pool.hpp"
#include "page_window.hpp"
#include "queue_ends.hpp"
#include "size_classes.hpp"

namespace wyrm::alloc {

namespace detail {

inline constexpr std::uint64_t no_page = ~std::uint64_t{0};
inline constexpr std::uint32_t no_room = 0xffffffff;  // see chunk_store_ref::keep

/// What changes on the device, a class.
struct alignas(128) page_class_state {
  queue_ends pages;  // in the store; their positions too, where the queue holds pages
  page_window fresh;
  alignas(128) std::uint64_t chunks;  // carved for this class, and not given back
  std::uint64_t lock;                 // guards the replacement of the window
};

}  // namespace detail

template <class Store>
class manager_ref {
 public:
  manager_ref(chunk_pool_ref const& pool, detail::page_class_state* states, Store const& store)
      : pool_(pool), states_(states), store_(store) {}

  /// A page of class c for each lane that asks, or no_page; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t allocate(Tile const& t, unsigned c, bool asks) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    std::uint32_t taken = 0;
    std::uint32_t first = 0;
    if (mine.led_by(t.rank())) {
      taken = states_[c].pages.take(mine.size);
      if (taken > 0) first = states_[c].pages.claim_front(taken);
    }
    taken = t.shfl(taken, mine.leader);
    first = t.shfl(first, mine.leader);
    std::uint64_t page = store_.take(t, pool_, c, first, mine.rank, asks && mine.rank < taken ? taken : 0);
    if (t.any(asks && page == detail::no_page)) page = bring(t, c, asks && page == detail::no_page, page);
    return page;
  }

  /// A run for a request that no class serves; one thread.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* allocate_large(std::size_t bytes) const {
    for (;;) {
      void* const p = pool_.allocate(bytes);
      if (p != nullptr || !reclaim()) return p;
    }
  }

  /// Frees a page of class c for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, unsigned c, std::uint64_t page, bool has) const {
    store_.put(t, pool_, states_, c, page, has);
  }

  /// One thread gives free chunks of any class to the pool. False if there seems to be none.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool reclaim() const {
    bool some = false;
    for (unsigned c = 0; detail::pages_a_chunk(c) > 1; ++c) {
      chunk_range const rest = states_[c].fresh.shorten(detail::pages_a_chunk(c));
      if (rest.count == 0) continue;
      for (std::uint32_t k = 0; k < rest.count; ++k) {
        store_.stop(c, rest.first + k);
        pool_.mark(rest.first + k, chunk_unused);
      }
      exec::atomic_ref<std::uint64_t>(states_[c].chunks).fetch_sub(rest.count, exec::acq_rel);
      pool_.memory().give(rest.first, rest.count);
      some = true;
    }
    return some || store_.reclaim(pool_, states_);
  }

 private:
  // For lanes that found no page in the store, and are counted as looking there: one that nobody has had yet, or what
  // has come meanwhile, or no_page; all classes at a time; collective. A lane gives up only if at one moment there was
  // no page that nobody had had yet, and then at another none in the store that nobody had claimed.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint64_t bring(Tile const t, unsigned c, bool asks,
                                                          std::uint64_t page) const {
    // What the store counts as looked for is given back before anything else is tried, or two tiles could keep free
    // pages of two classes from each other.
    detail::lane_group const all = detail::group_by(t, c, asks);
    if (all.led_by(t.rank())) states_[c].pages.give_back(all.size);
    sequence_lock lock(states_[asks ? c : 0].lock);
    for (unsigned attempt = 0;; ++attempt) {
      take_fresh(t, c, asks, page);
      if (!t.any(asks)) return page;
      bool none = false;
      bool const again = bring_chunks(t, lock, c, asks, page, none);
      if (t.any(none)) take_late(t, c, asks, none, page);
      if (!t.any(asks)) return page;
      if (t.any(again)) continue;
      take_spilled(t, c, asks, page);
      if (!t.any(asks)) return page;
      // Many wait, and every look delays those they wait for: the pauses are long from the beginning.
      exec::pause(4 + attempt);
    }
  }

  // As long as it goes without locks, pages for all lanes that ask, which are then served: whole chunks where a group
  // fills them, pages of its window else; collective.
  template <class Tile>
  WYRM_HD void take_fresh(Tile const& t, unsigned c, bool& asks, std::uint64_t& page) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    bool const leads = mine.led_by(t.rank());
    std::uint32_t const pages = asks ? detail::pages_a_chunk(c) : 1;
    std::uint32_t const wanted = leads && detail::run_chunks(c) == 1 ? mine.size / pages : 0;
    chunk_range chunks{0, 0};
    if (t.any(wanted > 0)) chunks = carve(t, c, wanted);
    detail::page_range single{0, 0};
    std::uint32_t const rest = mine.size - chunks.count * pages;
    if (leads && pages > 1 && rest > 0) single = states_[c].fresh.take(rest, pages);
    chunks.first = t.shfl(chunks.first, mine.leader);
    std::uint32_t const in_chunks = t.shfl(chunks.count, mine.leader) * pages;
    single.first = t.shfl(single.first, mine.leader);
    single.count = t.shfl(single.count, mine.leader);
    if (asks && mine.rank < in_chunks) {
      page = std::uint64_t{chunks.first} * pages + mine.rank;
      if (mine.rank % pages == 0) start(c, chunks.first + mine.rank / pages);
    } else if (asks && mine.rank - in_chunks < single.count) {
      page = single.first + (mine.rank - in_chunks);
    }
    asks = asks && page == detail::no_page;
    t.sync();
  }
  // So many chunks for class c, one of those that have a different class each, or fewer: no lane waits, and the store
  // must want none of them for itself; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD chunk_range carve(Tile const& t, unsigned c, std::uint32_t wanted) const {
    if (wanted > 0 && !store_.count_carved(states_[c].chunks, c, wanted)) wanted = 0;
    std::uint32_t const before = exec::sum_below(t, wanted);
    std::uint32_t const all = t.shfl(before + wanted, Tile::size() - 1);
    chunk_range got{0, 0};
    if (t.rank() == 0 && all > 0) got = pool_.try_take(all);
    got.first = t.shfl(got.first, 0) + before;
    got.count = t.shfl(got.count, 0);
    got.count = got.count > before ? got.count - before : 0;
    if (got.count > wanted) got.count = wanted;
    if (got.count < wanted)
      exec::atomic_ref<std::uint64_t>(states_[c].chunks).fetch_sub(wanted - got.count, exec::relaxed);
    return got;
  }
  WYRM_HD void start(unsigned c, std::uint32_t chunk) const {
    store_.start(c, chunk);
    pool_.mark(chunk, c);
  }

  // The first lane of each class carves a window, if it gets the lock, or pages that are chunks; collective. True for
  // it if there are some, also if somebody was faster; and all lanes of a class are told if it, or who had the lock
  // before, found `none` at some moment of bring().
  template <class Tile>
  [[nodiscard]] WYRM_HD bool bring_chunks(Tile const& t, sequence_lock& lock, unsigned c, bool& asks,
                                              std::uint64_t& page, bool& none) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    bool const leads = mine.led_by(t.rank());
    std::uint32_t const pages = asks ? detail::pages_a_chunk(c) : 1;
    std::uint32_t const run = asks ? detail::run_chunks(c) : 1;
    // Lanes that fill chunks, or runs of them, need no window: the lock only for what is not found easily. (They come
    // here although the pool has chunks if the store wants some for itself.)
    chunk_range chunks{0, 0};
    if (leads && run == 1 && mine.size >= pages) chunks = pool_.try_take(mine.size / pages);
    extent_ref::one_by_one(t, t.ballot(run > 1 && leads),
                           [&] { chunks = pool_.memory().try_take_runs(mine.size, run); });
    sequence_lock::outcome const outcome =
        leads && chunks.count == 0 ? lock.try_take() : sequence_lock::outcome::wait;
    none = outcome == sequence_lock::outcome::nothing_left;
    bool holds = outcome == sequence_lock::outcome::taken;
    bool const late = holds && pages > 1 && states_[c].fresh.left(pages) > 0;
    if (late) lock.unlock();
    holds = holds && !late;
    std::uint32_t const wanted = holds && pages > 1 ? window_chunks(c, mine.size) : mine.size;
    if (holds && pages > 1) chunks = pool_.try_take(wanted);
    extent_ref::one_by_one(t, t.ballot(holds && chunks.count == 0), [&] {
      chunks = pool_.take_runs(wanted, run);
      while (chunks.count == 0 && !store_.has_spilled(c) && reclaim()) chunks = pool_.take_runs(1, run);
      none = chunks.count == 0 && !store_.has_spilled(c);
    });
    for (std::uint32_t lanes = t.ballot(chunks.count > 0); lanes != 0; lanes &= lanes - 1) {
      unsigned const leader = exec::first_lane(lanes);
      bool const room = adopt(t, t.shfl(c, leader), leader, chunks);
      if (t.rank() == leader) none = !room;
    }
    // The first pages of a window are ours before others see it: when memory is short they might take it away again,
    // and we theirs, for ever.
    std::uint32_t const ours = chunks.count * pages < mine.size ? chunks.count * pages : mine.size;
    if (holds && pages > 1 && chunks.count > 0) states_[c].fresh.replace(chunks.first, chunks.count, ours);
    if (holds && none) lock.unlock_with_nothing_left();
    if (holds && !none) lock.unlock();
    std::uint32_t const first = t.shfl(chunks.first, mine.leader);
    std::uint32_t const count = t.shfl(ours, mine.leader);
    if (asks && mine.rank < count) page = std::uint64_t{first} * pages + std::uint64_t{mine.rank} * run;
    asks = asks && page == detail::no_page;
    none = t.shfl(none, mine.leader) && asks;
    return late || chunks.count > 0;
  }

  // For lanes of classes of which there are no new pages: those that the store has, after all, or none, and they do not
  // ask any more; collective.
  template <class Tile>
  WYRM_HD void take_late(Tile const& t, unsigned c, bool& asks, bool none, std::uint64_t& page) const {
    detail::lane_group const mine = detail::group_by(t, c, none);
    std::uint32_t taken = 0;
    std::uint32_t first = 0;
    bool empty = false;
    if (mine.led_by(t.rank())) {
      queue_ends& stored = states_[c].pages;
      if (stored.number() > 0) {
        taken = stored.take(mine.size);
        stored.give_back(mine.size - taken);
        if (taken > 0) first = stored.claim_front(taken);
      }
      empty = taken == 0 && stored.is_empty();
    }
    taken = t.shfl(taken, mine.leader);
    first = t.shfl(first, mine.leader);
    bool const reads = none && mine.rank < taken;
    std::uint64_t const got = store_.take(t, pool_, c, first, reads ? mine.rank : 0, reads ? taken : 0);
    if (reads) page = got;
    if (t.shfl(empty, mine.leader) && none) asks = false;
    asks = asks && page == detail::no_page;
  }

  // Pages of the store that are in no queue, a class after the other; collective.
  template <class Tile>
  WYRM_HD void take_spilled(Tile const& t, unsigned c, bool& asks, std::uint64_t& page) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    for (std::uint32_t some = t.ballot(mine.led_by(t.rank()) && store_.has_spilled(c)); some != 0; some &= some - 1) {
      unsigned const leader = exec::first_lane(some);
      unsigned const wanted = t.shfl(c, leader);
      (void)store_.take_spilled(t, wanted, leader, mine.size, asks && c == wanted ? mine.rank : Tile::size(), page);
    }
    asks = asks && page == detail::no_page;
  }

  // How many chunks a new window for n pages or more should have: so many that it is worth the trouble, and more if the
  // class has had many. What is left of it is given to others when memory is short.
  [[nodiscard]] WYRM_HD std::uint32_t window_chunks(unsigned c, std::uint32_t n) const {
    std::uint32_t const pages = detail::pages_a_chunk(c);
    std::uint32_t const all = pool_.memory().chunks();
    std::uint64_t const carved = exec::atomic_ref<std::uint64_t>(states_[c].chunks).load(exec::relaxed);
    std::uint32_t wanted = carved < all / 16 ? static_cast<std::uint32_t>(carved) : all / 16;
    if (wanted < all / 256) wanted = all / 256;
    if (wanted > Store::window_pages / pages) wanted = Store::window_pages / pages;
    if (wanted < (n + pages - 1) / pages) wanted = (n + pages - 1) / pages;
    return wanted < page_window::max_chunks(pages) ? wanted : page_window::max_chunks(pages);
  }

  // Chunks, or runs, become class c's; collective. They are the leader's, and so is what is left of them when the store
  // has kept some for itself. False, and there are none, if it can manage no more.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool adopt(Tile const& t, unsigned c, unsigned leader, chunk_range& chunks) const {
    std::uint32_t const run = detail::run_chunks(c);
    std::uint32_t first = t.shfl(chunks.first, leader);
    std::uint32_t count = t.shfl(chunks.count, leader);
    std::uint32_t const kept = store_.keep(t, pool_, states_[c].chunks, c, leader, first, count);
    bool const room = kept != detail::no_room;
    first += room ? kept * run : 0;
    count = room ? count - kept : 0;
    for (std::uint32_t k = t.rank(); k < count; k += Tile::size()) start(c, first + k * run);
    t.sync();
    if (t.rank() == leader) chunks = {first, count};
    return room;
  }

  chunk_pool_ref pool_;
  detail::page_class_state* states_;
  Store store_;
};

namespace detail {
/// Whatever can be given to the pool without counting.
template <class Manager>
struct reclaim_all {
  Manager manager;
  WYRM_HD void operator()(std::size_t) const {
    while (manager.reclaim()) continue;
  }
};
}  // namespace detail

/// Owns the states of the classes, and the store.
template <class Space, class Store>
class manager {
 public:
  using ref_type = manager_ref<typename Store::ref_type>;
  using space_type = Space;
  using store_type = Store;
  /// Whatever the size of the pool; the slots of standard queues, and tables with an entry a chunk, come on top.
  static constexpr std::size_t bytes_a_class = sizeof(detail::page_class_state) + Store::bytes_a_class;

  manager(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space), pool_(pool), states_(space, detail::page_classes), store_(space, pool, node_log2) {
    restart();
  }

  [[nodiscard]] ref_type ref() const { return {pool_.ref(), states_.data(), store_.ref()}; }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes() + store_.bytes(); }

  void reset() {
    store_.reset(exec::copy_out(space_, states_.data(), detail::page_classes));
    restart();
  }
  /// What a pool of so many chunks needs, for grow() after the pool has grown; may throw.
  [[nodiscard]] auto prepare(std::uint32_t chunks) { return store_.prepare(chunks); }
  template <class Prepared>
  void grow(Prepared prepared) {
    store_.grow(std::move(prepared), [this](unsigned c) { return &states_.data()[c].pages; });
  }

  /// Chunks that are free go to the pool, for any class; while nobody uses it.
  void compact() {
    store_.compact(pool_.ref(), states_.data());
    exec::for_each(space_, 1024, detail::reclaim_all<ref_type>{ref()});
  }

  void report(statistics& s) const {
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      detail::page_class_state state = exec::read(space_, states_.data() + c);
      s.classes.push_back({detail::page_bytes(c), state.chunks * detail::pages_a_chunk(c),
                           state.pages.size() + store_.spilled(c) + state.fresh.left(detail::pages_a_chunk(c))});
    }
  }

  /// Takes the free pages out of `used` (one entry for each 16 bytes of the pool; true where a page of a carved chunk
  /// begins). Each of them is there, and of the class that it is free in; the counts are right.
  void check(char const* who, std::vector<std::uint32_t> const& uses, std::vector<bool>& used) const {
    std::vector<detail::page_class_state> states = exec::copy_out(space_, states_.data(), detail::page_classes);
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      detail::page_class_state& state = states[c];
      std::string const what = "class of " + std::to_string(detail::page_bytes(c)) + " bytes: ";
      std::uint32_t const pages = detail::pages_a_chunk(c);
      auto const chunks = static_cast<std::size_t>(std::count(uses.begin(), uses.end(), c));
      ensure(chunks == state.chunks, who, what + "chunks were carved but not counted");
      ensure(state.lock % 2 == 0, who, what + "the lock is held although nobody is at work");
      ensure(state.pages.number() == static_cast<std::int32_t>(state.pages.size()), who,
             what + std::to_string(state.pages.size()) + " pages stored, but " + std::to_string(state.pages.number()) +
                 " counted");
      auto const take = [&](std::uint64_t page, char const* where) {
        std::size_t const chunk = page / pages;
        if (chunk >= uses.size() || uses[chunk] != c)
          ensure(false, who, what + "a page that is " + where + " is not of this class");
        std::size_t const first = page << detail::number_log2(c) >> 4;
        if (!used[first]) ensure(false, who, what + "page " + std::to_string(page) + " is free twice");
        used[first] = false;
      };
      store_.check(who, what, c, state, uses, take);
      detail::page_range const fresh = state.fresh.take(page_window::max_pages, pages);
      for (std::uint32_t i = 0; i < fresh.count; ++i) take(fresh.first + i, "fresh");
    }
    store_.check_queues(who, states);
  }

 private:
  void restart() {
    std::vector<detail::page_class_state> const fresh(detail::page_classes);
    exec::copy_in<detail::page_class_state>(space_, states_.data(), fresh);
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::page_class_state, Space> states_;
  Store store_;
};

}  // namespace wyrm::alloc
