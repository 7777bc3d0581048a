// SPDX-License-Identifier: Apache-2.0
// The options of a graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../alloc/allocator.hpp"
#include "types.hpp"

namespace wyrm::graph {

struct options {
  bool directed = false;      // false: each edge is stored in both directions
  bool in_neighbours = true;  // directed graphs: also keep in-neighbours (PageRank pulls along them)
  bool self_loops = false;    // false: self-loops are dropped, and counted in the report
  // Graphs with values: what happens when an edge is inserted that is in the graph. Other than `latest` only for values
  // of the types uint32_t, int64_t, float and double.
  combiner combine = combiner::latest;
  // The values of a graph whose type is chosen at run time: any_graph, or one with values of the type any_number. Other
  // graphs have it in their type, and ignore this option.
  number_type values = number_type::none;
  // The most vertices that the graph can have. Addresses are reserved for them, and the vertex table grows in place, in
  // steps of 2 MiB on a CUDA device, of 64 KiB on a CPU. 0: no such limit; the table then moves when it grows.
  std::size_t max_vertices = 0;
  // Room that build() and compact() leave in each page, as a part of its neighbours, 0 to 1. With 0 pages have the
  // smallest sizes that the allocator has, and most vertices need a new page when they get their first new neighbour.
  float slack = 0;
  alloc::options pool = {};  // of the allocator; the pool grows as needed, up to reserve_bytes
  // Seed of the hash table that groups a batch by source. 0: drawn at random for each graph, so that an attacker cannot
  // choose ids that collide.
  std::uint32_t hash_seed = 0;
};

/// The batch size for the construction of a graph of `edges` edges: a quarter of them, so that the scratch of a batch
/// (about 30 bytes per arc) stays small compared with the graph; at least 2^22, and at most 2^28, because a batch has
/// at most 2^32 arcs.
[[nodiscard]] constexpr std::size_t slice_for(std::uint64_t edges) {
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>((edges + 3) / 4, std::uint64_t{1} << 22, std::uint64_t{1} << 28));
}

}  // namespace wyrm::graph
