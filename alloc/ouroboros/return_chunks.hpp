// SPDX-License-Identifier: Apache-2.0
// For queues of pages: finds chunks whose pages are all free, and returns them to the pool (future work in Ouroboros,
// ICS 2020, section 7). The free pages of a class are counted, with one counter per chunk. Then each free page is
// dequeued, and enqueued again unless all pages of its chunk are free. Launched by the host while no other kernel uses
// the pool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "page_store_ref.hpp"

namespace wyrm::alloc::detail {

template <class Store>
struct compaction {
  Store store;
  chunk_pool_ref pool;
  class_states<queue_ends> states;
  unsigned c;
  std::uint32_t first;     // position of the first page in the queue
  std::uint32_t* free;     // free pages of each chunk
  spilled_pages* spilled;  // a copy of the lists, which is emptied

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> free_of(std::uint64_t page) const {
    return exec::atomic_ref<std::uint32_t>(free[chunk_of_page(c, page)]);
  }
  WYRM_HD void count(std::uint64_t page) const { free_of(page).fetch_add(1, exec::relaxed); }

  /// Returns the page of each lane that has one to the store, unless all pages of its chunk are free; collective.
  template <class Tile>
  WYRM_HD void requeue(Tile const& t, std::uint64_t page, bool has) const {
    bool const is_returned = has && free_of(page).load(exec::relaxed) == pages_per_chunk(c);
    store.free(t, pool, states, c, page, has && !is_returned);
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
    while (job.store.spilled().visit_batch(*job.spilled, job.c, i, count)) continue;
  }
};
template <class Store>
struct requeue_queued {
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
    job.requeue(t, page, valid);
  }
};
template <class Store>
struct requeue_spilled {
  compaction<Store> job;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    for (;;) {
      std::uint64_t page = 0;
      std::uint32_t const n = t.rank() == 0 ? t.size() : 0;
      std::uint32_t const got = job.store.spilled().take_from(t, *job.spilled, job.c, 0, n, t.rank(), page);
      if (got == 0) return;
      job.requeue(t, page, t.rank() < got);
    }
  }
};

/// To be launched last: until then the links in free pages are needed.
template <class Store>
struct return_chunks {
  compaction<Store> job;
  WYRM_HD void operator()(std::size_t i) const {
    if (job.free[i] != pages_per_chunk(job.c)) return;
    exec::atomic_ref<std::uint64_t>(job.states[job.c].chunks).fetch_sub(1, exec::relaxed);
    auto const chunk = static_cast<std::uint32_t>(i);
    job.pool.free(&chunk, 1);
  }
};

}  // namespace wyrm::alloc::detail
