// SPDX-License-Identifier: Apache-2.0
// What an update says about itself, and what a graph says about its memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wyrm::graph {

/// What became of the edges of one batch; all counts are edges (in an undirected graph both directions are one edge).
/// For an insertion requested = inserted + duplicates + self_loops; for an erasure requested = erased + missing +
/// duplicates + self_loops.
struct update_report {
  std::uint64_t requested = 0;
  std::uint64_t inserted = 0;
  std::uint64_t erased = 0;
  std::uint64_t duplicates = 0;  // repeated in the batch, or in an insertion there already
  std::uint64_t missing = 0;     // to be erased, but not there
  std::uint64_t self_loops = 0;  // dropped, as the graph does not keep them
};

/// Bytes by purpose.
struct memory_report {
  std::size_t vertex_table = 0;
  std::size_t neighbours = 0;          // entries of neighbour lists
  std::size_t slack = 0;               // room in pages beyond these
  std::size_t pool_free = 0;           // committed, in no page of the graph
  std::size_t pool_committed = 0;      // neighbours + slack + pool_free
  std::size_t pool_reserved = 0;       // addresses, not memory
  std::size_t allocator_overhead = 0;  // queues and tables of the allocator
  std::size_t scratch = 0;             // kept for the next batch
  /// The memory that is really held.
  [[nodiscard]] std::size_t total() const { return vertex_table + pool_committed + allocator_overhead + scratch; }
};

}  // namespace wyrm::graph
