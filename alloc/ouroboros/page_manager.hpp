// SPDX-License-Identifier: Apache-2.0
// Pages in the queue (Ouroboros, ICS 2020, section 4.1, Algorithm 3): the pages of a class that were freed wait in its
// queue. Pages come, in this order, from the queue; from a window of chunks that were carved for the class and that
// nobody has had yet; from the pool. Departures: fresh pages never go through the queue, so the first use of memory
// costs one atomic addition a tile; the lanes of a tile that want the same class are served together, by neighbouring
// pages where they are fresh or were freed together; pages that the queue has no room for, which happens when the pool
// has no chunk for a node, are kept in a list through the pages themselves.
//
// Who waits for whom: for an entry of the queue, on its writer, who has claimed its position and waits for nobody; for
// the lock of a class, on its holder, who waits at most for the lock of the pool. Never on a lane of one's own tile: a
// lane leads for all of its class, and the locks of two classes are taken one after the other.
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

/// What changes on the device, a class.
struct alignas(128) page_class_state {
  queue_ends ends;
  page_window fresh;
  std::uint64_t spilled;  // the first page of the list + 1; 0: none
  std::uint64_t spilled_count;
  std::uint64_t chunks;  // carved for this class
  std::uint64_t lock;    // guards the list and the replacement of the window
};

}  // namespace detail

template <class Queues>
class page_manager_ref {
 public:
  page_manager_ref(chunk_pool_ref const& pool, detail::page_class_state* states, Queues const& queues)
      : pool_(pool), states_(states), queues_(queues) {}

  static constexpr std::uint64_t no_page = ~std::uint64_t{0};

