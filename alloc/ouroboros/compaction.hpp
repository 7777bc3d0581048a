// SPDX-License-Identifier: Apache-2.0
// Chunks whose pages are all free go back to the pool, also where queues hold pages (Ouroboros, ICS 2020, names it as
// future work, section 7): the free pages of a class are counted, a counter a chunk, and then sifted: all go through
// the queue once, and those of chunks that are wholly free stay away. Launched by the host while nobody uses the pool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "manager.hpp"

namespace wyrm::alloc::detail {

struct spilled_pages;  // see page_store.hpp

template <class Store>
struct compaction {
  Store store;
  chunk_pool_ref pool;
  class_states<queue_ends> states;
  unsigned c;
  std::uint32_t first;     // position of the first page in the queue
  std::uint32_t* free;     // of a chunk: how many pages are free
  spilled_pages* spilled;  // the pages that are not in the queue

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> free_of(std::uint64_t page) const {
    return exec::atomic_ref<std::uint32_t>(free[page / pages_a_chunk(c)]);
  }
  WYRM_HD void count(std::uint64_t page) const { free_of(page).fetch_add(1, exec::relaxed); }

  /// A page for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void sift(Tile const& t, std::uint64_t page, bool has) const {
    bool const goes = has && free_of(page).load(exec::relaxed) == pages_a_chunk(c);
    store.put(t, pool, states, c, page, has && !goes);
  }
};

template <class Store>
struct count_queued {
  compaction<Store> job;
  WYRM_HD void operator()(std::size_t i) const {
    job.count(job.store.peek(job.c, job.first + static_cast<std::uint32_t>(i)));
  }
};
template <class Store>
struct count_spilled {
  compaction<Store> job;
  WYRM_HD void operator()(std::size_t i) const {
    auto const count = [&](std::uint64_t page) {
      job.count(page);
      return true;
    };
    while (job.store.visit_batch(*job.spilled, job.c, i, count)) continue;
  }
};
template <class Store>
struct sift_queued {
  compaction<Store> job;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t, bool valid) const {
    lane_group const mine = group_by(t, 0, valid);
    std::uint32_t first = 0;
    if (mine.led_by(t.rank())) {
      (void)job.states[job.c].pages.take(mine.size);
      first = job.states[job.c].pages.claim_front(mine.size);
    }
    first = t.shfl(first, mine.leader);
    std::uint64_t const page = job.store.take(t, job.pool, job.c, first, mine.rank, mine.size);
    job.sift(t, page, valid);
  }
};
template <class Store>
struct sift_spilled {
  compaction<Store> job;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    for (;;) {
      std::uint64_t page = 0;
      std::uint32_t const n = t.rank() == 0 ? Tile::size() : 0;
      std::uint32_t const got = job.store.take_batch(t, *job.spilled, job.c, 0, n, t.rank(), page);
      if (got == 0) return;
      job.sift(t, page, t.rank() < got);
    }
  }
};

/// Not before all is sifted: what a free page holds may be needed until then.
template <class Store>
struct give_chunks {
  compaction<Store> job;
  WYRM_HD void operator()(std::size_t i) const {
    if (job.free[i] != pages_a_chunk(job.c)) return;
    exec::atomic_ref<std::uint64_t>(job.states[job.c].chunks).fetch_sub(1, exec::relaxed);
    auto const chunk = static_cast<std::uint32_t>(i);
    job.pool.give(&chunk, 1);
  }
};

}  // namespace wyrm::alloc::detail
