// SPDX-License-Identifier: Apache-2.0
// Frontiers as bitmaps, and the round of a search that looks for them from the other side: each vertex that was not
// reached asks its in-neighbours, until one of them is in the frontier (Beamer, Asanovic, Patterson, "Direction-
// Optimizing Breadth-First Search", SC 2012). It pays where the frontier has most arcs: a vertex stops at its first
// hit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/load.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"

namespace wyrm::algorithms::detail {

/// One lane per item: sets the distances of a frontier, and its bits in a bitmap that is clear.
struct set_bits {
  std::uint32_t* bits;
  std::uint32_t* distances;
  std::uint32_t distance;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part > 0) return;
    graph::vertex_id const v = item->vertex;
    distances[v] = distance;
    exec::atomic_ref<std::uint32_t>(bits[v / 32]).fetch_or(1u << v % 32, exec::relaxed);
  }
};

/// One lane per item: adds up the degrees of a frontier.
struct sum_degrees {
  graph::graph_view g;
  std::uint64_t* sum;
  template <class Tile>
  WYRM_HD tile_sum<std::uint64_t> begin(Tile const&) const {
    return tile_sum<std::uint64_t>(sum);
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item, tile_sum<std::uint64_t>& all) const {
    all.add(item != nullptr && item->part == 0 ? g.degree(item->vertex) : 0);
  }
};

/// One lane per vertex: lists the vertices whose bits are set.
struct list_bits {
  graph::graph_view g;
  std::uint32_t const* bits;
  frontier to;
  template <class Tile>
  WYRM_HD frontier_end<Tile> begin(Tile const&) const {
    return {g, to};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid, frontier_end<Tile>& end) const {
    bool const has = valid && (bits[v / 32] >> v % 32 & 1) != 0;
    if (t.any(has)) end.append(t, static_cast<graph::vertex_id>(v), has);
  }
};

/// One tile per `words_of_tile` words of the bitmaps: what is reached from the frontier is marked, gets its distance,
/// and is the next frontier. A word belongs to one tile, so no atomic operation is needed but to count.
struct pull_frontier {
  static constexpr std::uint32_t words_of_tile = 8;
  static constexpr std::uint32_t alone = 4;  // in-neighbours that a lane asks before its tile helps

  graph::graph_view g;
  std::uint32_t* marks;  // of reached vertices
  std::uint32_t const* now;
  std::uint32_t* next;
  std::uint32_t* distances;
  std::uint32_t distance;     // of what is reached now
  std::uint32_t* reached;     // is added to
  graph::vertex_id* parents;  // of what is reached: the smallest in-neighbour in the frontier; nullptr: not asked for

