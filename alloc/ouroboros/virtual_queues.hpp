// SPDX-License-Identifier: Apache-2.0
// Virtualized queues (Ouroboros, ICS 2020, section 5): the entries lie on queue chunks, taken from the pool when they
// are needed and given back when all their entries have been read. Entry p of a queue lies on node p / E, a queue chunk
// of E entries. `Links` finds the chunk of a node: chunk_directory.hpp (VA) or chunk_list.hpp (VL).
//
// Before it claims positions, a writer reserves room: a bulk semaphore names those who must bring a node. So every
// position that is claimed has, or will have, a node, and nobody who holds a position waits for memory. When a node
// cannot be had, room is refused, and the entries go elsewhere (see page_store.hpp). Departures from the paper: the
// thread that brings a chunk is named by the semaphore, rather than by position 0; one counter a node instead of two,
// as a node whose E entries were read has been written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../size_classes.hpp"
#include "bulk_semaphore.hpp"
#include "chunk_pool.hpp"
#include "index_ring.hpp"
#include "queue_ends.hpp"

namespace wyrm::alloc {

namespace detail {

/// What changes on the device, a class.
struct alignas(64) virtual_queue_state {
  bulk_semaphore room;
  std::uint32_t nodes;  // brought so far
};

inline constexpr std::uint32_t no_chunk = 0xffffffff;

/// How many entries a node of class c has, as a power of two.
struct node_size {
  unsigned log2 = 11;
  unsigned wide_classes = 0;  // in the classes below, entries have 64 bits and nodes half as many of them

  [[nodiscard]] WYRM_HD bool is_wide(unsigned c) const { return c < wide_classes; }
  [[nodiscard]] WYRM_HD unsigned entries_log2(unsigned c) const { return is_wide(c) ? log2 - 1 : log2; }
  [[nodiscard]] WYRM_HD std::uint32_t entries(unsigned c) const { return 1u << entries_log2(c); }
  /// The node of a position; nodes go around as positions do.
  [[nodiscard]] WYRM_HD std::uint32_t node(unsigned c, std::uint32_t position) const {
    return position >> entries_log2(c);
  }
  [[nodiscard]] WYRM_HD std::uint32_t last_node(unsigned c) const { return 0xffffffffu >> entries_log2(c); }
  [[nodiscard]] WYRM_HD std::uint32_t next(unsigned c, std::uint32_t node) const { return (node + 1) & last_node(c); }
  /// How far node a lies behind node b; negative if before it.
  [[nodiscard]] WYRM_HD std::int32_t distance(unsigned c, std::uint32_t a, std::uint32_t b) const {
    return static_cast<std::int32_t>((a - b) << entries_log2(c)) >> entries_log2(c);
  }
};

}  // namespace detail

template <class Links>
class virtual_queues_ref {
 public:
  virtual_queues_ref(std::byte* base, detail::virtual_queue_state* states, std::uint32_t* read, Links const& links,
                     detail::node_size const& size)
      : base_(base), states_(states), read_(read), links_(links), size_(size) {}

  /// Whether there is room for n more entries in the queue of class c, asked by the lanes that lead, at most one a
  /// class; collective. Who is named brings nodes before it waits for anybody. When the pool looks used up, or there
  /// are all the nodes that the queue may have, all are refused without a poll, whoever was named: what they free goes
  /// elsewhere, and is found there. (A pool may look used up wrongly, while a chunk moves in it; then some pages go
  /// elsewhere that need not have, and nothing else happens.)
  template <class Tile>
  [[nodiscard]] WYRM_HD bool reserve(Tile const& t, chunk_pool_ref const& pool, queue_ends&, bool leads, unsigned c,
                                     std::uint32_t n) const {
    constexpr unsigned patience = 64;
    bool granted = false;
    bool asks = leads;
    std::uint32_t named = asks ? states_[c].room.demand(n, size_.entries(c)) : 0;
    while (t.any(asks)) {
      bool refused = false;
      for (std::uint32_t bringing = t.ballot(named > 0); bringing != 0; bringing &= bringing - 1) {
        unsigned const leader = exec::first_lane(bringing);
        bool const brought = bring_nodes(t, pool, t.shfl(c, leader), t.shfl(named, leader), leader);
        if (t.rank() == leader) refused = !brought;
      }
      for (unsigned attempt = 0; asks && !refused && !granted && attempt < patience; ++attempt) {
        granted = states_[c].room.value() >= 0;
        if (granted) break;
        // At first, and then from time to time: maybe nobody is bringing a node.
        refused = attempt % 8 == 0 && (pool.looks_used_up() || links_.is_full(size_, c));
        if (!refused) exec::pause(attempt);
      }
      if (refused) states_[c].room.supply(n);
      asks = asks && !granted && !refused;
      named = asks ? 1 : 0;  // those who were named have failed, or are very slow
    }
    return granted;
  }

