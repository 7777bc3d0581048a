// SPDX-License-Identifier: Apache-2.0
// The virtualized linked-chunk queue, VL (Ouroboros, ICS 2020, section 5.2). The nodes of a queue form a linked list.
// The state of a class is the two ends of its list, 64 bytes; the links are in one table with 16 bytes per chunk of the
// pool. Readers traverse the list from the nearer end, writers from the back. Algorithm 6 advances the front.
//
// Departure from the paper: the paper keeps at least t nodes that the front has passed, with t derived from the number
// of threads; here they are freed immediately. The table of links is outside the pool, and its memory is never used for
// anything else. A link to the next node contains the class and the number of that node.
//
// Why a reader that starts at the front finds its node s: the reader loads the front after it has claimed its position
// on s, so it passes the nodes from there to s. While s has unread entries, no new node gets a number in this range
// (there are 2^32 / E node numbers, with E entries per node, and a queue has at most 2^30 entries). So a link with the
// expected class and number is right, even if the chunk of the link has been freed meanwhile. If the reader finds any
// other link, it starts again at the front. Threads that start at the back traverse backwards to a node with an entry
// that they have not written, or not read, yet: this node, and all later ones, stay in the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../pool_table.hpp"
#include "../size_classes.hpp"
#include "queue_node.hpp"

namespace wyrm::alloc {

namespace detail {
/// One end of a list: the number of the node in the upper half, its chunk in the lower.
WYRM_HD constexpr std::uint64_t list_end(std::uint32_t node, std::uint32_t chunk) {
  return std::uint64_t{node} << 32 | chunk;
}
WYRM_HD constexpr std::uint32_t node_of(std::uint64_t end) { return static_cast<std::uint32_t>(end >> 32); }
WYRM_HD constexpr std::uint32_t chunk_of(std::uint64_t end) { return static_cast<std::uint32_t>(end); }
/// The next node: its number (the lower 31 bits, which distinguish the nodes of a queue, see above), its class
/// (6 bits), its chunk (27 bits).
WYRM_HD constexpr std::uint64_t link_to(unsigned c, std::uint32_t node, std::uint32_t chunk) {
  return std::uint64_t{node} << 33 | std::uint64_t{c} << 27 | chunk;
}
inline constexpr std::uint64_t no_link = ~std::uint64_t{0};

struct alignas(64) list_state {
  std::uint64_t front;
  std::uint64_t back;
  std::uint32_t nodes;
};
struct list_links {
  std::uint64_t next;
  std::uint32_t previous;
};
}  // namespace detail

class node_list_ref {
 public:
  node_list_ref(detail::list_state* states, detail::list_links* links) : states_(states), links_(links) {}

  /// A queue has at most 2^30 entries.
  [[nodiscard]] WYRM_HD static std::uint32_t max_nodes(detail::node_size const& size, unsigned c) {
    return (1u << 30) >> size.entries_log2(c);
  }
  /// Counts another node of the queue of class c. Returns false, and does nothing, if it already has max_nodes().
  [[nodiscard]] WYRM_HD bool try_count_node(detail::node_size const& size, unsigned c) const {
    if (nodes(c).fetch_add(1, exec::relaxed) < max_nodes(size, c)) return true;
    uncount_nodes(c, 1);
    return false;
  }
  [[nodiscard]] WYRM_HD bool is_full(detail::node_size const& size, unsigned c) const {
    return nodes(c).load(exec::relaxed) >= max_nodes(size, c);
  }
  WYRM_HD void uncount_nodes(unsigned c, std::uint32_t count) const { nodes(c).fetch_sub(count, exec::relaxed); }

  /// Appends the node to the list. Always true; it waits only for the threads that publish the nodes before this one.
  [[nodiscard]] WYRM_HD bool try_publish(detail::node_size const& size, unsigned c, std::uint32_t node,
                                         std::uint32_t chunk) const {
    exec::atomic_ref<std::uint64_t> back(states_[c].back);
    std::uint64_t last = back.load(exec::acquire);
    while (size.next(c, detail::node_of(last)) != node) {
      exec::pause(0);  // few threads wait here, each for the previous one
      last = back.load(exec::acquire);
    }
    next(chunk).store(detail::no_link, exec::relaxed);
    previous(chunk).store(detail::chunk_of(last), exec::relaxed);
    if (detail::chunk_of(last) == detail::no_chunk)
      exec::atomic_ref<std::uint64_t>(states_[c].front).store(detail::list_end(node, chunk), exec::release);
    else
      next(detail::chunk_of(last)).store(detail::link_to(c, node, chunk), exec::release);
    back.store(detail::list_end(node, chunk), exec::release);
    return true;
  }

  /// The chunk of a node, or no_chunk if the node has not been published; for a writer, and for a reader.
  [[nodiscard]] WYRM_HD std::uint32_t chunk_to_write(detail::node_size const& size, unsigned c,
                                                     std::uint32_t node) const {
    std::uint64_t const last = exec::atomic_ref<std::uint64_t>(states_[c].back).load(exec::acquire);
    std::int32_t const behind = size.distance(c, detail::node_of(last), node);
    bool const is_published = detail::chunk_of(last) != detail::no_chunk && behind >= 0;
    return is_published ? walk_back(detail::chunk_of(last), behind) : detail::no_chunk;
  }
  [[nodiscard]] WYRM_HD std::uint32_t chunk_to_read(detail::node_size const& size, unsigned c,
                                                    std::uint32_t node) const {
    std::uint64_t const first = exec::atomic_ref<std::uint64_t>(states_[c].front).load(exec::acquire);
    std::uint64_t const last = exec::atomic_ref<std::uint64_t>(states_[c].back).load(exec::acquire);
    std::int32_t const ahead = size.distance(c, node, detail::node_of(first));
    std::int32_t const behind = size.distance(c, detail::node_of(last), node);
    std::uint32_t chunk = detail::chunk_of(first);
    if (behind >= 0 && behind < ahead && detail::chunk_of(last) != detail::no_chunk)
      return walk_back(detail::chunk_of(last), behind);
    for (std::uint32_t at = detail::node_of(first); chunk != detail::no_chunk && at != node;) {
      at = size.next(c, at);
      chunk = follow(c, at, chunk);
    }
    return chunk;
  }

