// SPDX-License-Identifier: Apache-2.0
// Virtualized queues (Ouroboros, ICS 2020, section 5), on the device. The entries of a queue are on chunks of the pool,
// the nodes of the queue. A node is allocated when it is needed, and freed when all its entries have been read. `Links`
// finds the chunk of a node: node_directory.hpp (VA) or node_list.hpp (VL).
//
// Before a writer claims positions it reserves room: a bulk semaphore designates the threads that must supply a node.
// So each claimed position has a node, or will have one, and no thread that holds a position waits for memory. If a
// node cannot be allocated, reserve() returns false, and the page store spills the pages (see spilled_pages.hpp).
//
// Departures from the paper: the semaphore, not position 0, designates the thread that supplies a chunk. A node has one
// counter instead of two, because a node whose entries have all been read has also been written completely.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bulk_semaphore.hpp"
#include "chunk_pool.hpp"
#include "index_ring.hpp"
#include "queue_ends.hpp"
#include "queue_node.hpp"

namespace wyrm::alloc {

template <class Links>
class virtual_queues_ref {
 public:
  virtual_queues_ref(std::byte* base, detail::virtual_queue_state* states, std::uint32_t* read, Links const& links,
                     detail::node_size const& size)
      : base_(base), states_(states), read_(read), links_(links), size_(size) {}

  /// Reserves room for n more entries in the queue of class c, for each leader of a group of lanes, at most one per
  /// class; collective. Returns false if there is no room. A designated lane supplies nodes before it waits for any
  /// other thread. If the pool appears exhausted, or the queue has its maximum number of nodes, each lane is refused
  /// without polling, designated or not: the pages that these lanes free go into lists of spilled pages, and are found
  /// there. (While a chunk moves within the pool, the pool may appear exhausted although it is not. The only effect is
  /// that some pages are spilled unnecessarily.)
  template <class Tile>
  [[nodiscard]] WYRM_HD bool reserve(Tile const& t, chunk_pool_ref const& pool, queue_ends&, bool leads, unsigned c,
                                     std::uint32_t n) const {
    constexpr unsigned patience = 64;
    bool granted = false;
    bool asks = leads;
    std::uint32_t designated = asks ? states_[c].room.demand(n, size_.entries(c)) : 0;
    while (t.any(asks)) {
      bool refused = false;
      for (std::uint32_t suppliers = t.ballot(designated > 0); suppliers != 0; suppliers &= suppliers - 1) {
        unsigned const leader = exec::first_lane(suppliers);
        bool const supplied = supply_nodes(t, pool, t.shfl(c, leader), t.shfl(designated, leader), leader);
        if (t.rank() == leader) refused = !supplied;
      }
      for (unsigned attempt = 0; asks && !refused && !granted && attempt < patience; ++attempt) {
        granted = states_[c].room.value() >= 0;
        if (granted) break;
        // Occasionally, because possibly no thread supplies a node any longer.
        refused = attempt % 8 == 0 && (pool.looks_used_up() || links_.is_full(size_, c));
        if (!refused) exec::pause(attempt);
      }
      if (refused) states_[c].room.supply(n);
      asks = asks && !granted && !refused;
      designated = asks ? 1 : 0;  // the designated threads have failed, or are very slow
    }
    return granted;
  }

  /// Claims positions for n entries for which room was reserved; returns the first.
  [[nodiscard]] WYRM_HD static std::uint32_t claim_back(queue_ends& ends, std::uint32_t n) {
    return ends.claim_back(n);
  }
  /// Writes the entry at a claimed position; waits until its node has been published.
  WYRM_HD void write(unsigned c, std::uint32_t position, std::uint64_t index) const {
    for (unsigned attempt = 0; !try_write(c, position, index); ++attempt) exec::pause(attempt);
  }
  /// Reads the entry at a claimed position; waits until it has been written. `chunk`: its node, for finish().
  [[nodiscard]] WYRM_HD std::uint64_t read(unsigned c, std::uint32_t position, std::uint32_t& chunk) const {
    std::uint64_t index = 0;
    for (unsigned attempt = 0; !try_read(c, position, index, chunk); ++attempt) exec::pause(attempt);
    return index;
  }