  /// Positions for entries for which there is room.
  [[nodiscard]] WYRM_HD static std::uint32_t claim_back(queue_ends& ends, std::uint32_t n) {
    return ends.claim_back(n);
  }
  WYRM_HD void put(unsigned c, std::uint32_t position, std::uint64_t index) const {
    for (unsigned attempt = 0; !try_put(c, position, index); ++attempt) exec::pause(attempt);
  }
  /// Also says on which chunk the entry was, for finish().
  [[nodiscard]] WYRM_HD std::uint64_t take(unsigned c, std::uint32_t position, std::uint32_t& chunk) const {
    std::uint64_t index = 0;
    for (unsigned attempt = 0; !try_take(c, position, index, chunk); ++attempt) exec::pause(attempt);
    return index;
  }

  /// The entry at a position between the ends, while nobody is at work.
  [[nodiscard]] WYRM_HD std::uint64_t peek(unsigned c, std::uint32_t position) const {
    std::uint64_t index = 0;
    std::uint32_t chunk = 0;
    (void)try_take(c, position, index, chunk);
    return index;
  }

  // The same without waiting: room for one entry; an entry, perhaps, at a position whose node may not have come, or
  // that nobody may have written yet.
  [[nodiscard]] WYRM_HD bool try_room(unsigned c, std::uint32_t n) const { return states_[c].room.take(n); }
  [[nodiscard]] WYRM_HD bool try_put(unsigned c, std::uint32_t position, std::uint64_t index) const {
    std::uint32_t const chunk = links_.look_to_write(size_, c, size_.node(c, position));
    if (chunk != detail::no_chunk) slots(c, chunk).put_once(slot(c, position), index);
    return chunk != detail::no_chunk;
  }
  [[nodiscard]] WYRM_HD bool try_take(unsigned c, std::uint32_t position, std::uint64_t& index,
                                      std::uint32_t& chunk) const {
    chunk = links_.look_to_read(size_, c, size_.node(c, position));
    return chunk != detail::no_chunk && slots(c, chunk).try_read_once(slot(c, position), index);
  }

  /// A group of lanes has read n entries, mine the one of that rank, at this position; n is 0 for other lanes;
  /// collective. Who reads the last entry of a node gives the chunk to the pool.
  template <class Tile>
  WYRM_HD void finish(Tile const& t, chunk_pool_ref const& pool, unsigned c, std::uint32_t chunk,
                      std::uint32_t position, std::uint32_t rank, std::uint32_t n) const {
    bool const last = count_read(t, c, chunk, position, rank, n);
    extent_ref::one_by_one(t, t.ballot(last), [&] {
      links_.emptied(size_, read_, c, size_.node(c, position), chunk,
                     [&](std::uint32_t const* chunks, std::uint32_t count) {
                       links_.dismiss(c, count);
                       pool.give(chunks, count);
                     });
    });
  }

  /// The same after one entry, if `has`, but the chunk becomes the last node of this queue. Whoever is told by `late`
  /// that it has not become so yet must try_publish() it until it has, and may not wait for anything meanwhile.
  template <class Tile>
  WYRM_HD void finish_and_keep(Tile const& t, unsigned c, std::uint32_t chunk, std::uint32_t position, bool has,
                               detail::late_node& late) const {
    bool const last = count_read(t, c, chunk, position, 0, has ? 1 : 0);
    extent_ref::one_by_one(t, t.ballot(last), [&] {
      links_.emptied(size_, read_, c, size_.node(c, position), chunk, keep_as_nodes(c, late));
    });
  }
  /// To be called after install() by a queue that keeps its nodes, by one thread: nodes that were emptied while they
  /// were the last of a list, and stayed, become its last nodes again.
  WYRM_HD void keep_emptied(unsigned c) const {
    detail::late_node late;  // none is: nodes of a list are published at once, and no others come here
    links_.collect(size_, read_, c, keep_as_nodes(c, late));
  }
  WYRM_HD void try_publish(unsigned c, detail::late_node& node) const {
    if (!links_.try_publish(size_, c, node.number, node.chunk)) return;
    node.is_there = false;
    states_[c].room.supply(size_.entries(c));
  }

