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
#include "../size_classes.hpp"
#include "chunk_pool.hpp"
#include "page_window.hpp"
#include "queue_ends.hpp"

namespace wyrm::alloc {

namespace detail {

inline constexpr std::uint64_t no_page = ~std::uint64_t{0};

/// What changes on the device, a class; Ends: see the store. An H200 adds about once a nanosecond to what lies in one
/// block of 256 bytes, and to all others at the same time: who takes from the store, and who takes what is new, are in
/// different blocks; what is looked at, and not added to, has lines of its own.
template <class Ends>
struct alignas(256) page_class_state {
  Ends pages;            // in the store; their positions too, where the queue holds pages
  std::uint64_t chunks;  // carved for this class, and not given back
  page_window fresh;
  alignas(128) std::uint64_t lock;  // guards the replacement of the window
};
static_assert(sizeof(page_class_state<queue_ends>) == 512 && sizeof(page_class_state<page_counts>) == 512);

/// Of all classes. Some neighbouring ones share what adds, as it were one block, and neighbouring sizes are often
/// wanted at a time: so a small class lies between two large ones.
template <class Ends>
struct class_states {
  page_class_state<Ends>* slots;
  WYRM_HD static constexpr unsigned slot(unsigned c) {
    constexpr unsigned half = (page_classes + 1) / 2;
    return c < half ? 2 * c : 2 * (c - half) + 1;
  }
  WYRM_HD page_class_state<Ends>& operator[](unsigned c) const { return slots[slot(c)]; }
};

}  // namespace detail

template <class Store>
class manager_ref {
  using class_states = detail::class_states<typename Store::ends_type>;

 public:
  manager_ref(chunk_pool_ref const& pool, class_states states, Store const& store)
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

  /// For each lane n pages of class c, for which pages share chunks, and which is no other lane's: those that its
  /// window has left, and then neighbours; for all lanes or for none. While nobody else uses the pool; collective.
  /// Returns of how many chunks the pool is short; no class has a limit of its own.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t carve(Tile const& t, unsigned c, std::uint32_t n, detail::page_range& in_window,
                                            detail::page_range& in_chunks) const {
    std::uint32_t const pages = detail::pages_a_chunk(c);
    page_window& window = states_[c].fresh;
    std::uint32_t const left = n > 0 ? window.left(pages) : 0;
    std::uint32_t const rest = n > left ? n - left : 0;
    std::uint32_t const chunks = rest / pages + (rest % pages > 0);
    std::uint32_t const nodes = chunks > 0 ? store_.nodes_lacking(states_[c].chunks, c, chunks, false) : 0;
    std::uint32_t const before = exec::sum_below(t, nodes + chunks);
    std::uint32_t const all = t.shfl(before + nodes + chunks, Tile::size() - 1);
    std::uint32_t first = 0;
    std::uint32_t missing = 0;
    if (t.rank() == 0 && all > 0) first = pool_.memory().take_new(all, missing).first;
    if (t.any(missing > 0)) {
      std::uint32_t const most = chunks > 0 ? store_.nodes_lacking(states_[c].chunks, c, chunks, true) : 0;
      return t.shfl(missing, 0) + exec::sum(t, most - nodes);
    }
    first = t.shfl(first, 0) + before;
    for (std::uint32_t lanes = t.ballot(nodes > 0); lanes != 0; lanes &= lanes - 1) {
      unsigned const leader = exec::first_lane(lanes);
      store_.add_nodes(t, pool_, t.shfl(c, leader), leader, t.shfl(first, leader), t.shfl(nodes, leader));
    }
    first += nodes;
    in_window = n > rest ? window.cut(n - rest, pages) : detail::page_range{0, 0};
    in_chunks = {std::uint64_t{first} * pages, rest};
    mark_all(t, c, static_cast<std::uint32_t>(in_window.first / pages),
             in_window.count > 0 ? chunks_between(in_window, pages) : 0);
    mark_all(t, c, first, chunks);
    if (chunks > 0) exec::atomic_ref<std::uint64_t>(states_[c].chunks).fetch_add(chunks, exec::relaxed);
    if (rest % pages > 0) window.replace(first + chunks - 1, 1, rest % pages);
    return 0;
  }