  /// To be called when all entries of a node have been read. Removes the emptied nodes at the front of the list, and
  /// calls free(chunks, n) for their chunks. The last node of the list stays until another one is published; a node
  /// that is emptied at the same time as another one may stay for a while, too.
  template <class Free>
  WYRM_HD void emptied(detail::node_size const& size, std::uint32_t* read, unsigned c, std::uint32_t, std::uint32_t,
                       Free const& free) const {
    remove_emptied(size, read, c, free);
  }
  /// To be called after a node was published, if emptied() may not be called again: the nodes before the new one may
  /// have been emptied already. A thread that publishes writes the link and then adds zero to the count of entries
  /// read; a thread that reads the last entry adds to that count and then reads the link. The two additions are
  /// ordered, so one of the two threads sees both the link and the full count.
  template <class Free>
  WYRM_HD void remove_emptied(detail::node_size const& size, std::uint32_t* read, unsigned c, Free const& free) const {
    constexpr unsigned at_once = 16;
    exec::atomic_ref<std::uint64_t> front(states_[c].front);
    std::uint64_t first = front.load(exec::acquire);
    while (detail::chunk_of(first) != detail::no_chunk) {
      std::uint32_t chunks[at_once];
      unsigned n = 0;
      std::uint64_t now = first;
      for (; n < at_once; ++n) {
        chunks[n] = detail::chunk_of(now);
        std::uint32_t const node = size.next(c, detail::node_of(now));
        std::uint32_t const second = follow(c, node, chunks[n]);
        std::uint32_t const count = exec::atomic_ref<std::uint32_t>(read[chunks[n]]).fetch_add(0, exec::acq_rel);
        if (count != size.entries(c) || second == detail::no_chunk) break;
        now = detail::list_end(node, second);
      }
      if (n == 0) return;
      // If the front has not changed, no other thread has removed these nodes, and the values read from them are valid.
      if (!front.compare_exchange_strong(first, now, exec::acq_rel, exec::acquire)) continue;
      free(chunks, n);
      first = now;
    }
  }

 private:
  [[nodiscard]] WYRM_HD std::uint32_t walk_back(std::uint32_t chunk, std::int32_t nodes) const {
    for (; nodes > 0; --nodes) chunk = previous(chunk).load(exec::relaxed);
    return chunk;
  }
  // The chunk of the node, if `chunk` is or was the chunk of the node before it; no_chunk otherwise, or if it has not
  // been published.
  [[nodiscard]] WYRM_HD std::uint32_t follow(unsigned c, std::uint32_t node, std::uint32_t chunk) const {
    std::uint64_t const link = next(chunk).load(exec::acquire);
    std::uint32_t const found = static_cast<std::uint32_t>(link) & 0x7ffffff;
    return link == detail::link_to(c, node, found) ? found : detail::no_chunk;
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> nodes(unsigned c) const {
    return exec::atomic_ref<std::uint32_t>(states_[c].nodes);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> next(std::uint32_t chunk) const {
    return exec::atomic_ref<std::uint64_t>(links_[chunk].next);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> previous(std::uint32_t chunk) const {
    return exec::atomic_ref<std::uint32_t>(links_[chunk].previous);
  }

  detail::list_state* states_;
  detail::list_links* links_;  // an entry per chunk
};

template <class Space>
class node_list {
 public:
  using ref_type = node_list_ref;
  static constexpr char const* kind = "vl";
  static constexpr std::size_t bytes_per_class = sizeof(detail::list_state);

  node_list(Space const& space, std::uint32_t /*nodes*/)
      : space_(space), states_(space, detail::page_classes), links_(space) {}

  [[nodiscard]] ref_type ref() const { return {states_.data(), links_.data()}; }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes() + links_.bytes(); }
  void cover(std::uint32_t chunks) { links_.cover(chunks); }
  void reset(detail::node_size const& size, std::uint32_t chunks) {
    links_.cover(chunks);
    std::vector<detail::list_state> fresh(detail::page_classes);
    for (unsigned c = 0; c < detail::page_classes; ++c)  // as if node -1 had been the last
      fresh[c] = {detail::list_end(0, detail::no_chunk), detail::list_end(size.last_node(c), detail::no_chunk), 0};
    exec::copy_in<detail::list_state>(space_, states_.data(), fresh);
  }

  /// The nodes of the queue of class c, and their chunks.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> nodes(detail::node_size const& size, unsigned c,
                                                             std::uint32_t) const {
    std::map<std::uint32_t, std::uint32_t> all;
    detail::list_state const state = exec::read(space_, states_.data() + c);
    if (detail::chunk_of(state.back) == detail::no_chunk) return all;
    std::uint32_t chunk = detail::chunk_of(state.back);
    for (std::uint32_t node = detail::node_of(state.back);; node = (node - 1) & size.last_node(c)) {
      all[node] = chunk;
      if (node == detail::node_of(state.front)) return all;
      chunk = exec::read(space_, links_.data() + chunk).previous;
    }
  }

 private:
  Space space_;
  exec::buffer<detail::list_state, Space> states_;
  pool_table<detail::list_links, Space> links_;
};

}  // namespace wyrm::alloc
