// SPDX-License-Identifier: Apache-2.0
// Queues of free pages (Ouroboros, ICS 2020, section 4.1, Algorithm 3), on the device. Pages for which their queue has
// no room are spilled: see spilled_pages.hpp.
#pragma once

#include <cstdint>

#include "chunk_pool.hpp"
#include "class_state.hpp"
#include "concepts.hpp"
#include "spilled_pages.hpp"

namespace wyrm::alloc {

template <detail::queues_ref Queues>
class page_store_ref {
 public:
  using ends_type = queue_ends;
  page_store_ref(detail::spilled_pages_ref const& spilled, Queues const& queues) : spilled_(spilled), queues_(queues) {}

  /// A page for each lane of a group of n lanes, which has claimed the n positions from `first` on. `rank` is the rank
  /// of the lane in its group; n is 0 for lanes of no group; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t take(Tile const& t, chunk_pool_ref const& pool, unsigned c, std::uint32_t first,
                                           std::uint32_t rank, std::uint32_t n) const {
    std::uint64_t page = detail::no_page;
    std::uint32_t node = 0;
    if (n > 0) page = queues_.read(c, first + rank, node);
    queues_.finish(t, pool, c, node, first + rank, rank, n);
    return page;
  }

  /// Frees a page for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void free(Tile const& t, chunk_pool_ref const& pool, detail::class_states<queue_ends> states, unsigned c,
                    std::uint64_t page, bool has) const {
    detail::lane_group const mine = detail::group_by(t, c, has);
    bool const leads = mine.led_by(t.rank());
    bool room = queues_.reserve(t, pool, states[leads ? c : 0].pages, leads, c, mine.size);
    std::uint32_t first = 0;
    if (room) first = queues_.claim_back(states[c].pages, mine.size);
    room = t.shfl(room, mine.leader);
    first = t.shfl(first, mine.leader);
    if (has && room) queues_.write(c, first + mine.rank, page);
    if (t.any(has && !room)) spilled_.add(t, c, page, mine, has && !room);
  }

  /// Takes up to n spilled pages of class c; sets `page` in the lane that passes rank k to the k-th of them. Returns
  /// how many were taken; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t take_spilled(Tile const& t, unsigned c, unsigned leader, std::uint32_t n,
                                                   std::uint32_t rank, std::uint64_t& page) const {
    return spilled_.take(t, c, leader, n, rank, page);
  }
  [[nodiscard]] WYRM_HD bool has_spilled(unsigned c) const { return spilled_.has_some(c); }
  [[nodiscard]] WYRM_HD detail::spilled_pages_ref const& spilled() const { return spilled_; }
  /// The page at a position between the ends, while no other thread uses the queue.
  [[nodiscard]] WYRM_HD std::uint64_t peek(unsigned c, std::uint32_t position) const {
    return queues_.peek(c, position);
  }

  /// Counts chunks as chunks of class c; always true, as the queues supply their own nodes.
  [[nodiscard]] WYRM_HD bool count_carved(std::uint64_t& chunks, unsigned, std::uint32_t count) const {
    exec::atomic_ref<std::uint64_t>(chunks).fetch_add(count, exec::relaxed);
    return true;
  }
  /// Assigns chunks to class c; none of them become nodes.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t add_chunks(Tile const& t, chunk_pool_ref const&, std::uint64_t& chunks, unsigned,
                                                 unsigned leader, std::uint32_t, std::uint32_t count) const {
    if (t.rank() == leader) exec::atomic_ref<std::uint64_t>(chunks).fetch_add(count, exec::relaxed);
    return 0;
  }
  [[nodiscard]] WYRM_HD std::uint32_t nodes_lacking(std::uint64_t&, unsigned, std::uint32_t, bool) const { return 0; }
  template <class Tile>
  WYRM_HD void add_nodes(Tile const&, chunk_pool_ref const&, unsigned, unsigned, std::uint32_t, std::uint32_t) const {}

  /// Finds free pages that are whole chunks or runs of chunks, and returns them to the pool: pages of one class, the
  /// largest that has some, at most as many as the tile has lanes; collective. False if none was found.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool reclaim(Tile const t, chunk_pool_ref const& pool,
                                                   detail::class_states<queue_ends> states) const {
    for (unsigned c = detail::page_classes; c-- > 0 && detail::pages_per_chunk(c) == 1;) {
      std::uint32_t n = 0;
      std::uint32_t first = 0;
      if (t.rank() == 0 && states[c].pages.number() > 0) {
        n = states[c].pages.take(t.size());
        if (n < t.size()) states[c].pages.uncount(t.size() - n);
        if (n > 0) first = states[c].pages.claim_front(n);
      }
      n = t.shfl(n, 0);
      first = t.shfl(first, 0);
      std::uint64_t page = take(t, pool, c, first, t.rank(), t.rank() < n ? n : 0);
      if (n == 0 && t.shfl(has_spilled(c), 0)) n = take_spilled(t, c, 0, t.size(), t.rank(), page);
      if (n == 0) continue;
      if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(states[c].chunks).fetch_sub(n, exec::relaxed);
      pool.free_runs(t, static_cast<std::uint32_t>(page), detail::run_chunks(c), t.rank() < n);
      return true;
    }
    return false;
  }

 private:
  detail::spilled_pages_ref spilled_;
  Queues queues_;
};

}  // namespace wyrm::alloc
