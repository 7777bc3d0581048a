// SPDX-License-Identifier: Apache-2.0
// Breadth-first search: the distance of each vertex, in arcs, from the nearest of some sources (Moore 1959). All
// vertices at one distance form a frontier, which is expanded along out-arcs (push); a vertex with many neighbours is
// split among several tiles. Threads claim a vertex by setting its bit in a bitmap. All threads that try to claim the
// same vertex do so in the same round, and so would assign the same distance; the result does not depend on the order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/rounds.hpp"

namespace wyrm::algorithms {

struct bfs_result {
  static constexpr std::uint32_t unreached = ~std::uint32_t{0};
  std::vector<std::uint32_t> distance;  // of each vertex: arcs from the nearest source, or unreached
  std::uint32_t rounds = 0;             // that visited a vertex: one more than the greatest distance; 0 without sources
  std::size_t reached = 0;              // vertices, sources included
};

namespace detail {

/// One lane per source; sources may repeat.
struct begin_search {
  graph::graph_view g;
  graph::vertex_id const* sources;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    to.add(t, g, valid ? sources[i] : 0, valid);
  }
};

/// One tile per item of the frontier at a distance.
struct visit_frontier {
  graph::graph_view g;
  std::uint32_t* distances;
  std::uint32_t distance;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    if (t.rank() == 0 && item.part == 0) distances[item.vertex] = distance;
    graph::neighbour_list const part = item.part_of(g.neighbours(item.vertex));
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const v = has ? part[i + t.rank()] : 0;
      bool const may_be_new = has && (exec::load_recent(next.marks[v / 32]) >> v % 32 & 1) == 0;
      next.add(t, g, v, may_be_new);
    }
  }
};

}  // namespace detail

/// Distances from one or several sources; sources may repeat. O(vertices + arcs of reached vertices), with one launch
/// per distance; scratch of about 20 bytes per vertex and 1/16 byte per arc. Throws error(bad_argument) for a source
/// out of range.
template <class Space>
bfs_result bfs(Space const& space, graph::graph_view const& g, std::span<graph::vertex_id const> sources) {
  std::size_t const n = g.vertices();
  for (graph::vertex_id const v : sources)
    if (v >= n)
      throw error(error_code::bad_argument, "bfs: the source " + std::to_string(v) +
                                                " is not in the graph, which has " + std::to_string(n) +
                                                " vertices; they are numbered from 0");
  bfs_result result;
  result.distance.assign(n, bfs_result::unreached);
  if (sources.empty()) return result;

  exec::buffer<graph::vertex_id, Space> begin(space, sources.size());
  exec::buffer<std::uint32_t, Space> distances(space, n);
  exec::copy_in<graph::vertex_id>(space, begin.data(), sources);
  space.fill(distances.data(), 0xff, distances.bytes());
  detail::rounds<Space> rounds(space, g);
  exec::for_each_lane<32>(space, sources.size(), detail::begin_search{g, begin.data(), rounds.now()});
  rounds.run([&](std::uint32_t distance, detail::frontier const& next) {
    return detail::visit_frontier{g, distances.data(), distance, next};
  });

  space.copy_out(result.distance.data(), distances.data(), distances.bytes());
  for (std::uint32_t const distance : result.distance) {
    if (distance == bfs_result::unreached) continue;
    ++result.reached;
    result.rounds = std::max(result.rounds, distance + 1);
  }
  return result;
}

bfs_result bfs(graph::any_graph const& g, std::span<graph::vertex_id const> sources);

}  // namespace wyrm::algorithms