  /// The entry at a position between the ends, while no other thread uses the queue.
  [[nodiscard]] WYRM_HD std::uint64_t peek(unsigned c, std::uint32_t position) const {
    std::uint64_t index = 0;
    std::uint32_t chunk = 0;
    (void)try_read(c, position, index, chunk);
    return index;
  }

  // The same without waiting. False: there is no room; the node of the position has not been published; the entry has
  // not been written.
  [[nodiscard]] WYRM_HD bool try_reserve(unsigned c, std::uint32_t n) const { return states_[c].room.take(n); }
  [[nodiscard]] WYRM_HD bool try_write(unsigned c, std::uint32_t position, std::uint64_t index) const {
    std::uint32_t const chunk = links_.chunk_to_write(size_, c, size_.node(c, position));
    if (chunk != detail::no_chunk) slots(c, chunk).write_once(slot(c, position), index);
    return chunk != detail::no_chunk;
  }
  [[nodiscard]] WYRM_HD bool try_read(unsigned c, std::uint32_t position, std::uint64_t& index,
                                      std::uint32_t& chunk) const {
    chunk = links_.chunk_to_read(size_, c, size_.node(c, position));
    return chunk != detail::no_chunk && slots(c, chunk).try_read_once(slot(c, position), index);
  }

  /// To be called after read(). A group of n lanes has read n entries, this lane the one of its rank in the group, at
  /// `position`; n is 0 for other lanes; collective. The lane that counts the last entry of a node frees its chunk.
  template <class Tile>
  WYRM_HD void finish(Tile const& t, chunk_pool_ref const& pool, unsigned c, std::uint32_t chunk,
                      std::uint32_t position, std::uint32_t rank, std::uint32_t n) const {
    bool const last = finishes_node(t, c, chunk, position, rank, n);
    extent_ref::one_by_one(t, t.ballot(last), [&] {
      links_.emptied(size_, read_, c, size_.node(c, position), chunk,
                     [&](std::uint32_t const* chunks, std::uint32_t count) {
                       links_.uncount_nodes(c, count);
                       pool.free(chunks, count);
                     });
    });
  }

  /// The same after one entry, if `has`, but the chunk of an emptied node becomes the last node of the same queue. If
  /// the node cannot be published yet it is returned as `unpublished`: the caller must call try_publish() until it is,
  /// and may not wait for anything else meanwhile.
  template <class Tile>
  WYRM_HD void finish_and_reuse(Tile const& t, unsigned c, std::uint32_t chunk, std::uint32_t position, bool has,
                                detail::unpublished_node& unpublished) const {
    bool const last = finishes_node(t, c, chunk, position, 0, has ? 1 : 0);
    extent_ref::one_by_one(t, t.ballot(last), [&] {
      links_.emptied(size_, read_, c, size_.node(c, position), chunk, reuse_as_nodes(c, unpublished));
    });
  }
  /// To be called by one thread after install() for a queue that reuses its nodes: nodes that were emptied while they
  /// were the last of a list, and stayed in it, become its last nodes again.
  WYRM_HD void reuse_emptied(unsigned c) const {
    detail::unpublished_node unpublished;  // stays empty: only lists have such nodes, and publish immediately
    links_.remove_emptied(size_, read_, c, reuse_as_nodes(c, unpublished));
  }
  /// Publishes the node, if it can be, and supplies the room of its entries.
  WYRM_HD void try_publish(unsigned c, detail::unpublished_node& node) const {
    if (!links_.try_publish(size_, c, node.number, node.chunk)) return;
    node.exists = false;
    states_[c].room.supply(size_.entries(c));
  }

  /// Makes a chunk the last node of the queue of class c, which has fewer than max_nodes(); collective. It waits for
  /// readers of earlier nodes at most, so the caller must hold no position that it has not read.
  template <class Tile>
  WYRM_HD void install(Tile const& t, chunk_pool_ref const& pool, unsigned c, unsigned leader,
                       std::uint32_t chunk) const {
    clear(t, c, chunk);
    if (t.rank() != leader) return;
    pool.set_use(chunk, chunk_of_queue);
    detail::unpublished_node node = number(c, chunk);
    for (unsigned attempt = 0; try_publish(c, node), node.exists; ++attempt) exec::pause(attempt);
  }
  [[nodiscard]] WYRM_HD std::uint32_t max_nodes(unsigned c) const { return links_.max_nodes(size_, c); }
  [[nodiscard]] WYRM_HD std::uint32_t entries_per_node(unsigned c) const { return size_.entries(c); }

