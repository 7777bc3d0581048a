// SPDX-License-Identifier: Apache-2.0
// Queues of chunks with free pages (Ouroboros, ICS 2020, section 4.2, Algorithms 4 and 5), on the device. A bit mask
// records which pages of a chunk are free. A word contains the number of free pages, the class of the chunk, and the
// queues that contain it. A chunk with free pages is in the queue of its class once. Only the thread that dequeues it
// takes pages of it, and this thread enqueues it again if free pages are left. There are two stages, as in the paper: a
// thread first claims pages with the count of all free pages of the class, and then finds chunks that have these pages.
//
// Departures from the paper:
// - In the paper all threads access the chunk at the front at the same time; when it is empty, they continue with the
//   next chunk. Here each dequeued chunk that has not left its class yields at least one page.
// - The word of a chunk alone determines which thread enqueues it: the thread that frees a page when the chunk has no
//   free page, or the thread that dequeued it and left free pages. No thread enqueues a chunk for another thread.
// - Pages are subtracted from a chunk's count before they are looked up in its mask, so that the chunk can be enqueued
//   again immediately.
// - Chunks whose pages are all free stay in their class until the pool is exhausted. Then reclaim() makes them usable
//   for any class, at any position of the queue. It finds them by hints: a thread that frees the last used page of a
//   chunk writes the number of the chunk to a ring. The entry of a chunk that has left its class stays in the queue; it
//   is stale, and is dropped when it reaches the front.
// - The word of a chunk contains its class only after a page of the chunk has been freed. Chunks without a freed page
//   take no time here.
// - Each queue has room for all chunks of its class and for the stale entries. Its nodes are added when chunks are
//   carved, and emptied nodes are reused by their queue.
//
// Why no lane waits forever: the number of lanes that wait for an entry is at most the number of pages that were
// claimed for them and that they have not received. So there is a chunk with free pages: it is in the queue, or a lane
// has dequeued it, will enqueue it, and waits at most for room. A queue has room for all entries that it needs and one
// more node; when no room is left, each entry of the oldest node has a reader, which waits for no other thread. Lanes
// of one tile poll in turn, and none waits for another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chunk_masks.hpp"
#include "chunk_word.hpp"
#include "class_state.hpp"
#include "concepts.hpp"
#include "index_ring.hpp"
#include "queue_node.hpp"

namespace wyrm::alloc {

template <detail::queues_ref Queues>
class chunk_store_ref {
 public:
  using ends_type = page_counts;
  chunk_store_ref(detail::chunk_queue_state* states, std::uint64_t* words, std::uint64_t* masks, queue_ends* hint_ends,
                  index_ring const& hints, Queues const& queues, std::uint32_t chunks)
      : states_(states),
        words_(words),
        masks_(masks),
        hint_ends_(hint_ends),
        hints_(hints),
        queues_(queues),
        chunks_(chunks) {}

  /// A page for each lane of a group of n lanes, for which n pages were claimed by page_counts::take(). `rank` is the
  /// rank of the lane in its group; n is 0 for lanes of no group; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t take(Tile const& t, chunk_pool_ref const&, unsigned c, std::uint32_t,
                                           std::uint32_t rank, std::uint32_t n) const {
    if (!t.any(n > 0)) return detail::no_page;
    // Lanes look for chunks in groups of at most as many lanes as a chunk has pages, a power of two; the leader acts
    // for its group.
    std::uint32_t const pages = n > 0 ? detail::pages_per_chunk(c) : 1;
    auto const group_log2 = static_cast<unsigned>(cuda::std::bit_width(pages)) - 1;
    detail::lane_group const mine = detail::group_by(t, c << 8 | rank >> group_log2, n > 0);
    std::uint64_t page = detail::no_page;
    std::uint32_t need = mine.led_by(t.rank()) ? mine.size : 0;  // pages that the group still lacks; in its leader
    std::uint32_t had = 0;
    std::uint32_t position = 0;
    bool waits = false;  // for the entry at that position
    queue_entry entry;   // a chunk to enqueue again
    detail::unpublished_node unpublished;
    for (unsigned attempt = 0; t.any(need > 0 || entry.exists || unpublished.exists); ++attempt) {
      bool const asks = need > 0 && !waits && !entry.exists && !unpublished.exists;
      if (t.any(asks)) {
        detail::lane_group const askers = detail::group_by(t, c, asks);
        std::uint32_t first = 0;
        if (askers.led_by(t.rank())) first = states_[c].chunks.claim_front(askers.size);
        first = t.shfl(first, askers.leader);
        if (asks) position = first + askers.rank;
        waits = waits || asks;
      }
      std::uint64_t chunk = 0;
      std::uint32_t node = 0;
      bool const got = waits && queues_.try_read(c, position, chunk, node);
      queues_.finish_and_reuse(t, c, node, position, got, unpublished);
      std::uint32_t taken = 0;
      std::uint32_t there = 0;
      if (got) {
        waits = false;
        there = unqueue(c, chunk);
        taken = need < there ? need : there;
        if (taken > 0 && uncount_taken(c, chunk, there, taken)) {
          entry = {static_cast<std::uint32_t>(chunk), 0, true, false};
          try_enqueue(c, entry);  // immediately, because other lanes wait for it
        }
      }
      if (t.any(taken > 0)) masks_.claim(t, mine, c, chunk, pages, pages - there, taken, had, n > 0, page);
      had += taken;
      need -= taken;
      if (entry.exists) try_enqueue(c, entry);
      if (unpublished.exists) queues_.try_publish(c, unpublished);
      if (!got) exec::pause(attempt);
    }
    return page;
  }

