// SPDX-License-Identifier: Apache-2.0
// Core numbers. The k-core of a graph remains when vertices with fewer than k remaining neighbours are removed until
// there are none; the core number of a vertex is the greatest k such that the k-core contains the vertex (Matula and
// Beck, J. ACM 1983). All vertices that can be removed at the same time form a frontier; the vertices that have too few
// neighbours after their removal form the next frontier (Dasari, Desh, Zubair, IEEE Big Data 2014). When the frontier
// for a k is empty, the next k is the least number of remaining neighbours. Only vertices that remained after the
// previous k are read to find it. So a vertex is read once for each core number that occurs and is at most its own, and
// all reads are O(vertices + arcs).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/peel_on_host.hpp"
#include "detail/peeling.hpp"
#include "detail/requirements.hpp"
#include "detail/rounds.hpp"
#include "triangles.hpp"

namespace wyrm::algorithms {

struct core_numbers_result {
  std::vector<std::uint32_t> core;  // of each vertex
  std::uint32_t degeneracy = 0;     // the greatest core number
};

namespace detail {

/// The vertices that remained after the previous k. See peeler.
struct core_peeling {
  graph::graph_view g;
  std::uint32_t* degrees;  // numbers of remaining neighbours
  frontier now;
  /// Not valid for a vertex that other threads may be adding to the frontier.
  [[nodiscard]] WYRM_HD bool is_removed(graph::vertex_id v) const {
    return (exec::atomic_ref<std::uint32_t>(now.marks[v / 32]).load(exec::relaxed) >> v % 32 & 1) != 0;
  }
  [[nodiscard]] WYRM_HD std::uint32_t left_of(graph::vertex_id v) const { return degrees[v]; }
  template <class Tile>
  WYRM_HD void remove(Tile const& t, graph::vertex_id v, bool has) const {
    now.add(t, g, v, has);
  }
};

/// One tile per item of the frontier. The lane that decrements the degree of a vertex from k + 1 to k adds the vertex
/// to the next frontier. A vertex of degree at most k is already in a frontier, which includes the vertex of the item.
struct peel {
  graph::graph_view g;
  std::uint32_t* degrees;
  std::uint32_t* cores;
  peeling_state const* state;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    std::uint32_t const core = state->k;
    if (t.rank() == 0 && item.part == 0) cores[item.vertex] = core;
    graph::neighbour_list const part = item.part_of(g.neighbours(item.vertex));
    for_some_neighbours(t, g, part, item.vertex, [&]<unsigned N>(some_neighbours<N> const& some) {
      bool is_removed[N];
      for (unsigned k = 0; k < N; ++k) is_removed[k] = exec::load_recent(degrees[some.v[k]]) > core;
      for (unsigned k = 0; k < N; ++k)
        is_removed[k] = is_removed[k] &&
                        exec::atomic_ref<std::uint32_t>(degrees[some.v[k]]).fetch_sub(1, exec::relaxed) == core + 1;
      next.add(t, g, some.v, is_removed);
    });
  }
};

/// Peels graphs; keeps its scratch memory: 24 bytes per vertex and 1/16 byte per arc.
template <class Space>
class core_peeler {
 public:
  explicit core_peeler(Space const& space) : space_(space), rounds_(space), peeler_(space) {}

  /// Requests the memory of run() for graphs with at most so many vertices and arcs. Throws error(out_of_memory).
  void reserve(std::size_t vertices, std::uint64_t arcs) {
    rounds_.reserve(vertices, arcs);
    peeler_.reserve(vertices);
  }
  /// Writes the core numbers of an undirected graph with at least one vertex. degrees: scratch, one number per vertex.
  /// Returns the number of rounds over frontiers.
  std::uint32_t run(graph::graph_view const& g, std::uint32_t* degrees, std::uint32_t* cores) {
    rounds_.begin(g);
    exec::for_each(space_, g.vertices(), count_others{g, degrees});
    auto const peeling = [&](std::uint32_t) { return core_peeling{g, degrees, rounds_.now()}; };
    return peeler_.run(g.vertices(), rounds_, peeling, peel{g, degrees, cores, nullptr, {}}).rounds;
  }

 private:
  Space space_;
  rounds<Space> rounds_;
  peeler<Space> peeler_;
};

inline core_numbers_result with_degeneracy(std::vector<std::uint32_t> core) {
  std::uint32_t const degeneracy = core.empty() ? 0 : *std::max_element(core.begin(), core.end());
  return {std::move(core), degeneracy};
}

}  // namespace detail

/// The core number of each vertex of an undirected graph; self-loops do not count. O(vertices + arcs), with one launch
/// per large frontier, or for several small ones (a path of n vertices is peeled from both ends: n / 2 frontiers). The
/// host reads the size of at least every sixteenth large frontier, and synchronises at least twice for each core number
/// that occurs. Scratch: about 32 bytes per vertex and 1/16 byte per arc. On a CPU see detail/peel_on_host.hpp: 20
/// bytes per vertex. Throws error(bad_argument) for a directed graph.
template <class Space>
core_numbers_result core_numbers(Space const& space, graph::graph_view const& g) {
  detail::require_undirected(g, "core_numbers");
  std::size_t const n = g.vertices();
  if (n == 0) return {};
  exec::buffer<std::uint32_t, Space> degrees(space, n);
  exec::buffer<std::uint32_t, Space> cores(space, n);
  if constexpr (exec::has_tiles<Space>) {
    detail::core_peeler<Space>(space).run(g, degrees.data(), cores.data());
  } else {
    exec::for_each(space, n, detail::count_others{g, degrees.data()});
    detail::peel_on_host(space, g, degrees.data(), cores.data());
  }
  return detail::with_degeneracy(exec::copy_out(space, cores.data(), n));
}

core_numbers_result core_numbers(graph::any_graph const& g);

}  // namespace wyrm::algorithms
