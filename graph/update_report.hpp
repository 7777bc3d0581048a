// SPDX-License-Identifier: Apache-2.0
// Reports: the result of an update, and the memory of a graph.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wyrm::graph {

/// The result of an update, by edges of its batch (in an undirected graph both directions are one edge).
/// requested = inserted + updated + unchanged + erased + missing + duplicates + self_loops.
struct update_report {
  std::uint64_t requested = 0;
  std::uint64_t inserted = 0;    // edges that were not in the graph
  std::uint64_t updated = 0;     // edges in the graph that got another value
  std::uint64_t unchanged = 0;   // edges to insert that are in the graph, with the same value if they have one
  std::uint64_t erased = 0;      // edges that are not in the graph any more
  std::uint64_t missing = 0;     // edges to erase that are not in the graph
  std::uint64_t duplicates = 0;  // entries of the batch besides the one that decides about the same edge
  std::uint64_t self_loops = 0;  // self-loops that are dropped, as the graph does not keep them
};

/// The result of remove_vertices(). requested = removed + missing + duplicates.
struct removal_report {
  std::uint64_t requested = 0;
  std::uint64_t removed = 0;
  std::uint64_t missing = 0;     // vertices that were absent
  std::uint64_t duplicates = 0;  // entries that repeat a vertex
  std::uint64_t edges = 0;       // edges that were erased with the vertices
};

/// Memory in bytes, by purpose.
struct memory_report {
  std::size_t vertex_table = 0;
  std::size_t neighbours = 0;          // entries of neighbour lists
  std::size_t slack = 0;               // unused entries in pages
  std::size_t snapshot_tables = 0;     // vertex tables of snapshots
  std::size_t snapshot_pages = 0;      // pages that only snapshots have
  std::size_t pool_free = 0;           // committed memory in no page
  std::size_t pool_committed = 0;      // neighbours + slack + snapshot_pages + pool_free
  std::size_t pool_reserved = 0;       // reserved addresses
  std::size_t allocator_overhead = 0;  // queues and tables of the allocator
  std::size_t scratch = 0;             // memory that is kept for the next batch
  /// The memory that is in use (reserved addresses are not).
  [[nodiscard]] std::size_t total() const {
    return vertex_table + snapshot_tables + pool_committed + allocator_overhead + scratch;
  }
};

}  // namespace wyrm::graph