  /// Frees a page for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void free(Tile const& t, chunk_pool_ref const&, detail::class_states<page_counts> states, unsigned c,
                    std::uint64_t page, bool has) const {
    std::uint32_t const pages = has ? detail::pages_per_chunk(c) : 1;
    std::uint32_t const chunk = detail::chunk_of_page(has ? c : 0, page);
    detail::lane_group const mine = detail::group_by(t, chunk, has);
    std::uint32_t const bit = detail::index_of_page(has ? c : 0, page);
    // Release: the accesses of the page's user happen before those of its next user, who clears the bit.
    if (has) masks_.set_free(chunk, bit);
    t.sync();
    queue_entry entry;
    bool hints = false;
    if (mine.led_by(t.rank())) {
      std::uint64_t now = word(chunk).fetch_add(mine.size, exec::acq_rel) + mine.size;
      if (detail::chunk_word::count(now) == mine.size && !detail::chunk_word::is_in_queue_of(now, c)) {
        now = word(chunk).fetch_or(detail::chunk_word::owner(c) | detail::chunk_word::queued(c), exec::acq_rel);
        if ((now & detail::chunk_word::queued(c)) == 0)
          entry = {chunk, 0, true, false};
        else
          stale(c).fetch_sub(1, exec::relaxed);  // its old entry in this queue is valid again
      }
      hints = pages > 1 && detail::chunk_word::count(now) == pages && needs_hint(now, chunk);
    }
    write_hints(t, chunk, hints);
    claim_positions(t, c, entry);
    for (unsigned attempt = 0; t.any(entry.exists); ++attempt) {
      if (attempt > 0) exec::pause(attempt);
      if (entry.exists) try_enqueue(c, entry);
    }
    detail::lane_group const same = detail::group_by(t, c, has);
    if (same.led_by(t.rank())) (void)states[c].pages.claim_back(same.size);
  }

  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t take_spilled(Tile const&, unsigned, unsigned, std::uint32_t, std::uint32_t,
                                                   std::uint64_t&) const {
    return 0;
  }
  [[nodiscard]] WYRM_HD bool has_spilled(unsigned) const { return false; }

  /// The number of nodes that a queue needs for this number of chunks: those for the entries, and one more.
  [[nodiscard]] WYRM_HD std::uint64_t nodes_for(unsigned c, std::uint64_t chunks) const {
    std::uint32_t const each = queues_.entries_per_node(c);
    return each == 0 || chunks == 0 ? 0 : (chunks + each - 1) / each + 1;
  }
  /// Counts chunks as chunks of class c. Returns false, and does nothing, if the queue needs more nodes for them: then
  /// add_chunks() must be called.
  [[nodiscard]] WYRM_HD bool count_carved(std::uint64_t& chunks, unsigned c, std::uint32_t count) const {
    std::uint32_t const each = queues_.entries_per_node(c);
    std::uint64_t const wanted = count_chunks(chunks, c, count);
    if (each == 0 || nodes(c).load(exec::relaxed) >= wanted) return true;
    exec::atomic_ref<std::uint64_t>(chunks).fetch_sub(count, exec::relaxed);
    return false;
  }
  /// Assigns chunks, or runs of chunks, to class c; collective. The first of them become nodes of the queue instead, so
  /// that it has room for the others; returns the number of these. A queue may have nodes for all chunks of the pool,
  /// so a class may have any number of chunks.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint32_t add_chunks(Tile const t, chunk_pool_ref const& pool,
                                                               std::uint64_t& chunks, unsigned c, unsigned leader,
                                                               std::uint32_t first, std::uint32_t count) const {
    bool const leads = t.rank() == leader;
    std::uint32_t const run = detail::run_chunks(c);
    exec::atomic_ref<std::uint64_t> carved(chunks);
    std::uint64_t const wanted = leads ? at_most_max_nodes(c, count_chunks(chunks, c, count)) : 0;
    std::uint32_t kept = 0;
    if (queues_.entries_per_node(c) == 0) return kept;
    while (kept < count) {
      bool lacks = false;
      if (leads) {
        // The number never exceeds the nodes that will exist: otherwise another lane would see enough nodes.
        std::uint32_t now = nodes(c).load(exec::relaxed);
        while (now < wanted && !lacks)
          lacks = nodes(c).compare_exchange_strong(now, now + 1, exec::relaxed, exec::relaxed);
      }
      if (!t.shfl(lacks, leader)) break;
      // A node is one chunk: a single chunk of the pool if there is one, else the first chunk of a run.
      chunk_range other{0, 0};
      if (leads && run > 1) other = pool.take(1);
      bool const own = t.shfl(other.count, leader) == 0;
      std::uint32_t const node = own ? first + kept * run : t.shfl(other.first, leader);
      install(t, pool, c, leader, node);
      if (own && leads && run > 1) pool.memory().return_chunks(node + 1, run - 1);
      kept += own;
    }
    if (leads && kept > 0) carved.fetch_sub(kept, exec::relaxed);
    return kept;
  }
  /// The number of nodes that the queue lacks for `count` more chunks, while no other thread uses it. If pool_grows: an
  /// upper bound that also holds after the pool has grown.
  [[nodiscard]] WYRM_HD std::uint32_t nodes_lacking(std::uint64_t& chunks, unsigned c, std::uint32_t count,
                                                    bool pool_grows) const {
    std::uint64_t const carved = exec::atomic_ref<std::uint64_t>(chunks).load(exec::relaxed) + count;
    std::uint64_t const stale_now = static_cast<std::uint64_t>(std::int64_t{stale(c).load(exec::relaxed)});
    std::uint64_t const entries = pool_grows ? carved + stale_now : max_entries(c, carved, stale_now);
    std::uint64_t const wanted = at_most_max_nodes(c, nodes_for(c, entries));
    std::uint32_t const now = nodes(c).load(exec::relaxed);
    return wanted > now ? static_cast<std::uint32_t>(wanted) - now : 0;
  }
  /// Makes `count` chunks nodes of the queue; collective.
  template <class Tile>
  WYRM_HD void add_nodes(Tile const& t, chunk_pool_ref const& pool, unsigned c, unsigned leader, std::uint32_t first,
                         std::uint32_t count) const {
    if (t.rank() == leader) nodes(c).fetch_add(count, exec::relaxed);
    for (std::uint32_t k = 0; k < count; ++k) install(t, pool, c, leader, first + k);
  }
  /// Finds chunks all of whose pages are free, of any class, and returns them to the pool, at most as many as the tile
  /// has lanes; collective. False if none was found.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool reclaim(Tile const t, chunk_pool_ref const& pool,
                                                   detail::class_states<page_counts> states) const {
    unsigned some = 0;
    if (t.rank() == 0)
      while (some < t.size() && reclaim_one(pool, states)) ++some;
    return t.shfl(some, 0) > 0;
  }

 private:
  /// A chunk with free pages that must be enqueued.
  struct queue_entry {
    std::uint32_t chunk = 0;
    std::uint32_t position = 0;
    bool exists = false;
    bool has_position = false;
  };

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> word(std::uint64_t chunk) const {
    return exec::atomic_ref<std::uint64_t>(words_[chunk]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> nodes(unsigned c) const {
    return exec::atomic_ref<std::uint32_t>(states_[c].nodes);
  }
  // The maximum number of entries of a queue. Both summands count a chunk that left the class and returned to it. But
  // there are at most as many entries as chunks: those of the pool at its current size, or at the size that it needs
  // for this number.
  [[nodiscard]] WYRM_HD std::uint64_t max_entries(unsigned c, std::uint64_t carved, std::uint64_t stale_now) const {
    std::uint64_t const all = chunks_ / detail::run_chunks(c);
    std::uint64_t const most = carved < all ? all : carved;
    return carved + stale_now < most ? carved + stale_now : most;
  }
  template <class Tile>
  WYRM_HD void install(Tile const& t, chunk_pool_ref const& pool, unsigned c, unsigned leader,
                       std::uint32_t node) const {
    queues_.install(t, pool, c, leader, node);
    if (t.rank() == leader) queues_.reuse_emptied(c);
  }
  // Counts chunks as chunks of class c; returns how many nodes its queue must have then.
  [[nodiscard]] WYRM_HD std::uint64_t count_chunks(std::uint64_t& chunks, unsigned c, std::uint32_t count) const {
    std::uint64_t const carved = exec::atomic_ref<std::uint64_t>(chunks).fetch_add(count, exec::acq_rel) + count;
    auto const stale_now = static_cast<std::uint64_t>(std::int64_t{stale(c).load(exec::acquire)});
    return nodes_for(c, max_entries(c, carved, stale_now));
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::int32_t> stale(unsigned c) const {
    return exec::atomic_ref<std::int32_t>(states_[c].stale);
  }
  // max_nodes() is enough for every chunk of the pool. Chunks that were counted, but could not be allocated, can make
  // the need look larger.
  [[nodiscard]] WYRM_HD std::uint64_t at_most_max_nodes(unsigned c, std::uint64_t wanted) const {
    return wanted < queues_.max_nodes(c) ? wanted : queues_.max_nodes(c);
  }

  // To be called when a chunk was dequeued from the queue of class c. Returns its number of free pages, 0 if it has
  // left the class. From then on only the caller may lower this number.
  [[nodiscard]] WYRM_HD std::uint32_t unqueue(unsigned c, std::uint64_t chunk) const {
    std::uint64_t const before = word(chunk).fetch_and(~detail::chunk_word::queued(c), exec::acq_rel);
    if (detail::chunk_word::is_of(before, c)) return detail::chunk_word::count(before);
    stale(c).fetch_sub(1, exec::relaxed);
    return 0;
  }
  // Subtracts the pages that the caller of unqueue() takes; `there`: what unqueue() returned. True if free pages are
  // left: then the caller must enqueue the chunk again.
  [[nodiscard]] WYRM_HD bool uncount_taken(unsigned c, std::uint64_t chunk, std::uint32_t there,
                                           std::uint32_t taken) const {
    std::uint64_t const queued = detail::chunk_word::queued(c);
    if (there > taken) {
      word(chunk).fetch_add(queued - taken, exec::acq_rel);
      return true;
    }
    std::uint64_t const before = word(chunk).fetch_sub(taken, exec::acq_rel);
    if (detail::chunk_word::count(before) == taken) return false;  // the thread that frees the next page enqueues it
    word(chunk).fetch_or(queued, exec::acq_rel);
    return true;
  }

  // Whether the thread that has seen this word, of a chunk all of whose pages are free, must write a hint.
  [[nodiscard]] WYRM_HD bool needs_hint(std::uint64_t seen, std::uint32_t chunk) const {
    constexpr std::uint64_t hinted = detail::chunk_word::hinted;
    return (seen & hinted) == 0 && (word(chunk).fetch_or(hinted, exec::acq_rel) & hinted) == 0;
  }
  template <class Tile>
  WYRM_HD void write_hints(Tile const& t, std::uint32_t chunk, bool hints) const {
    if (!t.any(hints)) return;
    detail::lane_group const all = detail::group_by(t, 0, hints);
    std::uint32_t first = 0;
    if (all.led_by(t.rank())) first = hint_ends_->claim_back(all.size);
    first = t.shfl(first, all.leader);
    if (hints) hints_.write(first + all.rank, chunk);
  }

  // Claims positions for all lanes of a tile that have a chunk to enqueue, neighbouring ones for those of the same
  // class, if the queue has room for all of these; collective. Otherwise each lane claims its own later.
  template <class Tile>
  WYRM_HD void claim_positions(Tile const& t, unsigned c, queue_entry& entry) const {
    if (!t.any(entry.exists)) return;
    detail::lane_group const mine = detail::group_by(t, c, entry.exists);
    bool const room = mine.led_by(t.rank()) && queues_.try_reserve(c, mine.size);
    std::uint32_t first = 0;
    if (room) first = states_[c].chunks.claim_back_uncounted(mine.size);
    entry.has_position = t.shfl(room, mine.leader) && entry.exists;
    entry.position = t.shfl(first, mine.leader) + mine.rank;
  }
  WYRM_HD void try_claim_position(unsigned c, queue_entry& entry) const {
    if (entry.has_position || !queues_.try_reserve(c, 1)) return;
    entry.position = states_[c].chunks.claim_back_uncounted(1);
    entry.has_position = true;
  }
  WYRM_HD void try_enqueue(unsigned c, queue_entry& entry) const {
    try_claim_position(c, entry);
    if (entry.has_position) entry.exists = !queues_.try_write(c, entry.position, entry.chunk);
  }

  // One thread returns one chunk, or run, to the pool.
  [[nodiscard]] WYRM_HD bool reclaim_one(chunk_pool_ref const& pool, detail::class_states<page_counts> states) const {
    for (unsigned c = detail::page_classes; c-- > 0 && detail::pages_per_chunk(c) == 1;)
      if (reclaim_front(pool, states[c], c)) return true;
    for (std::uint32_t left = hint_ends_->length(); left > 0; --left) {
      if (!hint_ends_->take_one()) break;
      if (reclaim_hinted(pool, states, static_cast<std::uint32_t>(hints_.read(hint_ends_->claim_front(1)))))
        return true;
    }
    return false;
  }

  // Of a class whose pages are chunks, or runs: every entry of its queue is free.
  [[nodiscard]] WYRM_HD bool reclaim_front(chunk_pool_ref const& pool, detail::page_class_state<page_counts>& state,
                                           unsigned c) const {
    if (!state.pages.take_one()) return false;
    (void)state.pages.claim_front(1);
    std::uint32_t const position = states_[c].chunks.claim_front(1);
    std::uint64_t chunk = 0;
    std::uint32_t node = 0;
    for (unsigned attempt = 0; !queues_.try_read(c, position, chunk, node); ++attempt) exec::pause(attempt);
    detail::unpublished_node unpublished;
    queues_.finish_and_reuse(exec::scalar_tile{}, c, node, position, true, unpublished);
    for (unsigned attempt = 0; unpublished.exists; ++attempt) {
      exec::pause(attempt);
      queues_.try_publish(c, unpublished);
    }
    word(chunk).fetch_and(~(detail::chunk_word::queued(c) | detail::chunk_word::owners | detail::chunk_word::counts),
                          exec::acq_rel);
    return_to_pool(pool, state, c, static_cast<std::uint32_t>(chunk));
    return true;
  }

  // Returns the chunk to the pool if all its pages are still free. Its entry stays in the queue of its class, as a
  // stale one.
  [[nodiscard]] WYRM_HD bool reclaim_hinted(chunk_pool_ref const& pool, detail::class_states<page_counts> states,
                                            std::uint32_t chunk) const {
    using w = detail::chunk_word;
    std::uint64_t now = word(chunk).fetch_and(~w::hinted, exec::acq_rel) & ~w::hinted;
    for (;;) {
      if ((now & w::owners) == 0) return false;
      auto const c = static_cast<unsigned>((now & w::owners) >> 16) - 1;
      std::uint32_t const pages = detail::pages_per_chunk(c);
      // If it is not in a queue, the thread that enqueues it writes another hint if one is needed.
      if (w::count(now) != pages || (now & w::queued(c)) == 0) return false;
      if (states[c].pages.take(pages) < pages) {
        // Other lanes have claimed these pages, or as many.
        states[c].pages.uncount(pages);
        write_hints(exec::scalar_tile{}, chunk, needs_hint(now, chunk));
        return false;
      }
      if (word(chunk).compare_exchange_strong(now, now & ~(w::owners | w::counts), exec::acq_rel, exec::acquire)) {
        (void)states[c].pages.claim_front(pages);
        stale(c).fetch_add(1, exec::release);
        return_to_pool(pool, states[c], c, chunk);
        return true;
      }
      states[c].pages.uncount(pages);
      if ((now & w::hinted) != 0) return false;  // another thread has written a hint for it
    }
  }
  // All pages of the chunk are free, and none is claimed: so no other thread reads its mask.
  WYRM_HD void return_to_pool(chunk_pool_ref const& pool, detail::page_class_state<page_counts>& state, unsigned c,
                              std::uint32_t chunk) const {
    masks_.clear(chunk, detail::pages_per_chunk(c));
    exec::atomic_ref<std::uint64_t>(state.chunks).fetch_sub(1, exec::acq_rel);
    pool.free_run(chunk, detail::run_chunks(c));
  }

  detail::chunk_queue_state* states_;
  std::uint64_t* words_;  // one chunk_word per chunk
  detail::chunk_masks masks_;
  queue_ends* hint_ends_;
  index_ring hints_;  // chunks all of whose pages were free, each at most once
  Queues queues_;
  std::uint32_t chunks_;  // of the pool
};

}  // namespace wyrm::alloc