 private:
  // Counts the entries that were read, see finish(): one lane per node, the lane with the first entry of the group on
  // it. True for a lane that counts the last entry of a node; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool finishes_node(Tile const& t, unsigned c, std::uint32_t chunk, std::uint32_t position,
                                           std::uint32_t rank, std::uint32_t n) const {
    t.sync();
    if (rank >= n || (rank > 0 && slot(c, position) != 0)) return false;
    std::uint32_t const rest = size_.entries(c) - slot(c, position);  // on this node
    std::uint32_t const here = n - rank < rest ? n - rank : rest;
    return exec::atomic_ref<std::uint32_t>(read_[chunk]).fetch_add(here, exec::acq_rel) + here == size_.entries(c);
  }
  // Makes all slots of a node empty; each is written once. Collective.
  template <class Tile>
  WYRM_HD void clear(Tile const& t, unsigned c, std::uint32_t chunk) const {
    struct alignas(16) two_words {
      std::uint64_t word[2];
    };
    auto* const pairs = reinterpret_cast<two_words*>(base_ + std::size_t{chunk} * chunk_bytes);
    std::uint32_t const bytes = static_cast<std::uint32_t>(index_slots::entry_bytes(size_.is_wide(c)))
                                << size_.entries_log2(c);
    std::uint32_t const n = (bytes + 15) / 16;
    constexpr unsigned at_once = 16;  // the tile may be a single lane, for which others wait
    for (std::uint32_t k = t.rank(); k < n; k += at_once * t.size())
      for (unsigned i = 0; i < at_once; ++i)
        if (k + i * t.size() < n) pairs[k + i * t.size()] = {{0, 0}};
    t.sync();
  }
  [[nodiscard]] WYRM_HD auto reuse_as_nodes(unsigned c, detail::unpublished_node& unpublished) const {
    return [this, c, &unpublished](std::uint32_t const* chunks, std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) {  // count is 1 where nodes can stay unpublished
        clear(exec::scalar_tile{}, c, chunks[i]);
        unpublished = number(c, chunks[i]);
        try_publish(c, unpublished);
      }
    };
  }
  // Assigns the next node number to a chunk.
  [[nodiscard]] WYRM_HD detail::unpublished_node number(unsigned c, std::uint32_t chunk) const {
    exec::atomic_ref<std::uint32_t>(read_[chunk]).store(0, exec::relaxed);
    std::uint32_t const node = exec::atomic_ref<std::uint32_t>(states_[c].nodes).fetch_add(1, exec::relaxed);
    return {node & size_.last_node(c), chunk, true};
  }

  [[nodiscard]] WYRM_HD std::uint32_t slot(unsigned c, std::uint32_t position) const {
    return position & (size_.entries(c) - 1);
  }
  [[nodiscard]] WYRM_HD index_slots slots(unsigned c, std::uint32_t chunk) const {
    return {base_ + std::size_t{chunk} * chunk_bytes, size_.is_wide(c)};
  }

  // Allocates this number of nodes for class c; collective. False if one cannot be allocated.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool supply_nodes(Tile const t, chunk_pool_ref const& pool, unsigned c,
                                                        std::uint32_t count, unsigned leader) const {
    for (; count > 0; --count) {
      chunk_range range{0, 0};
      // take() of an exhausted pool would take a lock.
      if (t.rank() == leader && !pool.looks_used_up() && links_.try_count_node(size_, c)) {
        range = pool.take(1);
        if (range.count == 0) links_.uncount_nodes(c, 1);
      }
      if (t.shfl(range.count, leader) == 0) return false;
      install(t, pool, c, leader, t.shfl(range.first, leader));
    }
    return true;
  }

  std::byte* base_;
  detail::virtual_queue_state* states_;
  std::uint32_t* read_;  // of each queue chunk: how many of its entries have been read
  Links links_;
  detail::node_size size_;
};

}  // namespace wyrm::alloc
