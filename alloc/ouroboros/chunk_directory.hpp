// SPDX-License-Identifier: Apache-2.0
// The virtualized array-hierarchy queue, VA (Ouroboros, ICS 2020, section 5.1): an array of entries a class says on
// which chunk a node lies; node n has entry n modulo their number. An entry holds the chunk and how often the array has
// gone around, so that a node that is about to come is not taken for the one before it, and nodes that share an entry
// come in turn. 1024 entries, 4 KiB, a class; more where the queue must have room for every chunk of a pool that can
// become larger than 16 GiB less two such steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "virtual_queues.hpp"

namespace wyrm::alloc {

namespace detail {
inline constexpr std::uint32_t least_directory = 1024;
/// 4 bits of the round, 28 bits of chunk + 1, or 0: to come. Rounds are counted modulo 16, which divides how many
/// rounds there are before node numbers go around: with E entries a node there are 2^32 / E numbers, and directories
/// have 2^28 / E entries at most, as a pool has no more than 2^27 chunks.
struct directory_entry {
  static constexpr WYRM_HD std::uint32_t to_come(std::uint32_t round) { return round << 28; }
  static constexpr WYRM_HD std::uint32_t of(std::uint32_t round, std::uint32_t chunk) {
    return to_come(round) | (chunk + 1);
  }
  static constexpr WYRM_HD bool has_chunk(std::uint32_t entry) { return (entry & 0xfffffff) != 0; }
  static constexpr WYRM_HD std::uint32_t chunk(std::uint32_t entry) { return (entry & 0xfffffff) - 1; }
};
}  // namespace detail

class chunk_directory_ref {
 public:
  /// 2^size_log2 entries a class.
  chunk_directory_ref(std::uint32_t* entries, unsigned size_log2) : entries_(entries), size_log2_(size_log2) {}

  [[nodiscard]] WYRM_HD std::uint32_t most(detail::node_size const&, unsigned) const { return size(); }
  /// Whether there is an entry for another node of class c; then it is counted.
  [[nodiscard]] WYRM_HD bool admit(detail::node_size const&, unsigned c) const {
    if (nodes(c).fetch_add(1, exec::relaxed) < size()) return true;
    dismiss(c, 1);
    return false;
  }
  [[nodiscard]] WYRM_HD bool is_full(detail::node_size const&, unsigned c) const {
    return nodes(c).load(exec::relaxed) >= size();
  }
  WYRM_HD void dismiss(unsigned c, std::uint32_t count) const { nodes(c).fetch_sub(count, exec::relaxed); }

  /// False, and it must be tried again, while somebody still reads a node that came a whole round earlier. Every entry
  /// of that one has a reader: the node that we have again lay behind it, and was read to its end.
  [[nodiscard]] WYRM_HD bool try_publish(detail::node_size const&, unsigned c, std::uint32_t node,
                                         std::uint32_t chunk) const {
    if (entry(c, node).load(exec::acquire) != detail::directory_entry::to_come(round(node))) return false;
    entry(c, node).store(detail::directory_entry::of(round(node), chunk), exec::release);
    return true;
  }

  /// The chunk of a node, or no_chunk if it has not come.
  [[nodiscard]] WYRM_HD std::uint32_t look_to_read(detail::node_size const&, unsigned c, std::uint32_t node) const {
    std::uint32_t const found = entry(c, node).load(exec::acquire);
    bool const has_come = found >> 28 == round(node) && detail::directory_entry::has_chunk(found);
    return has_come ? detail::directory_entry::chunk(found) : detail::no_chunk;
  }
  [[nodiscard]] WYRM_HD std::uint32_t look_to_write(detail::node_size const& size, unsigned c,
                                                    std::uint32_t node) const {
    return look_to_read(size, c, node);
  }

  /// All entries of the node have been read: calls give(chunks, n) with its chunk.
  template <class Give>
  WYRM_HD void emptied(detail::node_size const&, std::uint32_t const*, unsigned c, std::uint32_t node,
                       std::uint32_t chunk, Give const& give) const {
    entry(c, node).store(detail::directory_entry::to_come(round(node + size())), exec::release);
    give(&chunk, 1);
  }
  /// See chunk_list.hpp: here an emptied node never stays.
  template <class Give>
  WYRM_HD void collect(detail::node_size const&, std::uint32_t const*, unsigned, Give const&) const {}

 private:
  [[nodiscard]] WYRM_HD std::uint32_t size() const { return 1u << size_log2_; }
  [[nodiscard]] WYRM_HD std::uint32_t round(std::uint32_t node) const { return node >> size_log2_ & 15; }
  // Behind the entries of a class: how many nodes it has.
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
class chunk_directory {
 public:
  using ref_type = chunk_directory_ref;
  static constexpr char const* kind = "va";
  /// At the least.
  static constexpr std::size_t bytes_a_class = (detail::least_directory + 1) * sizeof(std::uint32_t);

  /// A class may have so many nodes, or more.
  chunk_directory(Space const& space, std::uint32_t nodes)
      : space_(space),
        size_(std::bit_ceil(std::max(nodes, detail::least_directory))),
        entries_(space, std::size_t{detail::page_classes} * (size_ + 1)) {}

  [[nodiscard]] ref_type ref() const { return {entries_.data(), static_cast<unsigned>(std::countr_zero(size_))}; }
  [[nodiscard]] std::size_t bytes() const { return entries_.bytes(); }
  void cover(std::uint32_t) {}
  void reset(detail::node_size const&, std::uint32_t) { space_.fill(entries_.data(), 0, entries_.bytes()); }

  /// The nodes that class c has, and their chunks; `front` is the node of the next entry to be read.
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
  std::uint32_t size_;  // entries a class, a power of two
  exec::buffer<std::uint32_t, Space> entries_;
};

}  // namespace wyrm::alloc