  [[nodiscard]] WYRM_HD static std::size_t words(std::size_t vertices) { return (vertices + 31) / 32; }
  [[nodiscard]] static std::size_t tiles(std::size_t vertices) {
    return (words(vertices) + words_of_tile - 1) / words_of_tile;
  }

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    std::size_t const last = words(g.vertices());
    std::uint32_t count = 0;
    for (std::size_t w = tile * words_of_tile; w < (tile + 1) * words_of_tile && w < last; ++w) {
      std::uint32_t const before = marks[w];
      std::uint32_t const found = before == ~std::uint32_t{0} ? 0 : search(t, w, before);
      if (t.rank() != 0) continue;
      next[w] = found;
      if (found != 0) marks[w] = before | found;
      count += static_cast<std::uint32_t>(cuda::std::popcount(found));
    }
    if (t.rank() == 0 && count > 0) exec::atomic_ref<std::uint32_t>(*reached).fetch_add(count, exec::relaxed);
  }

 private:
  [[nodiscard]] WYRM_HD bool is_in_frontier(graph::vertex_id v) const { return (now[v / 32] >> v % 32 & 1) != 0; }

  /// The bits of a word that are reached; collective.
  template <class Tile>
  WYRM_HD std::uint32_t search(Tile const& t, std::size_t w, std::uint32_t before) const {
    if constexpr (Tile::size() == 1) return search_one_by_one(w, before);
    std::uint32_t bits = 0;
    for (std::uint32_t k = t.rank(); k < 32 + t.rank(); k += Tile::size()) {
      std::size_t const v = 32 * w + k;
      bool const asks = v < g.vertices() && (before >> k & 1) == 0;
      graph::neighbour_list const row =
          asks ? g.in_neighbours(static_cast<graph::vertex_id>(v)) : graph::neighbour_list{nullptr, 0};
      graph::vertex_id hit = first_hit({row.data, row.size < alone ? row.size : alone});
      bool const needs_help = hit == graph::no_vertex && row.size > alone;
      for (std::uint32_t waiting = t.ballot(needs_help); waiting != 0; waiting &= waiting - 1) {
        auto const from = static_cast<unsigned>(cuda::std::countr_zero(waiting));
        graph::vertex_id const found = search_together(t, row, from);
        if (t.rank() == from) hit = found;
      }
      if (hit != graph::no_vertex) bits |= reach(v, hit);
    }
    return exec::any_bits(t, bits);
  }
  /// The same by one lane. It goes through the vertices that are not reached, and no others, as each branch that is not
  /// predicted costs a core as much as several entries.
  WYRM_HD std::uint32_t search_one_by_one(std::size_t w, std::uint32_t before) const {
    std::uint32_t const in_graph = g.vertices() - 32 * w < 32 ? (1u << g.vertices() % 32) - 1 : ~std::uint32_t{0};
    std::uint32_t const asking = ~before & in_graph;
    for (std::uint32_t left = asking; left != 0; left &= left - 1)
      exec::prefetch(g.in_neighbours(vertex(w, left)).data);
    std::uint32_t bits = 0;
    for (std::uint32_t left = asking; left != 0; left &= left - 1) {
      graph::vertex_id const v = vertex(w, left);
      graph::vertex_id const hit = first_hit(g.in_neighbours(v));
      if (hit != graph::no_vertex) bits |= reach(v, hit);
    }
    return bits;
  }
  /// The vertex of the lowest bit in a word.
  [[nodiscard]] WYRM_HD static graph::vertex_id vertex(std::size_t w, std::uint32_t bits) {
    return static_cast<graph::vertex_id>(32 * w) + static_cast<graph::vertex_id>(cuda::std::countr_zero(bits));
  }
  /// Stores what is known of v, which is reached from `hit`; returns its bit.
  WYRM_HD std::uint32_t reach(std::size_t v, graph::vertex_id hit) const {
    distances[v] = distance;
    if (parents != nullptr) parents[v] = hit;
    return 1u << v % 32;
  }
  /// The first vertex of a list that is in the frontier, or no_vertex.
  [[nodiscard]] WYRM_HD graph::vertex_id first_hit(graph::neighbour_list const& list) const {
    for (graph::vertex_id const v : list)
      if (is_in_frontier(v)) return v;
    return graph::no_vertex;
  }
  /// The first of the in-neighbours of lane `from` that the lane has not asked, and that is in the frontier, or
  /// no_vertex; collective.
  template <class Tile>
  WYRM_HD graph::vertex_id search_together(Tile const& t, graph::neighbour_list const& row, unsigned from) const {
    auto const* const data =
        reinterpret_cast<graph::vertex_id const*>(t.shfl(reinterpret_cast<std::uintptr_t>(row.data), from));
    std::uint32_t const size = t.shfl(row.size, from);
    for (std::uint32_t i = alone; i < size; i += Tile::size()) {
      std::uint32_t const at = i + t.rank();
      std::uint32_t const hits = t.ballot(at < size && is_in_frontier(data[at]));
      if (hits != 0) return data[i + exec::first_lane(hits)];
    }
    return graph::no_vertex;
  }
};

}  // namespace wyrm::algorithms::detail