  /// A chunk becomes a node of class c, which has fewer than most_nodes(); collective. Waits, at most, for those who
  /// read nodes: who calls this holds no position.
  template <class Tile>
  WYRM_HD void install(Tile const& t, chunk_pool_ref const& pool, unsigned c, unsigned leader,
                       std::uint32_t chunk) const {
    clear(t, c, chunk);
    if (t.rank() != leader) return;
    pool.mark(chunk, chunk_of_queue);
    detail::late_node node = number(c, chunk);
    for (unsigned attempt = 0; try_publish(c, node), node.is_there; ++attempt) exec::pause(attempt);
  }
  [[nodiscard]] WYRM_HD std::uint32_t most_nodes(unsigned c) const { return links_.most(size_, c); }
  [[nodiscard]] WYRM_HD std::uint32_t entries_a_node(unsigned c) const { return size_.entries(c); }

 private:
  // Whether n entries that were read, see finish(), were the last ones of their node, mine at its beginning;
  // collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool count_read(Tile const& t, unsigned c, std::uint32_t chunk, std::uint32_t position,
                                        std::uint32_t rank, std::uint32_t n) const {
    t.sync();
    if (rank >= n || (rank > 0 && slot(c, position) != 0)) return false;
    std::uint32_t const rest = size_.entries(c) - slot(c, position);  // on this node
    std::uint32_t const here = n - rank < rest ? n - rank : rest;
    return exec::atomic_ref<std::uint32_t>(read_[chunk]).fetch_add(here, exec::acq_rel) + here == size_.entries(c);
  }
  // A node's slots are written once; they begin as "empty". Collective.
  template <class Tile>
  WYRM_HD void clear(Tile const& t, unsigned c, std::uint32_t chunk) const {
    auto* const words = reinterpret_cast<std::uint64_t*>(base_ + std::size_t{chunk} * chunk_bytes);
    std::uint32_t const bytes = static_cast<std::uint32_t>(index_slots::entry_bytes(size_.is_wide(c)))
                                << size_.entries_log2(c);
    for (std::uint32_t k = t.rank(); k < (bytes + 7) / 8; k += Tile::size()) words[k] = 0;
    t.sync();
  }
  [[nodiscard]] WYRM_HD auto keep_as_nodes(unsigned c, detail::late_node& late) const {
    return [this, c, &late](std::uint32_t const* chunks, std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) {  // one, where any can be late
        clear(exec::scalar_tile{}, c, chunks[i]);
        late = number(c, chunks[i]);
        try_publish(c, late);
      }
    };
  }
  [[nodiscard]] WYRM_HD detail::late_node number(unsigned c, std::uint32_t chunk) const {
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

  // Brings so many nodes for class c; collective. False if one cannot be had.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool bring_nodes(Tile const t, chunk_pool_ref const& pool, unsigned c,
                                                       std::uint32_t count, unsigned leader) const {
    for (; count > 0; --count) {
      chunk_range range{0, 0};
      // To ask a pool that is used up means to take a lock.
      if (t.rank() == leader && !pool.looks_used_up() && links_.admit(size_, c)) {
        range = pool.take(1);
        if (range.count == 0) links_.dismiss(c, 1);
      }
      if (t.shfl(range.count, leader) == 0) return false;
      install(t, pool, c, leader, t.shfl(range.first, leader));
    }
    return true;
  }

  std::byte* base_;
  detail::virtual_queue_state* states_;
  std::uint32_t* read_;  // of a queue chunk: entries that were read
  Links links_;
  detail::node_size size_;
};

template <class Space, template <class> class Links>
class virtual_queues {
 public:
  using links = Links<Space>;
  using ref_type = virtual_queues_ref<typename links::ref_type>;
  static constexpr char const* kind = links::kind;
  static constexpr std::size_t bytes_a_class = sizeof(detail::virtual_queue_state) + links::bytes_a_class;

