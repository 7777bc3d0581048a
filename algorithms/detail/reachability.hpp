// SPDX-License-Identifier: Apache-2.0
// The steps of strong_components.hpp. A vertex remains until its component is known. Each remaining vertex is in a
// region, which contains its whole component; arcs between regions are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/philox.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "../bfs.hpp"
#include "../components.hpp"
#include "frontier.hpp"

namespace wyrm::algorithms::detail {

/// In device memory; the host reads it.
struct partition_state {
  std::uint64_t pivot = 0;      // see find_pivot
  std::uint32_t remaining = 0;  // vertices
};

struct vertex_partition {
  graph::vertex_id* label;   // a vertex of the component of each vertex; no_vertex for remaining vertices
  graph::vertex_id* region;  // of remaining vertices; no_vertex for the others

  [[nodiscard]] WYRM_HD bool share_region(graph::vertex_id u, graph::vertex_id v) const {
    return region[u] == region[v];
  }
};

/// All vertices that are in the graph remain, in one region.
struct begin_partition {
  graph::graph_view g;
  vertex_partition p;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    bool const remains = g.is_present(v);
    p.label[v] = remains ? no_vertex : v;
    p.region[v] = remains ? 0 : no_vertex;
  }
};

/// One lane per vertex of a list, or of the graph: lists those that remain, and takes the others out of their regions.
struct list_remaining {
  vertex_partition p;
  graph::vertex_id const* from;  // nullptr: all vertices
  graph::vertex_id* to;
  partition_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    graph::vertex_id const v = !valid ? 0 : from == nullptr ? static_cast<graph::vertex_id>(i) : from[i];
    bool const remains = valid && p.label[v] == no_vertex;
    if (valid && !remains) p.region[v] = no_vertex;
    std::uint32_t const all = t.ballot(remains);
    if (all == 0) return;
    std::uint32_t first = 0;
    if (t.rank() == 0)
      first = exec::atomic_ref<std::uint32_t>(state->remaining)
                  .fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(all)), exec::relaxed);
    first = t.shfl(first, 0);
    if (remains) to[first + exec::rank_in(t, all)] = v;
  }
};

/// One lane per remaining vertex: adds those to a frontier for which f(v) is true.
template <class F>
struct list_if {
  graph::graph_view g;
  graph::vertex_id const* vertices;
  F f;
  frontier to;
  bool marks;  // whether their marks are set
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    graph::vertex_id const v = valid ? vertices[i] : 0;
    bool const has = valid && f(v);
    if (marks)
      to.add(t, g, v, has);
    else
      to.append(t, g, v, has);
  }
};

// Trimming. A vertex without in-neighbours is a component of its own, and so is one that has none when such vertices
// are removed. The removal of a vertex without in-neighbours does not change the number of out-neighbours of any
// vertex that remains, as its in-neighbours are all removed. So one pass for in-neighbours and one for out-neighbours
// remove all.

/// Sets `left` to 0, for all remaining vertices.
struct clear_left {
  std::uint32_t* left;
  WYRM_HD bool operator()(graph::vertex_id v) const {
    left[v] = 0;
    return true;
  }
};

/// Whether a vertex remains and has no neighbours left.
struct has_none_left {
  vertex_partition p;
  std::uint32_t const* left;
  WYRM_HD bool operator()(graph::vertex_id v) const { return left[v] == 0 && p.label[v] == no_vertex; }
};

/// One tile per item of all remaining vertices: counts the neighbours in the same region, without self-loops.
struct count_left {
  graph::graph_view g;
  vertex_partition p;
  std::uint32_t* left;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(g.neighbours(v));
    std::uint32_t count = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size())
      count += part[i] != v && p.share_region(part[i], v) ? 1u : 0u;
    count = exec::sum(t, count);
    if (t.rank() == 0 && count > 0) exec::atomic_ref<std::uint32_t>(left[v]).fetch_add(count, exec::relaxed);
  }
};

/// One tile per item of a frontier of vertices that are components of their own: decrements the number of neighbours
/// left of each vertex that its arcs lead to. A label that is read is not written in the same round, because its vertex
/// still has a neighbour left.
struct trim_vertices {
  graph::graph_view g;
  vertex_partition p;
  std::uint32_t* left;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    if (t.rank() == 0 && item.part == 0) p.label[v] = v;
    graph::neighbour_list const part = item.part_of(g.neighbours(v));
    for_some_neighbours(t, g, part, v, [&]<unsigned N>(some_neighbours<N> const& some) {
      bool counts[N];
      std::uint32_t parts[N];
      for (unsigned k = 0; k < N; ++k)
        counts[k] = some.v[k] != v && p.share_region(some.v[k], v) && p.label[some.v[k]] == no_vertex;
      for (unsigned k = 0; k < N; ++k)
        counts[k] = counts[k] && exec::atomic_ref<std::uint32_t>(left[some.v[k]]).fetch_sub(1, exec::relaxed) == 1;
      for (unsigned k = 0; k < N; ++k) parts[k] = counts[k] ? frontier_item::parts(g.degree(some.v[k])) : 0;
      next.append(t, some.v, parts);
    });
  }
};

// Forward and backward search from a pivot.