  /// A page of class c for each lane that asks, or no_page; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t allocate(Tile const& t, unsigned c, bool asks) const {
    detail::lane_group const mine = detail::group_by(t, c, asks);
    bool const leads = mine.led_by(t.rank());
    std::uint32_t taken = 0;
    std::uint32_t first = 0;
    if (leads) {
      taken = states_[c].ends.take(mine.size);
      if (taken > 0) first = states_[c].ends.claim_front(taken);
    }
    taken = t.shfl(taken, mine.leader);
    first = t.shfl(first, mine.leader);
    std::uint64_t page = no_page;
    page = read(t, c, first + mine.rank, mine.rank, asks ? taken : 0);
    // The rest, a class after the other. What the ends count as looked for is given back before anything else is tried,
    // or two tiles could keep free pages of two classes from each other.
    for (bool const again : {false, true})
      for (std::uint32_t waiting = t.ballot(asks && page == no_page); waiting != 0;) {
        unsigned const leader = exec::first_lane(waiting);
        unsigned const wanted = t.shfl(c, leader);
        std::uint32_t const lanes = t.ballot(asks && page == no_page && c == wanted);
        bring(t, wanted, lanes, again, page);
        waiting &= ~lanes;
      }
    return page;
  }

  /// Frees a page of class c for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, unsigned c, std::uint64_t page, bool has) const {
    detail::lane_group const mine = detail::group_by(t, c, has);
    bool const leads = mine.led_by(t.rank());
    bool room = queues_.reserve(t, pool_, states_[leads ? c : 0].ends, leads, c, mine.size);
    std::uint32_t first = 0;
    if (room) first = states_[c].ends.claim_back(mine.size);
    room = t.shfl(room, mine.leader) && has;
    first = t.shfl(first, mine.leader);
    if (room) queues_.put(c, first + mine.rank, page);
    if (t.any(has && !room)) spill(t, c, page, mine, has && !room);
  }

 private:
  struct range {
    std::uint64_t first;
    std::uint32_t count;
  };

  // The entries of the queue that a group of lanes has taken, n in all, mine at this position; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t read(Tile const& t, unsigned c, std::uint32_t position, std::uint32_t rank,
                                           std::uint32_t n) const {
    std::uint64_t page = no_page;
    std::uint32_t chunk = 0;
    if (rank < n) page = queues_.take(c, position, chunk);
    queues_.finish(t, pool_, c, chunk, position, rank, rank < n ? n : 0);
    return page;
  }

  // Pages for these lanes, which want class c and found none in the queue; collective. The first time they are counted
  // in the ends, and look once for pages that nobody has had yet. The second time they look everywhere, and give up
  // only if at one moment there was no such page, and then at another none in the queue that nobody had claimed.
  template <class Tile>
  WYRM_HD void bring(Tile const& t, unsigned c, std::uint32_t lanes, bool again, std::uint64_t& page) const {
    queue_ends& ends = states_[c].ends;
    unsigned const leader = exec::first_lane(lanes);
    bool const leads = t.rank() == leader;
    bool const mine = (lanes >> t.rank() & 1) != 0;
    std::uint32_t const rank = exec::rank_in(t, lanes);
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(lanes));
    std::uint32_t served = 0;
    for (unsigned attempt = 0;; ++attempt) {
      std::uint32_t kind = fresh_pages;
      served += unspill(t, c, leader, n - served, mine ? rank - served : n, page);
      while (served < n && kind != fresh_none && kind != fresh_again) {
        range got{0, 0};
        if (leads) kind = take_fresh(c, n - served, got);
        kind = t.shfl(kind, leader);
        got.first = t.shfl(got.first, leader);
        got.count = t.shfl(got.count, leader);
        if (kind == fresh_chunks)
          for (std::uint32_t k = t.rank(); k < got.count / detail::pages_a_chunk(c); k += Tile::size())
            pool_.mark(static_cast<std::uint32_t>(got.first / detail::pages_a_chunk(c)) + k,
                       static_cast<std::uint8_t>(c));
        if (kind == fresh_window) replace_window(t, c, leader, got);
        if (kind == fresh_chunks || kind == fresh_pages) {
          if (mine && rank >= served && rank - served < got.count) page = got.first + (rank - served);
          served += got.count;
        }
      }
      if (!again && (kind != fresh_again || served == n)) {
        if (leads) ends.give_back(n);
        return;
      }
      if (served == n) return;
      bool empty = false;
      if (kind == fresh_none) {
        std::uint32_t taken = 0;
        std::uint32_t first = 0;
        if (leads) {
          if (ends.number() > 0) {
            taken = ends.take(n - served);
            ends.give_back(n - served - taken);
            if (taken > 0) first = ends.claim_front(taken);
          }
          empty = taken == 0 && ends.is_empty();
        }
        taken = t.shfl(taken, leader);
        first = t.shfl(first, leader);
        bool const reads = mine && rank >= served && rank - served < taken;
        std::uint64_t const got = read(t, c, first + rank - served, reads ? rank - served : 0, reads ? taken : 0);
        if (reads) page = got;
        served += taken;
      }
      if (t.shfl(empty, leader) || served == n) return;
      if (leads) exec::pause(attempt);
    }
  }

  static constexpr std::uint32_t fresh_none = 0;
  static constexpr std::uint32_t fresh_pages = 1;   // from the window
  static constexpr std::uint32_t fresh_chunks = 2;  // straight from the pool, to be marked
  static constexpr std::uint32_t fresh_window = 3;  // chunks for a new window; the caller holds the lock
  static constexpr std::uint32_t fresh_again = 4;

  // One lane looks for up to n pages that nobody has had yet. Whole chunks come straight from the pool.
  [[nodiscard]] WYRM_HD std::uint32_t take_fresh(unsigned c, std::uint32_t n, range& got) const {
    detail::page_class_state& state = states_[c];
    std::uint32_t const pages = detail::pages_a_chunk(c);
    if (n >= pages) {
      chunk_range const chunks = pool_.take(n / pages);
      if (chunks.count > 0) {
        exec::atomic_ref<std::uint64_t>(state.chunks).fetch_add(chunks.count, exec::relaxed);
        got = {std::uint64_t{chunks.first} * pages, chunks.count * pages};
        return fresh_chunks;
      }
    }
    page_range const in_window = state.fresh.take(n, pages);
    if (in_window.count > 0) {
      got = {in_window.first, in_window.count};
      return fresh_pages;
    }
    sequence_lock const lock(&state.lock);
    sequence_lock::outcome const outcome = lock.take_or_wait();
    if (outcome == sequence_lock::outcome::nothing_left) return fresh_none;
    if (outcome == sequence_lock::outcome::again) return fresh_again;
    bool none = false;
    if (state.fresh.left() == 0) {
      // As many chunks as all who look for pages of this class will need, as far as we can see.
      std::int32_t const number = state.ends.number();
      std::uint32_t const all = number < 0 ? static_cast<std::uint32_t>(-number) : 0;
      std::uint32_t const wanted = ((all > n ? all : n) + pages - 1) / pages;
      std::uint32_t const most = page_window::max_pages / pages;
      chunk_range const chunks = pool_.take(wanted < most ? wanted : most);
      if (chunks.count > 0) {
        exec::atomic_ref<std::uint64_t>(state.chunks).fetch_add(chunks.count, exec::relaxed);
        got = {std::uint64_t{chunks.first}, chunks.count};
        return fresh_window;
      }
      none = spilled_count(c).load(exec::relaxed) == 0;
    }
    if (none)
      lock.unlock_with_nothing_left();
    else
      lock.unlock();
    return none ? fresh_none : fresh_again;
  }

  // Collective; `chunks` are for the window of class c, whose lock the leader holds.
  template <class Tile>
  WYRM_HD void replace_window(Tile const& t, unsigned c, unsigned leader, range const& chunks) const {
    auto const first = static_cast<std::uint32_t>(chunks.first);
    for (std::uint32_t k = t.rank(); k < chunks.count; k += Tile::size())
      pool_.mark(first + k, static_cast<std::uint8_t>(c));
    t.sync();
    if (t.rank() != leader) return;
    states_[c].fresh.replace(first, chunks.count * detail::pages_a_chunk(c));
    sequence_lock(&states_[c].lock).unlock();
  }

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> spilled_count(unsigned c) const {
    return exec::atomic_ref<std::uint64_t>(states_[c].spilled_count);
  }
  // The link of a page in the list; pages are free, and touched under the lock alone.
  [[nodiscard]] WYRM_HD std::uint64_t& link(unsigned c, std::uint64_t page) const {
    return *reinterpret_cast<std::uint64_t*>(pool_.memory().base() + (page << detail::page_log2(c)));
  }

  // Puts pages that the queue has no room for into the lists of their classes; collective.
  template <class Tile>
  WYRM_HD void spill(Tile const& t, unsigned c, std::uint64_t page, detail::lane_group const& mine, bool spills) const {
    std::uint32_t const above = mine.lanes & ~((2u << t.rank()) - 1u);
    std::uint64_t const next = t.shfl(page, above != 0 ? exec::first_lane(above) : t.rank());
    if (spills && above != 0) link(c, page) = next + 1;
    unsigned const last = 31 - static_cast<unsigned>(cuda::std::countl_zero(mine.lanes | 1u));
    std::uint64_t const last_page = t.shfl(page, last);
    t.sync();
    extent_ref::one_by_one(t, t.ballot(spills && mine.led_by(t.rank())), [&] {
      sequence_lock const lock(&states_[c].lock);
      lock.lock();
      link(c, last_page) = states_[c].spilled;
      states_[c].spilled = page + 1;
      spilled_count(c).store(states_[c].spilled_count + mine.size, exec::release);
      lock.unlock();
    });
  }

  // Up to n pages out of the list of class c, the first for the lane with rank 0; collective. How many.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t unspill(Tile const& t, unsigned c, unsigned leader, std::uint32_t n,
                                              std::uint32_t rank, std::uint64_t& page) const {
    detail::page_class_state& state = states_[c];
    bool const leads = t.rank() == leader;
    bool locked = leads && spilled_count(c).load(exec::relaxed) > 0;
    if (!t.shfl(locked, leader)) return 0;
    sequence_lock const lock(&state.lock);
    if (leads) lock.lock();
    std::uint32_t got = 0;
    for (; got < n; ++got) {
      std::uint64_t one = no_page;
      if (leads && state.spilled != 0) {
        one = state.spilled - 1;
        state.spilled = link(c, one);
      }
      one = t.shfl(one, leader);
      if (one == no_page) break;
      if (rank == got) page = one;
    }
    if (leads) {
      spilled_count(c).store(state.spilled_count - got, exec::release);
      lock.unlock();
    }
    return got;
  }

  chunk_pool_ref pool_;
  detail::page_class_state* states_;
  Queues queues_;
};

