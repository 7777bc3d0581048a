// SPDX-License-Identifier: Apache-2.0
// The manager of Ouroboros on the device: the common part of managing pages and managing chunks (ICS 2020, section 4).
// Freed pages are in the store: page_store.hpp or chunk_store.hpp. Pages are allocated, in this order,
//  1. from the store;
//  2. from the window of the class. Its pages are fresh: not allocated since their chunks were taken from the pool;
//  3. from the pool.
// A group of lanes that fills whole chunks takes them from the pool instead of the window.
//
// Departures from the paper: fresh pages never pass through a queue, so the first use of memory costs one atomic
// addition per tile. The lanes of a tile that request the same class are served by one operation; their pages are
// adjacent if they are fresh or were freed by one tile.
//
// Which threads wait for others: the reader of an entry waits for its writer. The writer has claimed its position, and
// waits at most until the slot of a ring is empty (index_ring.hpp) or a node is published (virtual_queues_ref.hpp). A
// thread that waits for the lock of the pool waits for its holder, which waits for no other thread. No thread waits for
// the lock of a class: a tile that does not get it processes its lanes of other classes, and tries again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../sequence_lock.hpp"
#include "../size_classes.hpp"
#include "chunk_pool.hpp"
#include "class_state.hpp"
#include "concepts.hpp"

namespace wyrm::alloc {

template <detail::store_ref Store>
class manager_ref {
  using class_states = detail::class_states<typename Store::ends_type>;

 public:
  manager_ref(chunk_pool_ref const& pool, class_states states, Store const& store)
      : pool_(pool), states_(states), store_(store) {}

  /// Returns the number of a page of class c to each lane with `asks`, or no_page; collective.
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
    if (t.any(asks && page == detail::no_page)) page = allocate_slow(t, c, asks && page == detail::no_page, page);
    return page;
  }