/// One lane per remaining vertex: finds one with the largest product of both degrees. state->pivot is the product as
/// a float, and the complement of the vertex.
struct find_pivot {
  graph::graph_view g;
  graph::vertex_id const* vertices;
  partition_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint64_t best = valid ? key(vertices[i]) : 0;
    for (unsigned step = Tile::size() / 2; step > 0; step /= 2) {
      std::uint64_t const other = t.shfl(best, t.rank() ^ step);
      best = other > best ? other : best;
    }
    if (t.rank() == 0 && best > exec::load_recent(state->pivot))
      exec::atomic_ref<std::uint64_t>(state->pivot).fetch_max(best, exec::relaxed);
  }
  [[nodiscard]] static graph::vertex_id vertex(std::uint64_t key) { return ~static_cast<std::uint32_t>(key); }

 private:
  [[nodiscard]] WYRM_HD std::uint64_t key(graph::vertex_id v) const {
    auto const product = static_cast<float>(g.degree(v)) * static_cast<float>(g.in_records()[v].degree);
    return std::uint64_t{cuda::std::bit_cast<std::uint32_t>(product)} << 32 | static_cast<std::uint32_t>(~v);
  }
};

/// Splits the only region by a search from the pivot: what was reached, and what was not.
struct split_region {
  vertex_partition p;
  graph::vertex_id const* vertices;
  std::uint32_t const* distance;
  WYRM_HD void operator()(std::size_t i) const {
    graph::vertex_id const v = vertices[i];
    p.region[v] = distance[v] != bfs_result::unreached ? 1 : 0;
  }
};

/// The component of the pivot is what both searches reach. The others are split into three regions: no component has
/// vertices of two of them.
struct label_pivot {
  vertex_partition p;
  graph::vertex_id const* vertices;
  std::uint32_t const* distance;
  graph::vertex_id pivot;
  WYRM_HD void operator()(std::size_t i) const {
    graph::vertex_id const v = vertices[i];
    if (distance[v] == bfs_result::unreached) return;
    if (p.region[v] == 1) p.label[v] = pivot;
    p.region[v] += 2;
  }
};

// Colouring. Each vertex has a colour, and takes the greatest one of all vertices from which it can be reached. A
// vertex that keeps its own colour is a root. Its component is what reaches it and has its colour.

/// Gives a vertex a colour of its own: a random number, and its id. With ids only, the components on a path could be
/// found one by one.
struct begin_colours {
  std::uint64_t* colour;
  std::uint32_t turn;
  WYRM_HD bool operator()(graph::vertex_id v) const {
    colour[v] = std::uint64_t{exec::philox({{v, turn, 0, 0}}, 0, 0).x[0]} << 32 | v;
    return true;
  }
};

/// One tile per item: clears the mark of its vertex, so that the round which processes it can add the vertex again.
struct clear_mark_of_item {
  frontier now;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    if (t.rank() == 0 && item->part == 0) now.clear_mark(item->vertex);
  }
};

/// One tile per item of a frontier of vertices whose colours have changed.
struct spread_colours {
  graph::graph_view g;
  vertex_partition p;
  std::uint64_t* colour;
  frontier next;
  [[nodiscard]] WYRM_HD clear_mark_of_item before(frontier const& now) const { return {now}; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    std::uint64_t const own = exec::atomic_ref<std::uint64_t>(colour[v]).load(exec::relaxed);
    graph::neighbour_list const part = item.part_of(g.neighbours(v));
    for_some_neighbours(t, g, part, v, [&]<unsigned N>(some_neighbours<N> const& some) {
      bool changes[N];
      for (unsigned k = 0; k < N; ++k)
        changes[k] = p.share_region(some.v[k], v) && exec::load_recent(colour[some.v[k]]) < own;
      for (unsigned k = 0; k < N; ++k)
        changes[k] =
            changes[k] && exec::atomic_ref<std::uint64_t>(colour[some.v[k]]).fetch_max(own, exec::relaxed) < own;
      next.add(t, g, some.v, changes);
    });
  }
};

struct is_root {
  std::uint64_t const* colour;
  WYRM_HD bool operator()(graph::vertex_id v) const { return static_cast<graph::vertex_id>(colour[v]) == v; }
};

/// One tile per item of a frontier of vertices that reach the root of their colour.
struct collect_colours {
  graph::graph_view g;  // reversed
  vertex_partition p;
  std::uint64_t const* colour;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    if (t.rank() == 0 && item.part == 0) p.label[v] = static_cast<graph::vertex_id>(colour[v]);
    graph::neighbour_list const part = item.part_of(g.neighbours(v));
    for_some_neighbours(t, g, part, v, [&]<unsigned N>(some_neighbours<N> const& some) {
      bool is_found[N];
      for (unsigned k = 0; k < N; ++k)
        is_found[k] = some.v[k] != v && p.share_region(some.v[k], v) && colour[some.v[k]] == colour[v] &&
                      (exec::load_recent(next.marks[some.v[k] / 32]) >> some.v[k] % 32 & 1) == 0;
      next.add(t, g, some.v, is_found);
    });
  }
};

/// Of vertices that remain, regions are colours from now on.
struct split_by_colour {
  vertex_partition p;
  std::uint64_t const* colour;
  graph::vertex_id const* vertices;
  WYRM_HD void operator()(std::size_t i) const {
    p.region[vertices[i]] = static_cast<graph::vertex_id>(colour[vertices[i]]);
  }
};

}  // namespace wyrm::algorithms::detail
