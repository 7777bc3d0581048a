// SPDX-License-Identifier: Apache-2.0
// Queues that hold pages (Ouroboros, ICS 2020, section 4.1, Algorithm 3). A page that its queue has no room for, which
// happens when the pool has no chunk for a node, is kept in a list through the pages themselves: nothing is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manager.hpp"

namespace wyrm::alloc {

namespace detail {
/// The list of a class; guarded by its lock.
struct spilled_pages {
  std::uint64_t first;  // + 1; 0: none
  std::uint64_t count;
};
}  // namespace detail

template <class Queues>
class page_store_ref {
 public:
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
  WYRM_HD void put(Tile const& t, chunk_pool_ref const& pool, detail::page_class_state* states, unsigned c,
                   std::uint64_t page, bool has) const {
    detail::lane_group const mine = detail::group_by(t, c, has);
    bool const leads = mine.led_by(t.rank());
    bool room = queues_.reserve(t, pool, states[leads ? c : 0].pages, leads, c, mine.size);
    std::uint32_t first = 0;
    if (room) first = states[c].pages.claim_back(mine.size);
    room = t.shfl(room, mine.leader);
    first = t.shfl(first, mine.leader);
    if (has && room) queues_.put(c, first + mine.rank, page);
    if (t.any(has && !room)) spill(t, states, c, page, mine, has && !room);
  }

  /// Up to n pages out of the list of class c, the first for the lane with rank 0; collective. How many.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t take_spilled(Tile const& t, detail::page_class_state* states, unsigned c,
                                                   unsigned leader, std::uint32_t n, std::uint32_t rank,
                                                   std::uint64_t& page) const {
    detail::spilled_pages& list = spilled_[leader == t.rank() ? c : 0];
    bool const leads = t.rank() == leader;
    if (!t.shfl(leads && has_spilled(c), leader)) return 0;
    if (leads) sequence_lock(&states[c].lock).lock();
    std::uint32_t got = 0;
    for (; got < n; ++got) {
      std::uint64_t one = detail::no_page;
      if (leads && list.first != 0) {
        one = list.first - 1;
        list.first = link(c, one);
      }
      one = t.shfl(one, leader);
      if (one == detail::no_page) break;
      if (rank == got) page = one;
    }
    if (leads) {
      count(c).store(list.count - got, exec::release);
      sequence_lock(&states[c].lock).unlock();
    }
    return got;
  }
  [[nodiscard]] WYRM_HD bool has_spilled(unsigned c) const { return count(c).load(exec::relaxed) > 0; }

  /// Chunks that become class c's; nothing is kept of them.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t keep(Tile const& t, chunk_pool_ref const&, std::uint64_t& chunks, unsigned,
                                           unsigned leader, std::uint32_t, std::uint32_t count) const {
    if (t.rank() == leader) exec::atomic_ref<std::uint64_t>(chunks).fetch_add(count, exec::relaxed);
    return 0;
  }
  WYRM_HD void start(std::uint32_t) const {}
  [[nodiscard]] WYRM_HD bool reclaim(chunk_pool_ref const&, detail::page_class_state*) const { return false; }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> count(unsigned c) const {
    return exec::atomic_ref<std::uint64_t>(spilled_[c].count);
  }
  // The link of a page in the list: the next page + 1.
  [[nodiscard]] WYRM_HD std::uint64_t& link(unsigned c, std::uint64_t page) const {
    return *reinterpret_cast<std::uint64_t*>(base_ + (page << detail::page_log2(c)));
  }

  // Puts pages that the queue has no room for into the lists of their classes; collective.
  template <class Tile>
  WYRM_HD void spill(Tile const& t, detail::page_class_state* states, unsigned c, std::uint64_t page,
                     detail::lane_group const& mine, bool spills) const {
    std::uint32_t const above = mine.lanes & ~((2u << t.rank()) - 1u);
    std::uint64_t const next = t.shfl(page, above != 0 ? exec::first_lane(above) : t.rank());
    unsigned const last = 31 - static_cast<unsigned>(cuda::std::countl_zero(mine.lanes | 1u));
    std::uint64_t const last_page = t.shfl(page, last);
    if (spills && above != 0) link(c, page) = next + 1;
    t.sync();
    extent_ref::one_by_one(t, t.ballot(spills && mine.led_by(t.rank())), [&] {
      sequence_lock const lock(&states[c].lock);
      lock.lock();
      link(c, last_page) = spilled_[c].first;
      spilled_[c].first = page + 1;
      count(c).store(spilled_[c].count + mine.size, exec::release);
      lock.unlock();
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

  page_store(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space),
        pool_(pool),
        spilled_(space, detail::page_classes),
        queues_(space, pool.memory(), node_log2, false) {}

  [[nodiscard]] ref_type ref() const { return {pool_.memory().base(), spilled_.data(), queues_.ref()}; }
  [[nodiscard]] std::size_t bytes() const { return spilled_.bytes() + queues_.bytes(); }
  void reset() {
    space_.fill(spilled_.data(), 0, spilled_.bytes());
    queues_.reset(pool_.chunks());
  }
  [[nodiscard]] auto prepare(std::uint32_t chunks) { return queues_.prepare(chunks); }
  template <class Prepared, class Ends>
  void grow(Prepared prepared, Ends const& ends) {
    queues_.grow(std::move(prepared), ends);
  }

  [[nodiscard]] std::size_t spilled(unsigned c) const { return exec::read(space_, spilled_.data() + c).count; }

  /// Calls take(page, where) for each page of class c in the store.
  template <class Take>
  void check(char const* who, std::string const& what, unsigned c, detail::page_class_state const& state,
             std::vector<std::uint8_t> const&, Take const& take) const {
    for (std::uint64_t const page : queues_.entries(c, state.pages, who, what)) take(page, "queued");
    detail::spilled_pages const list = exec::read(space_, spilled_.data() + c);
    std::uint64_t count = 0;
    for (std::uint64_t next = list.first; next != 0; ++count) {
      take(next - 1, "spilled");
      auto* const link = pool_.memory().base() + ((next - 1) << detail::page_log2(c));
      next = exec::read(space_, reinterpret_cast<std::uint64_t*>(link));
    }
    ensure(count == list.count, who, what + "spilled pages are not counted");
  }
  void check_queues(char const* who, std::vector<detail::page_class_state> const& states) const {
    queues_.check(who, pool_, [&](unsigned c) -> queue_ends const& { return states[c].pages; });
  }

 private:
  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::spilled_pages, Space> spilled_;
  Queues queues_;
};

}  // namespace wyrm::alloc