  /// of_chunks: the entries are chunks, not pages, each chunk of the pool has room, and emptied nodes are used again by
  /// their queue.
  virtual_queues(Space const& space, extent<Space> const& memory, unsigned node_log2, bool of_chunks)
      : space_(space),
        base_(memory.base()),
        states_(space, detail::page_classes),
        read_(space),
        links_(space, of_chunks ? nodes_for(memory, node_log2) : 0) {
    size_.log2 = node_log2;
    while (!of_chunks && size_.wide_classes < detail::page_classes &&
           memory.capacity() >> detail::number_log2(size_.wide_classes) >= 0xffffffff)
      ++size_.wide_classes;
  }

  [[nodiscard]] ref_type ref() const { return {base_, states_.data(), read_.data(), links_.ref(), size_}; }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes() + read_.bytes() + links_.bytes(); }

  template <class Ends>
  void reset(std::uint32_t chunks, Ends const&) {
    std::vector<detail::virtual_queue_state> const fresh(detail::page_classes);
    exec::copy_in<detail::virtual_queue_state>(space_, states_.data(), fresh);
    read_.cover(chunks);
    links_.reset(size_, chunks);
  }
  /// What a pool of so many chunks needs; may throw.
  [[nodiscard]] int prepare(std::uint32_t chunks) {
    read_.cover(chunks);
    links_.cover(chunks);
    return 0;
  }
  template <class Ends>
  void grow(int, Ends const&) {}

  /// The entries of class c from the front; throws error(corrupt) if one is missing.
  [[nodiscard]] std::vector<std::uint64_t> entries(unsigned c, queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    std::vector<std::uint64_t> all;
    if (ends.size() == 0) return all;
    auto const live = links_.nodes(size_, c, size_.node(c, ends.first()));
    for (std::uint32_t done = 0; done < ends.size();) {
      std::uint32_t const position = ends.first() + done;
      auto const found = live.find(size_.node(c, position));
      ensure(found != live.end(), who, what + "an entry is on a node that is not there");
      std::uint32_t const from = position & (size_.entries(c) - 1);
      std::uint32_t const count = std::min(size_.entries(c) - from, ends.size() - done);
      if (size_.is_wide(c))
        append<std::uint64_t>(all, found->second, from, count);
      else
        append<std::uint32_t>(all, found->second, from, count);
      done += count;
    }
    for (std::uint64_t const index : all) ensure(index != ~std::uint64_t{0}, who, what + "an entry is missing");
    return all;
  }

  /// The queue chunks are those that the queues have.
  template <class Ends>
  void check(char const* who, chunk_pool<Space> const& pool, Ends const& ends) const {
    std::vector<std::uint32_t> const uses = pool.uses();
    auto const all = static_cast<std::size_t>(std::count(uses.begin(), uses.end(), chunk_of_queue));
    std::size_t owned = 0;
    for (unsigned c = 0; c < detail::page_classes; ++c)
      for (auto const& [node, chunk] : links_.nodes(size_, c, size_.node(c, ends(c).first()))) {
        ensure(chunk < uses.size() && uses[chunk] == chunk_of_queue, who, "a node is not on a queue chunk");
        ++owned;
      }
    ensure(owned == all, who, std::to_string(all - owned) + " queue chunks belong to no queue");
  }

 private:
  // For every chunk that a pool can have, and one more: see chunk_store_ref::nodes_for.
  [[nodiscard]] static std::uint32_t nodes_for(extent<Space> const& memory, unsigned node_log2) {
    return static_cast<std::uint32_t>((memory.capacity() / chunk_bytes >> node_log2) + 2);
  }
  template <class T>
  void append(std::vector<std::uint64_t>& all, std::uint32_t chunk, std::uint32_t from, std::uint32_t count) const {
    auto* const slots = reinterpret_cast<T*>(base_ + std::size_t{chunk} * chunk_bytes);
    for (T const entry : exec::copy_out(space_, slots + from, count)) all.push_back(std::uint64_t{entry} - 1);
  }

  Space space_;
  std::byte* base_;
  exec::buffer<detail::virtual_queue_state, Space> states_;
  pool_table<std::uint32_t, Space> read_;
  links links_;
  detail::node_size size_;
};

}  // namespace wyrm::alloc
