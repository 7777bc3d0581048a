// SPDX-License-Identifier: Apache-2.0
// The virtualized array-hierarchy queue, VA (Ouroboros, ICS 2020, section 5.1). Each class has a directory, which maps
// a node of the queue to its chunk; node n has entry n modulo the size of the directory. An entry contains the chunk
// and the round, which is n divided by this size. So a node that is not published yet is not mistaken for the earlier
// node of the same entry, and the nodes of an entry are published in order. A directory has 1024 entries (4 KiB). It
// has more if a queue must have room for every chunk of a pool that can become larger than about 16 GiB.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "../../exec/memory.hpp"
#include "../size_classes.hpp"
#include "queue_node.hpp"

namespace wyrm::alloc {

namespace detail {
inline constexpr std::uint32_t least_directory = 1024;
/// 4 bits: the round. 28 bits: the chunk + 1, or 0 while the node has not been published. Rounds are counted modulo 16.
/// This stays right when node numbers wrap around, because 16 divides the number of rounds until then: with E entries
/// per node there are 2^32 / E node numbers, and a directory has at most 2^28 / E entries, because a pool has at most
/// 2^27 chunks.
struct directory_entry {
  static constexpr WYRM_HD std::uint32_t unpublished(std::uint32_t round) { return round << 28; }
  static constexpr WYRM_HD std::uint32_t of(std::uint32_t round, std::uint32_t chunk) {
    return unpublished(round) | (chunk + 1);
  }
  static constexpr WYRM_HD bool has_chunk(std::uint32_t entry) { return (entry & 0xfffffff) != 0; }
  static constexpr WYRM_HD std::uint32_t chunk(std::uint32_t entry) { return (entry & 0xfffffff) - 1; }
};
}  // namespace detail

class node_directory_ref {
 public:
  /// 2^size_log2 entries per class.
  node_directory_ref(std::uint32_t* entries, unsigned size_log2) : entries_(entries), size_log2_(size_log2) {}

  [[nodiscard]] WYRM_HD std::uint32_t max_nodes(detail::node_size const&, unsigned) const { return size(); }
  /// Counts another node of the queue of class c. Returns false, and does nothing, if the directory has no entry for
  /// it.
  [[nodiscard]] WYRM_HD bool try_count_node(detail::node_size const&, unsigned c) const {
    if (nodes(c).fetch_add(1, exec::relaxed) < size()) return true;
    uncount_nodes(c, 1);
    return false;
  }
  [[nodiscard]] WYRM_HD bool is_full(detail::node_size const&, unsigned c) const {
    return nodes(c).load(exec::relaxed) >= size();
  }
  WYRM_HD void uncount_nodes(unsigned c, std::uint32_t count) const { nodes(c).fetch_sub(count, exec::relaxed); }

  /// Enters the node into the directory. False, and the caller must try again, while the node of the previous round
  /// still has unread entries. Each of these has a reader: a queue has at most as many nodes as its directory has
  /// entries, so a later node has been emptied, and positions are claimed in order.
  [[nodiscard]] WYRM_HD bool try_publish(detail::node_size const&, unsigned c, std::uint32_t node,
                                         std::uint32_t chunk) const {
    if (entry(c, node).load(exec::acquire) != detail::directory_entry::unpublished(round(node))) return false;
    entry(c, node).store(detail::directory_entry::of(round(node), chunk), exec::release);
    return true;
  }

  /// The chunk of a node, or no_chunk if the node has not been published; for a reader, and for a writer.
  [[nodiscard]] WYRM_HD std::uint32_t chunk_to_read(detail::node_size const&, unsigned c, std::uint32_t node) const {
    std::uint32_t const found = entry(c, node).load(exec::acquire);
    bool const is_published = found >> 28 == round(node) && detail::directory_entry::has_chunk(found);
    return is_published ? detail::directory_entry::chunk(found) : detail::no_chunk;
  }
  [[nodiscard]] WYRM_HD std::uint32_t chunk_to_write(detail::node_size const& size, unsigned c,
                                                     std::uint32_t node) const {
    return chunk_to_read(size, c, node);
  }

  /// To be called when all entries of the node have been read: removes it, and calls free(chunks, 1) for its chunk.
  template <class Free>
  WYRM_HD void emptied(detail::node_size const&, std::uint32_t const*, unsigned c, std::uint32_t node,
                       std::uint32_t chunk, Free const& free) const {
    entry(c, node).store(detail::directory_entry::unpublished(round(node + size())), exec::release);
    free(&chunk, 1);
  }
  /// Does nothing: unlike those of a list, emptied nodes never stay in the directory.
  template <class Free>
  WYRM_HD void remove_emptied(detail::node_size const&, std::uint32_t const*, unsigned, Free const&) const {}

 private:
  [[nodiscard]] WYRM_HD std::uint32_t size() const { return 1u << size_log2_; }
  [[nodiscard]] WYRM_HD std::uint32_t round(std::uint32_t node) const { return node >> size_log2_ & 15; }
  // The number of nodes of class c; stored after the entries of the class.
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> nodes(unsigned c) const {
    return exec::atomic_ref<std::uint32_t>(entries_[c * (size() + 1) + size()]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> entry(unsigned c, std::uint32_t node) const {
    return exec::atomic_ref<std::uint32_t>(entries_[c * (size() + 1) + (node & (size() - 1))]);
  }

  std::uint32_t* entries_;
  unsigned size_log2_;
};

template <class Space>
class node_directory {
 public:
  using ref_type = node_directory_ref;
  static constexpr char const* kind = "va";
  /// The bytes per class if directories have the smallest size.
  static constexpr std::size_t bytes_per_class = (detail::least_directory + 1) * sizeof(std::uint32_t);

  /// nodes: the number of nodes for which the directory of a queue must have entries.
  node_directory(Space const& space, std::uint32_t nodes)
      : space_(space),
        size_(std::bit_ceil(std::max(nodes, detail::least_directory))),
        entries_(space, std::size_t{detail::page_classes} * (size_ + 1)) {}

  [[nodiscard]] ref_type ref() const { return {entries_.data(), static_cast<unsigned>(std::countr_zero(size_))}; }
  [[nodiscard]] std::size_t bytes() const { return entries_.bytes(); }
  void cover(std::uint32_t) {}
  void reset(detail::node_size const&, std::uint32_t) { space_.fill(entries_.data(), 0, entries_.bytes()); }

  /// The nodes of the queue of class c, and their chunks; `front` is the node of the next entry to be read.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> nodes(detail::node_size const& size, unsigned c,
                                                             std::uint32_t front) const {
    std::map<std::uint32_t, std::uint32_t> all;
    std::vector<std::uint32_t> const entries = exec::copy_out(space_, entries_.data() + c * (size_ + 1), size_);
    for (std::uint32_t i = 0; i < size_; ++i)
      if (detail::directory_entry::has_chunk(entries[i]))
        all[(front + (i - front) % size_) & size.last_node(c)] = detail::directory_entry::chunk(entries[i]);
    return all;
  }

 private:
  Space space_;
  std::uint32_t size_;  // entries per class, a power of two
  exec::buffer<std::uint32_t, Space> entries_;
};

}  // namespace wyrm::alloc