/// Owns the states of the classes, and the queues.
template <class Space, class Queues>
class page_manager {
 public:
  using ref_type = page_manager_ref<typename Queues::ref_type>;
  using space_type = Space;
  static constexpr char const* queue_kind = Queues::kind;
  static constexpr char kind = 'p';

  page_manager(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space), pool_(pool), states_(space, detail::page_classes), queues_(space, pool.memory(), node_log2) {}

  [[nodiscard]] ref_type ref() const { return {pool_.ref(), states_.data(), queues_.ref()}; }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes() + queues_.bytes(); }

  void reset() {
    std::vector<detail::page_class_state> const fresh(detail::page_classes);
    exec::copy_in<detail::page_class_state>(space_, states_.data(), fresh);
    queues_.reset(pool_.chunks());
  }
  /// What a pool of so many chunks needs, for grow() after the pool has grown; may throw.
  [[nodiscard]] auto prepare(std::uint32_t chunks) { return queues_.prepare(chunks); }
  template <class Prepared>
  void grow(Prepared prepared) {
    queues_.grow(std::move(prepared), [this](unsigned c) { return &states_.data()[c].ends; });
  }

  void report(statistics& s) const {
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      detail::page_class_state state = exec::read(space_, states_.data() + c);
      s.classes.push_back({detail::page_bytes(c), state.chunks * detail::pages_a_chunk(c),
                           state.ends.size() + state.spilled_count + state.fresh.left()});
    }
  }

  /// Takes the free pages out of `used` (one entry for each 16 bytes of the pool; true where a page of a carved chunk
  /// begins). Each of them is there, and of the class that it is free in; the counts are right.
  void check(char const* who, std::vector<std::uint8_t> const& uses, std::vector<bool>& used) const {
    std::vector<queue_ends> ends;
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      detail::page_class_state state = exec::read(space_, states_.data() + c);
      ends.push_back(state.ends);
      std::string const what = "class of " + std::to_string(detail::page_bytes(c)) + " bytes: ";
      std::uint32_t const pages = detail::pages_a_chunk(c);
      auto const chunks = static_cast<std::size_t>(std::count(uses.begin(), uses.end(), c));
      ensure(chunks == state.chunks, who, what + "chunks were carved but not counted");
      ensure(state.lock % 2 == 0, who, what + "the lock is held although nobody is at work");
      ensure(state.ends.number() == static_cast<std::int32_t>(state.ends.size()), who,
             what + std::to_string(state.ends.size()) + " pages queued, but " + std::to_string(state.ends.number()) +
                 " counted");
      auto const take = [&](std::uint64_t page, char const* where) {
        std::size_t const chunk = page / pages;
        ensure(chunk < uses.size() && uses[chunk] == c, who, what + "a page that is " + where + " is not of this class");
        std::size_t const first = page << detail::page_log2(c) >> 4;
        ensure(used[first], who, what + "page " + std::to_string(page) + " is free twice");
        used[first] = false;
      };
      for (std::uint64_t const page : queues_.entries(c, state.ends, who, what)) take(page, "queued");
      std::uint64_t spilled = 0;
      for (std::uint64_t next = state.spilled; next != 0; ++spilled) {
        take(next - 1, "spilled");
        auto* const link = pool_.memory().base() + ((next - 1) << detail::page_log2(c));
        next = exec::read(space_, reinterpret_cast<std::uint64_t*>(link));
      }
      ensure(spilled == state.spilled_count, who, what + "spilled pages are not counted");
      page_range const fresh = state.fresh.take(page_window::max_pages, pages);
      for (std::uint32_t i = 0; i < fresh.count; ++i) take(fresh.first + i, "fresh");
    }
    queues_.check(who, pool_, ends);
  }

 private:
  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::page_class_state, Space> states_;
  Queues queues_;
};

}  // namespace wyrm::alloc