  /// A run for a request that no class serves; one thread.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* allocate_large(std::size_t bytes) const {
    for (;;) {
      void* const p = pool_.allocate(bytes);
      if (p != nullptr || !reclaim(exec::scalar_tile{})) return p;
    }
  }

  /// Frees a page of class c for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, unsigned c, std::uint64_t page, bool has) const {
    store_.put(t, pool_, states_, c, page, has);
  }

  /// Gives free chunks of any class to the pool; collective. False if there seem to be none.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool reclaim(Tile const t) const {
    bool some = false;
    for (unsigned from = 0; detail::pages_a_chunk(from) > 1; from += Tile::size()) {
      unsigned const c = from + t.rank();
      chunk_range rest{0, 0};
      if (c < detail::page_classes && detail::pages_a_chunk(c) > 1)
        rest = states_[c].fresh.shorten(detail::pages_a_chunk(c));
      if (rest.count > 0) exec::atomic_ref<std::uint64_t>(states_[c].chunks).fetch_sub(rest.count, exec::acq_rel);
      std::uint32_t const lanes = t.ballot(rest.count > 0);
      extent_ref::one_by_one(t, lanes, [&] { pool_.memory().give(rest.first, rest.count); });
      some = some || lanes != 0;
    }
    return some || store_.reclaim(t, pool_, states_);
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
    // In registers: what is read after an acquire comes from far away.
    chunk_pool_ref const pool = pool_;
    class_states const states = states_;
    detail::lane_group const mine = detail::group_by(t, c, asks);
    bool const leads = mine.led_by(t.rank());
    std::uint32_t const pages = asks ? detail::pages_a_chunk(c) : 1;
    std::uint32_t fills = leads && detail::run_chunks(c) == 1 ? mine.size / pages : 0;
    std::uint32_t rest = leads && pages > 1 ? mine.size % pages : 0;
    bool const carves = t.any(fills > 0);
    // All looks at a time, and then all additions: each is a way to a place where many are.
    chunk_pool_ref::look const pool_now = pool.look_at(carves);
    std::uint64_t window_now = rest > 0 ? states[c].fresh.look() : 0;
    if (fills > 0 && pages > 1 && !pool_now.has_some()) {
      fills = 0;
      rest = mine.size;
      window_now = states[c].fresh.look();
    }
    chunk_range chunks{0, 0};
    if (carves) chunks = carve(t, c, fills, pool, pool_now);
    detail::page_range single{0, 0};
    if (page_window::left(window_now, pages) > 0) single = states[c].fresh.cut(rest, pages);
    chunks.first = t.shfl(chunks.first, mine.leader);
    std::uint32_t const in_chunks = t.shfl(chunks.count, mine.leader) * pages;
    single.first = t.shfl(single.first, mine.leader);
    single.count = t.shfl(single.count, mine.leader);
    if (asks && mine.rank < in_chunks) {
      page = std::uint64_t{chunks.first} * pages + mine.rank;
    } else if (asks && mine.rank - in_chunks < single.count) {
      page = single.first + (mine.rank - in_chunks);
    }
    mark(pool, c, pages, page, asks && page != detail::no_page, mine.rank == in_chunks);
    asks = asks && page == detail::no_page;
    t.sync();
  }
  WYRM_HD static std::uint32_t chunks_between(detail::page_range const& range, std::uint32_t pages) {
    return static_cast<std::uint32_t>((range.first + range.count - 1) / pages - range.first / pages + 1);
  }
  // For each lane, that n chunks are class c's: by all lanes, one lane's chunks after the other's.
  template <class Tile>
  WYRM_HD void mark_all(Tile const& t, unsigned c, std::uint32_t first, std::uint32_t n) const {
    for (std::uint32_t lanes = t.ballot(n > 0); lanes != 0; lanes &= lanes - 1) {
      unsigned const lane = exec::first_lane(lanes);
      pool_.mark_all(t, t.shfl(first, lane), t.shfl(n, lane), t.shfl(c, lane));
    }
  }
  // Whose a chunk is, for who frees its pages: said by everybody who hands some out, so that windows cost nothing.
  WYRM_HD static void mark(chunk_pool_ref const& pool, unsigned c, std::uint32_t pages, std::uint64_t page, bool has,
                           bool is_first) {
    if (has && (is_first || page % pages == 0)) pool.mark(static_cast<std::uint32_t>(page / pages), c);
  }
  // So many chunks for class c, one of those that have a different class each, or fewer: no lane waits, and the store
  // must want none of them for itself; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD chunk_range carve(Tile const& t, unsigned c, std::uint32_t wanted, chunk_pool_ref const& pool,
                                          chunk_pool_ref::look const& left) const {
    if (wanted > 0 && !store_.count_carved(states_[c].chunks, c, wanted)) wanted = 0;
    std::uint32_t const before = exec::sum_below(t, wanted);
    std::uint32_t const all = t.shfl(before + wanted, Tile::size() - 1);
    chunk_range got{0, 0};
    if (t.rank() == 0 && all > 0) got = pool.try_take(all, left);
    got.first = t.shfl(got.first, 0) + before;
    got.count = t.shfl(got.count, 0);
    got.count = got.count > before ? got.count - before : 0;
    if (got.count > wanted) got.count = wanted;
    if (got.count < wanted)
      exec::atomic_ref<std::uint64_t>(states_[c].chunks).fetch_sub(wanted - got.count, exec::relaxed);
    return got;
  }

  // The first lane of each class carves a window, if it gets the lock, or pages that are chunks; collective. True for
  // it if there are some, also if somebody was faster; and all lanes of a class are told if it, or who had the lock
  // before, found `none` at some moment of bring().
  template <class Tile>
  [[nodiscard]] WYRM_HD bool bring_chunks(Tile const& t, sequence_lock& lock, unsigned c, bool& asks,
                                          std::uint64_t& page, bool& none) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    std::uint32_t const pages = asks ? detail::pages_a_chunk(c) : 1;
    std::uint32_t const run = asks ? detail::run_chunks(c) : 1;
    found_chunks found = find_chunks(t, lock, c, mine, none);
    std::uint32_t ours = 0;
    for (std::uint32_t lanes = t.ballot(found.chunks.count > 0); lanes != 0; lanes &= lanes - 1) {
      unsigned const leader = exec::first_lane(lanes);
      adopt(t, t.shfl(c, leader), leader, found.chunks);
      if (t.rank() != leader) continue;
      // The first pages of a window are ours before others see it: when memory is short they might take it away again,
      // and we theirs, for ever.
      ours = found.chunks.count * pages < mine.size ? found.chunks.count * pages : mine.size;
      if (!found.holds) continue;
      if (pages > 1 && found.chunks.count > 0) states_[c].fresh.replace(found.chunks.first, found.chunks.count, ours);
      release(lock, none);
      found.holds = false;
    }
    if (found.holds) release(lock, none);
    std::uint32_t const first = t.shfl(found.chunks.first, mine.leader);
    std::uint32_t const count = t.shfl(ours, mine.leader);
    if (asks && mine.rank < count) page = std::uint64_t{first} * pages + std::uint64_t{mine.rank} * run;
    mark(pool_, c, pages, page, asks && mine.rank < count, mine.rank == 0);
    t.sync();
    asks = asks && page == detail::no_page;
    none = t.shfl(none, mine.leader) && asks;
    return found.late || found.chunks.count > 0;
  }
  WYRM_HD static void release(sequence_lock& lock, bool none) {
    if (none)
      lock.unlock_with_nothing_left();
    else
      lock.unlock();
  }

  // What the first lane of a class has got: chunks of nobody's, maybe with the lock; or somebody was faster.
  struct found_chunks {
    chunk_range chunks{0, 0};
    bool holds = false;
    bool late = false;
  };
  template <class Tile>
  [[nodiscard]] WYRM_HD found_chunks find_chunks(Tile const& t, sequence_lock& lock, unsigned c,
                                                 detail::lane_group const& mine, bool& none) const {
    bool const leads = mine.led_by(t.rank());
    std::uint32_t const pages = leads ? detail::pages_a_chunk(c) : 1;
    std::uint32_t const run = leads ? detail::run_chunks(c) : 1;
    found_chunks found;
    // Lanes that fill chunks, or runs of them, need no window: the lock only for what is not found easily. (They come
    // here although the pool has chunks if the store wants some for itself.)
    if (leads && run == 1 && mine.size >= pages) found.chunks = pool_.try_take(mine.size / pages);
    extent_ref::one_by_one(t, t.ballot(run > 1), [&] { found.chunks = pool_.memory().try_take_runs(mine.size, run); });
    sequence_lock::outcome const outcome =
        leads && found.chunks.count == 0 ? lock.try_take() : sequence_lock::outcome::wait;
    none = outcome == sequence_lock::outcome::nothing_left;
    found.holds = outcome == sequence_lock::outcome::taken;
    found.late = found.holds && pages > 1 && states_[c].fresh.left(pages) > 0;
    if (found.late) lock.unlock();
    found.holds = found.holds && !found.late;
    std::uint32_t const wanted = found.holds && pages > 1 ? window_chunks(c, mine.size) : mine.size;
    if (found.holds && pages > 1) found.chunks = pool_.try_take(wanted);
    for (std::uint32_t lanes = t.ballot(found.holds && found.chunks.count == 0); lanes != 0; lanes &= lanes - 1) {
      bool const searches = t.rank() == exec::first_lane(lanes);
      for (bool again = true; again;) {
        if (searches) found.chunks = pool_.take_runs(wanted, run);
        none = searches ? found.chunks.count == 0 && !store_.has_spilled(c) : none;
        again = t.any(searches && none) && reclaim(t);
      }
    }
    return found;
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
      auto& stored = states_[c].pages;
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
    if (wanted < (n + pages - 1) / pages) wanted = (n + pages - 1) / pages;
    return wanted < page_window::max_chunks(pages) ? wanted : page_window::max_chunks(pages);
  }

  // Chunks, or runs, become class c's; collective. They are the leader's, and so is what is left of them when the store
  // has kept some for itself.
  template <class Tile>
  WYRM_HD void adopt(Tile const& t, unsigned c, unsigned leader, chunk_range& chunks) const {
    std::uint32_t const run = detail::run_chunks(c);
    std::uint32_t const first = t.shfl(chunks.first, leader);
    std::uint32_t const count = t.shfl(chunks.count, leader);
    std::uint32_t const kept = store_.keep(t, pool_, states_[c].chunks, c, leader, first, count);
    if (t.rank() == leader) chunks = {first + kept * run, count - kept};
  }

  chunk_pool_ref pool_;
  class_states states_;
  Store store_;
};

