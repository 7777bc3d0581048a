// SPDX-License-Identifier: Apache-2.0
// What a graph is told when it is made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../alloc/allocator.hpp"

namespace wyrm::graph {

struct options {
  bool directed = false;      // false: each edge is stored in both directions
  bool in_neighbours = true;  // directed graphs: keep them too (PageRank pulls along them)
  bool self_loops = false;    // false: they are dropped, and counted in the report
  alloc::options pool = {};   // the allocator's; the pool grows as needed, up to reserve_bytes
  // Of the hash table that groups a batch by source. 0: drawn at random for each graph, so that nobody can choose ids
  // that collide.
  std::uint32_t hash_seed = 0;
};

/// How many edges of a graph that is made from so many are inserted at a time: a quarter, so that the scratch of a
/// batch (about 30 bytes an arc) stays small beside the graph, and few enough for a batch of 2^32 arcs.
[[nodiscard]] constexpr std::size_t slice_for(std::uint64_t edges) {
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>((edges + 3) / 4, std::uint64_t{1} << 22, std::uint64_t{1} << 28));
}

}  // namespace wyrm::graph