  /// Carves n pages of class c for each lane: first the pages that are left in the window of the class (`in_window`),
  /// then adjacent pages of new chunks (`in_chunks`); for all lanes or for none. No two lanes with n > 0 have the same
  /// class, and a chunk of each class has several pages. To be called while no other thread uses the pool; collective.
  /// Returns the number of chunks that the pool lacks, 0 on success; it fails for no other reason.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t carve(Tile const& t, unsigned c, std::uint32_t n, detail::page_range& in_window,
                                            detail::page_range& in_chunks) const {
    std::uint32_t const pages = detail::pages_per_chunk(c);
    page_window& window = states_[c].fresh;
    std::uint32_t const left = n > 0 ? window.left(pages) : 0;
    std::uint32_t const rest = n > left ? n - left : 0;
    std::uint32_t const chunks = rest / pages + (rest % pages > 0);
    std::uint32_t const nodes = chunks > 0 ? store_.nodes_lacking(states_[c].chunks, c, chunks, false) : 0;
    std::uint32_t const before = exec::sum_below(t, nodes + chunks);
    std::uint32_t const all = t.shfl(before + nodes + chunks, t.size() - 1);
    std::uint32_t first = 0;
    std::uint32_t missing = 0;
    if (t.rank() == 0 && all > 0) first = pool_.take_exclusive(all, missing).first;
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
    in_window = n > rest ? window.take(n - rest, pages) : detail::page_range{0, 0, 0};
    in_chunks = {first, 0, rest};
    record_uses(t, c, in_window.chunk + in_window.first / pages,
                in_window.count > 0 ? chunks_between(in_window, pages) : 0);
    record_uses(t, c, first, chunks);
    if (chunks > 0) exec::atomic_ref<std::uint64_t>(states_[c].chunks).fetch_add(chunks, exec::relaxed);
    if (rest % pages > 0) window.replace(first + chunks - 1, 1, rest % pages);
    return 0;
  }

  /// A run of chunks for a request beyond the largest page; one thread.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* allocate_large(std::size_t bytes) const {
    for (;;) {
      void* const p = pool_.allocate(bytes);
      if (p != nullptr || !reclaim(exec::scalar_tile{})) return p;
    }
  }

  /// Frees a page of class c for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, unsigned c, std::uint64_t page, bool has) const {
    store_.free(t, pool_, states_, c, page, has);
  }

  /// Returns free chunks of any class to the pool; collective. False if none was found.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool reclaim(Tile const t) const {
    bool some = false;
    for (unsigned from = 0; detail::pages_per_chunk(from) > 1; from += t.size()) {
      unsigned const c = from + t.rank();
      chunk_range rest{0, 0};
      if (c < detail::page_classes && detail::pages_per_chunk(c) > 1)
        rest = states_[c].fresh.truncate(detail::pages_per_chunk(c));
      if (rest.count > 0) exec::atomic_ref<std::uint64_t>(states_[c].chunks).fetch_sub(rest.count, exec::acq_rel);
      std::uint32_t const lanes = t.ballot(rest.count > 0);
      extent_ref::one_by_one(t, lanes, [&] { pool_.memory().return_chunks(rest.first, rest.count); });
      some = some || lanes != 0;
    }
    return some || store_.reclaim(t, pool_, states_);
  }

 private:
  // For lanes whose requests the store has counted, but for which it had no page: a fresh page, or a page that was
  // freed meanwhile, or no_page; all classes at the same time; collective. A lane gets no_page only if there was a
  // moment without a fresh page, and then a later moment without an unclaimed page in the store.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint64_t allocate_slow(Tile const t, unsigned c, bool asks,
                                                                  std::uint64_t page) const {
    // The requests are cancelled first: otherwise pending requests of two tiles could hide free pages of two classes
    // from each other.
    detail::lane_group const all = detail::group_by(t, c, asks);
    if (all.led_by(t.rank())) states_[c].pages.uncount(all.size);
    sequence_lock lock(states_[asks ? c : 0].lock);
    for (unsigned attempt = 0;; ++attempt) {
      take_fresh(t, c, asks, page);
      if (!t.any(asks)) return page;
      bool none = false;
      bool const again = carve_chunks(t, lock, c, asks, page, none);
      if (t.any(none)) take_stored(t, c, asks, none, page);
      if (!t.any(asks)) return page;
      if (t.any(again)) continue;
      take_spilled(t, c, asks, page);
      if (!t.any(asks)) return page;
      // The pauses are long from the start, because many lanes wait, and each poll delays the threads for which they
      // wait.
      exec::pause(4 + attempt);
    }
  }

  // Fresh pages for lanes with `asks`, if no lock is needed: whole chunks for a group that fills them, else pages of
  // the window of the class; collective. `asks` becomes false in lanes that get a page.
  template <class Tile>
  WYRM_HD void take_fresh(Tile const& t, unsigned c, bool& asks, std::uint64_t& page) const {
    // Copies in registers: loads after an acquire would not be served by the L1 cache.
    chunk_pool_ref const pool = pool_;
    class_states const states = states_;
    detail::lane_group const mine = detail::group_by(t, c, asks);
    bool const leads = mine.led_by(t.rank());
    std::uint32_t const pages = asks ? detail::pages_per_chunk(c) : 1;
    std::uint32_t fills = leads && detail::run_chunks(c) == 1 ? mine.size / pages : 0;
    std::uint32_t rest = leads && pages > 1 ? mine.size % pages : 0;
    bool const carves = t.any(fills > 0);
    // First all loads, then all additions, so that their latencies overlap: each goes to a contended word.
    chunk_pool_ref::look const pool_now = pool.look_at(carves);
    std::uint64_t window_now = rest > 0 ? states[c].fresh.load() : 0;
    if (fills > 0 && pages > 1 && !pool_now.has_some()) {
      fills = 0;
      rest = mine.size;
      window_now = states[c].fresh.load();
    }
    chunk_range chunks{0, 0};
    if (carves) chunks = carve(t, c, fills, pool, pool_now);
    detail::page_range single{0, 0, 0};
    if (page_window::left(window_now, pages) > 0) single = states[c].fresh.take(rest, pages);
    chunks.first = t.shfl(chunks.first, mine.leader);
    std::uint32_t const in_chunks = t.shfl(chunks.count, mine.leader) * pages;
    single.chunk = t.shfl(single.chunk, mine.leader);
    single.first = t.shfl(single.first, mine.leader);
    single.count = t.shfl(single.count, mine.leader);
    if (asks && mine.rank < in_chunks) {
      page = detail::nth_page(c, chunks.first, mine.rank);
    } else if (asks && mine.rank - in_chunks < single.count) {
      page = detail::nth_page(c, single.chunk, single.first + (mine.rank - in_chunks));
    }
    record_use(pool, c, page, asks && page != detail::no_page, mine.rank == in_chunks);
    asks = asks && page == detail::no_page;
    t.sync();
  }
  WYRM_HD static std::uint32_t chunks_between(detail::page_range const& range, std::uint32_t pages) {
    return (range.first + range.count - 1) / pages - range.first / pages + 1;
  }
  // Records for each lane that n chunks are of class c: all lanes work on the chunks of one lane at a time.
  template <class Tile>
  WYRM_HD void record_uses(Tile const& t, unsigned c, std::uint32_t first, std::uint32_t n) const {
    for (std::uint32_t lanes = t.ballot(n > 0); lanes != 0; lanes &= lanes - 1) {
      unsigned const lane = exec::first_lane(lanes);
      pool_.set_uses(t, t.shfl(first, lane), t.shfl(n, lane), t.shfl(c, lane));
    }
  }
  // Records the class of a chunk, for the threads that free its pages. Each thread that allocates pages does this, so
  // that replacing a window records nothing.
  WYRM_HD static void record_use(chunk_pool_ref const& pool, unsigned c, std::uint64_t page, bool has, bool is_first) {
    if (has && (is_first || detail::index_of_page(c, page) == 0)) pool.set_use(detail::chunk_of_page(c, page), c);
  }
  // Up to `wanted` chunks for class c; no two lanes that want chunks have the same class; collective. No lane waits. A
  // lane gets none if the store needs some of the chunks for nodes.
  template <class Tile>
  [[nodiscard]] WYRM_HD chunk_range carve(Tile const& t, unsigned c, std::uint32_t wanted, chunk_pool_ref const& pool,
                                          chunk_pool_ref::look const& left) const {
    if (wanted > 0 && !store_.count_carved(states_[c].chunks, c, wanted)) wanted = 0;
    std::uint32_t const before = exec::sum_below(t, wanted);
    std::uint32_t const all = t.shfl(before + wanted, t.size() - 1);
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

  // The first lane of each class carves a window, if it gets the lock of the class, or chunks that are pages;
  // collective. True for this lane if there are new pages, also if another thread carved them. `none` becomes true for
  // all lanes of a class if this lane, or the thread that held the lock before, found no chunk at some moment of
  // allocate_slow().
  template <class Tile>
  [[nodiscard]] WYRM_HD bool carve_chunks(Tile const& t, sequence_lock& lock, unsigned c, bool& asks,
                                          std::uint64_t& page, bool& none) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    std::uint32_t const pages = asks ? detail::pages_per_chunk(c) : 1;
    found_chunks found = find_chunks(t, lock, c, mine, none);
    std::uint32_t ours = 0;
    for (std::uint32_t lanes = t.ballot(found.chunks.count > 0); lanes != 0; lanes &= lanes - 1) {
      unsigned const leader = exec::first_lane(lanes);
      assign_chunks(t, t.shfl(c, leader), leader, found.chunks);
      if (t.rank() != leader) continue;
      // The lanes of this tile get the first pages of a window before it is published. Otherwise, when memory is short,
      // two tiles might reclaim each other's windows forever.
      ours = found.chunks.count * pages < mine.size ? found.chunks.count * pages : mine.size;
      if (!found.holds) continue;
      if (pages > 1 && found.chunks.count > 0) states_[c].fresh.replace(found.chunks.first, found.chunks.count, ours);
      release(lock, none);
      found.holds = false;
    }
    if (found.holds) release(lock, none);
    std::uint32_t const first = t.shfl(found.chunks.first, mine.leader);
    std::uint32_t const count = t.shfl(ours, mine.leader);
    if (asks && mine.rank < count) page = detail::nth_page(c, first, mine.rank);
    record_use(pool_, c, page, asks && mine.rank < count, mine.rank == 0);
    t.sync();
    asks = asks && page == detail::no_page;
    none = t.shfl(none, mine.leader) && asks;
    return found.others_did || found.chunks.count > 0;
  }
  WYRM_HD static void release(sequence_lock& lock, bool none) {
    if (none)
      lock.unlock_exhausted();
    else
      lock.unlock();
  }

  // The result of find_chunks(): free chunks, or the information that another thread has carved some.
  struct found_chunks {
    chunk_range chunks{0, 0};
    bool holds = false;
    bool others_did = false;
  };
  template <class Tile>
  [[nodiscard]] WYRM_HD found_chunks find_chunks(Tile const& t, sequence_lock& lock, unsigned c,
                                                 detail::lane_group const& mine, bool& none) const {
    bool const leads = mine.led_by(t.rank());
    std::uint32_t const pages = leads ? detail::pages_per_chunk(c) : 1;
    std::uint32_t const run = leads ? detail::run_chunks(c) : 1;
    found_chunks found;
    // Groups that fill whole chunks, and requests for runs of chunks, need no window, and need the lock only if there
    // are no chunks. (If the store needs chunks for nodes, they get here although the pool has chunks.)
    if (leads && run == 1 && mine.size >= pages) found.chunks = pool_.try_take(mine.size / pages);
    extent_ref::one_by_one(t, t.ballot(run > 1), [&] { found.chunks = pool_.memory().try_take_runs(mine.size, run); });
    sequence_lock::outcome const outcome =
        leads && found.chunks.count == 0 ? lock.try_take() : sequence_lock::outcome::wait;
    none = outcome == sequence_lock::outcome::exhausted;
    found.holds = outcome == sequence_lock::outcome::taken;
    found.others_did = found.holds && pages > 1 && states_[c].fresh.left(pages) > 0;
    if (found.others_did) lock.unlock();
    found.holds = found.holds && !found.others_did;
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

  // For lanes of classes without fresh pages: pages that were freed into the store meanwhile; collective. `asks`
  // becomes false in lanes that get a page, and in lanes that find the store empty.
  template <class Tile>
  WYRM_HD void take_stored(Tile const& t, unsigned c, bool& asks, bool none, std::uint64_t& page) const {
    detail::lane_group const mine = detail::group_by(t, c, none);
    std::uint32_t taken = 0;
    std::uint32_t first = 0;
    bool empty = false;
    if (mine.led_by(t.rank())) {
      auto& stored = states_[c].pages;
      if (stored.number() > 0) {
        taken = stored.take(mine.size);
        stored.uncount(mine.size - taken);
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

  // Pages of the store that are in no queue, one class at a time; collective.
  template <class Tile>
  WYRM_HD void take_spilled(Tile const& t, unsigned c, bool& asks, std::uint64_t& page) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    for (std::uint32_t some = t.ballot(mine.led_by(t.rank()) && store_.has_spilled(c)); some != 0; some &= some - 1) {
      unsigned const leader = exec::first_lane(some);
      unsigned const wanted = t.shfl(c, leader);
      (void)store_.take_spilled(t, wanted, leader, mine.size, asks && c == wanted ? mine.rank : t.size(), page);
    }
    asks = asks && page == detail::no_page;
  }

  // The number of chunks of a new window for n pages or more: as many as the class has, but at least 1/256 and at most
  // 1/16 of the pool; at least enough for n pages; at most as many as a window can have. When memory is short, the
  // unused rest of a window returns to the pool, for any class.
  [[nodiscard]] WYRM_HD std::uint32_t window_chunks(unsigned c, std::uint32_t n) const {
    std::uint32_t const pages = detail::pages_per_chunk(c);
    std::uint32_t const all = pool_.memory().chunks();
    std::uint64_t const carved = exec::atomic_ref<std::uint64_t>(states_[c].chunks).load(exec::relaxed);
    std::uint32_t wanted = carved < all / 16 ? static_cast<std::uint32_t>(carved) : all / 16;
    if (wanted < all / 256) wanted = all / 256;
    if (wanted < (n + pages - 1) / pages) wanted = (n + pages - 1) / pages;
    return wanted < page_window::max_chunks(pages) ? wanted : page_window::max_chunks(pages);
  }

  // Assigns the leader's chunks, or runs, to class c; collective. The store may turn the first of them into nodes;
  // `chunks` of the leader becomes the remaining chunks.
  template <class Tile>
  WYRM_HD void assign_chunks(Tile const& t, unsigned c, unsigned leader, chunk_range& chunks) const {
    std::uint32_t const run = detail::run_chunks(c);
    std::uint32_t const first = t.shfl(chunks.first, leader);
    std::uint32_t const count = t.shfl(chunks.count, leader);
    std::uint32_t const kept = store_.add_chunks(t, pool_, states_[c].chunks, c, leader, first, count);
    if (t.rank() == leader) chunks = {first + kept * run, count - kept};
  }

  chunk_pool_ref pool_;
  class_states states_;
  Store store_;
};

}  // namespace wyrm::alloc