namespace detail {
/// Whatever can be given to the pool without counting.
template <class Manager>
struct reclaim_all {
  Manager manager;
  WYRM_HD void operator()(std::size_t) const {
    while (manager.reclaim(exec::scalar_tile{})) continue;
  }
};
}  // namespace detail

/// Owns the states of the classes, and the store.
template <class Space, class Store>
class manager {
  using class_state = detail::page_class_state<typename Store::ref_type::ends_type>;
  using class_states = detail::class_states<typename Store::ref_type::ends_type>;

 public:
  using ref_type = manager_ref<typename Store::ref_type>;
  using space_type = Space;
  using store_type = Store;
  /// Whatever the size of the pool; the slots of standard queues, and tables with an entry a chunk, come on top.
  static constexpr std::size_t bytes_a_class = sizeof(class_state) + Store::bytes_a_class;

  manager(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space), pool_(pool), states_(space, detail::page_classes), store_(space, pool, node_log2) {
    restart();
  }

  [[nodiscard]] ref_type ref() const { return {pool_.ref(), on_device(), store_.ref()}; }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes() + store_.bytes(); }

  void reset() {
    store_.reset(states());
    restart();
  }
  /// What a pool of so many chunks needs, for grow() after the pool has grown; may throw.
  [[nodiscard]] auto prepare(std::uint32_t chunks) { return store_.prepare(chunks); }
  template <class Prepared>
  void grow(Prepared prepared) {
    store_.grow(std::move(prepared), [this](unsigned c) { return &on_device()[c].pages; });
  }

  /// Chunks that are free go to the pool, for any class; while nobody uses it.
  void compact() {
    store_.compact(pool_.ref(), on_device());
    exec::for_each(space_, 1024, detail::reclaim_all<ref_type>{ref()});
  }

  void report(statistics& s) const {
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      class_state state = exec::read(space_, &on_device()[c]);
      s.classes.push_back({detail::page_bytes(c), state.chunks * detail::pages_a_chunk(c),
                           state.pages.size() + store_.spilled(c) + state.fresh.left(detail::pages_a_chunk(c))});
    }
  }

  /// Adds to what chunks are used for those that nobody has had a page of yet.
  void add_windows(std::vector<std::uint32_t>& uses) const {
    std::vector<class_state> states = this->states();
    for (unsigned c = 0; detail::pages_a_chunk(c) > 1; ++c) {
      chunk_range const rest = states[c].fresh.shorten(detail::pages_a_chunk(c));
      for (std::uint32_t k = 0; k < rest.count; ++k) uses.at(rest.first + k) = c;
    }
  }

  /// Takes the free pages out of `used` (one entry for each 16 bytes of the pool; true where a page of a carved chunk
  /// begins). Each of them is there, and of the class that it is free in; the counts are right.
  void check(char const* who, std::vector<std::uint32_t> const& uses, std::vector<bool>& used) const {
    std::vector<class_state> states = this->states();
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      class_state& state = states[c];
      std::string const what = "class of " + std::to_string(detail::page_bytes(c)) + " bytes: ";
      std::uint32_t const pages = detail::pages_a_chunk(c);
      auto const chunks = static_cast<std::size_t>(std::count(uses.begin(), uses.end(), c));
      ensure(chunks == state.chunks, who, what + "chunks were carved but not counted");
      ensure(state.lock % 2 == 0, who, what + "the lock is held although nobody is at work");
      ensure(state.pages.number() >= 0 && static_cast<std::uint64_t>(state.pages.number()) == state.pages.size(), who,
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
      detail::page_range const fresh = state.fresh.cut(page_window::max_pages, pages);
      for (std::uint32_t i = 0; i < fresh.count; ++i) take(fresh.first + i, "fresh");
    }
    store_.check_queues(who, states);
  }

 private:
  [[nodiscard]] class_states on_device() const { return class_states{states_.data()}; }
  // A copy; class c's at c.
  [[nodiscard]] std::vector<class_state> states() const {
    auto const slots = exec::copy_out(space_, states_.data(), detail::page_classes);
    std::vector<class_state> all;
    for (unsigned c = 0; c < detail::page_classes; ++c) all.push_back(slots[class_states::slot(c)]);
    return all;
  }
  void restart() {
    std::vector<class_state> const fresh(detail::page_classes);
    exec::copy_in<class_state>(space_, states_.data(), fresh);
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<class_state, Space> states_;
  Store store_;
};

}  // namespace wyrm::alloc
