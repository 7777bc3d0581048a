// SPDX-License-Identifier: Apache-2.0
// The nodes of virtualized queues: the state of a queue, the size and the numbers of its nodes.
#pragma once

#include <cstdint>

#include "../../exec/config.hpp"
#include "bulk_semaphore.hpp"

namespace wyrm::alloc::detail {

/// The state of a queue on the device.
struct alignas(64) virtual_queue_state {
  bulk_semaphore room;  // for entries
  std::uint32_t nodes;  // that have received a number so far
};

inline constexpr std::uint32_t no_chunk = 0xffffffff;

/// The number of entries of a node of the queue of class c, a power of two, and the numbers of nodes: entry p of a
/// queue is on node p / entries(c). Node numbers wrap around, like positions.
struct node_size {
  unsigned log2 = 11;
  unsigned wide_classes = 0;  // below this class entries have 64 bits, and nodes half as many of them

  [[nodiscard]] WYRM_HD bool is_wide(unsigned c) const { return c < wide_classes; }
  [[nodiscard]] WYRM_HD unsigned entries_log2(unsigned c) const { return is_wide(c) ? log2 - 1 : log2; }
  [[nodiscard]] WYRM_HD std::uint32_t entries(unsigned c) const { return 1u << entries_log2(c); }
  /// The node of a position.
  [[nodiscard]] WYRM_HD std::uint32_t node(unsigned c, std::uint32_t position) const {
    return position >> entries_log2(c);
  }
  [[nodiscard]] WYRM_HD std::uint32_t last_node(unsigned c) const { return 0xffffffffu >> entries_log2(c); }
  [[nodiscard]] WYRM_HD std::uint32_t next(unsigned c, std::uint32_t node) const { return (node + 1) & last_node(c); }
  /// The number of nodes from b to a; negative if a is earlier.
  [[nodiscard]] WYRM_HD std::int32_t distance(unsigned c, std::uint32_t a, std::uint32_t b) const {
    return static_cast<std::int32_t>((a - b) << entries_log2(c)) >> entries_log2(c);
  }
};

/// A node that has its number, but could not be published yet: readers of an earlier node use its place.
struct unpublished_node {
  std::uint32_t number = 0;
  std::uint32_t chunk = 0;
  bool exists = false;
};

}  // namespace wyrm::alloc::detail
