// SPDX-License-Identifier: Apache-2.0
// The steps of incremental_core_numbers.hpp, which explains what they compute. A bound is a number per vertex: first
// its core number before a change, at last the one after it. A vertex supports another one if they are neighbours and
// its bound is not less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"

namespace wyrm::algorithms::detail {

/// In device memory; the host reads it.
struct core_change_state {
  std::uint32_t examined;   // vertices, in the steps of a fall
  std::uint32_t listed[2];  // vertices that the current round reaches, and those that the next one begins with, in turn
};

struct core_bounds {
  graph::graph_view g;  // after the change
  std::uint32_t* bound;
  std::uint32_t* count;  // of supporters; 0 for vertices that are in no list

  /// The bound that a vertex with too few supporters falls to. It has at most `degree` of them with any bound.
  [[nodiscard]] WYRM_HD std::uint32_t lowered(graph::vertex_id v) const {
    std::uint32_t const lower = bound[v] - 1;
    std::uint32_t const degree = g.degree(v);
    return lower < degree ? lower : degree;
  }
  /// The number of neighbours in a list that support v; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t supporters(Tile const& t, graph::vertex_id v, graph::neighbour_list among) const {
    std::uint32_t const own = bound[v];
    std::uint32_t n = 0;
    for (std::uint32_t i = t.rank(); i < among.size; i += Tile::size())
      n += among[i] != v && bound[among[i]] >= own ? 1u : 0u;
    return exec::sum(t, n);
  }
  /// The number of supporters of the vertex of an item, which becomes its count; collective. count_parts has counted
  /// those of a vertex in several parts.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t count_supporters(Tile const& t, frontier_item const& item) const {
    graph::neighbour_list const all = g.neighbours(item.vertex);
    if (frontier_item::parts(all.size) > 1) return count[item.vertex];
    std::uint32_t const n = supporters(t, item.vertex, all);
    if (t.rank() == 0) count[item.vertex] = n;
    return n;
  }
};

/// The ends of an edge that a change erases or inserts whose number of supporters the change concerns: the end with the
/// smaller bound, or both if the bounds are equal.
struct concerned_ends {
  graph::edge e;
  bool source;
  bool target;
  WYRM_HD concerned_ends(core_bounds const& b, graph::edge const& of, bool has) : e(of) {
    has = has && e.source != e.target;
    std::uint32_t const of_source = has ? b.bound[e.source] : 0;
    std::uint32_t const of_target = has ? b.bound[e.target] : 0;
    source = has && of_source <= of_target;
    target = has && of_target <= of_source;
  }
};

/// One lane per entry of a change: lists the vertices that lose a supporter.
struct list_unsupported {
  core_bounds b;
  graph::graph_change change;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const erases = valid && change.erases(i);
    concerned_ends const ends(b, erases ? change.edges[i] : graph::edge{}, erases);
    to.add(t, b.g, ends.e.source, ends.source);
    to.add(t, b.g, ends.e.target, ends.target);
  }
};

/// One tile per item, before each step of falls and of rises: counts the supporters of a vertex in several parts.
struct count_parts {
  core_bounds b;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const all = b.g.neighbours(v);
    if (frontier_item::parts(all.size) == 1) return;
    std::uint32_t const n = b.supporters(t, v, item->part_of(all));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(b.count[v]).fetch_add(n, exec::relaxed);
  }
};

/// One lane per item, after a step of falls: lowers bounds, and takes the vertices out of their list.
struct settle_falls {
  core_bounds b;
  frontier now;
  core_change_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const is_first = item != nullptr && item->part == 0;
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(is_first)));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(state->examined).fetch_add(n, exec::relaxed);
    if (!is_first) return;
    graph::vertex_id const v = item->vertex;
    if (b.count[v] < b.bound[v]) b.bound[v] = b.lowered(v);
    b.count[v] = 0;
    now.clear_mark(v);
  }
};

/// One tile per item: if the vertex has too few supporters, lists it again, and the neighbours that it supports, but
/// will not when it has fallen. Changes no bound: all parts of all vertices decide by the same ones.
struct spread_falls {
  core_bounds b;
  core_change_state* state;
  frontier next;
  [[nodiscard]] WYRM_HD count_parts before_parts(frontier const&) const { return {b}; }
  [[nodiscard]] WYRM_HD settle_falls after(frontier const& now) const { return {b, now, state}; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    std::uint32_t const own = b.bound[v];
    if (b.count_supporters(t, item) >= own) return;
    std::uint32_t const lower = b.lowered(v);
    next.add(t, b.g, v, t.rank() == 0 && item.part == 0 && lower > 0);
    graph::neighbour_list const part = item.part_of(b.g.neighbours(v));
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const u = has ? part[i + t.rank()] : v;
      std::uint32_t const other = b.bound[u];
      next.add(t, b.g, u, u != v && other > lower && other <= own);
    }
  }
};

/// The vertices that the current round of rises reaches.
struct reached_vertices {
  graph::graph_view g;
  frontier all;   // an item per vertex; marks are of the vertices that were reached
  frontier next;  // those whose supporters are to be counted; marks are not used

  /// Adds the vertex of each lane that has one, unless it was reached; collective.
  template <class Tile>
  WYRM_HD void add(Tile const& t, graph::vertex_id v, bool has) const {
    std::uint32_t const bit = 1u << v % 32;
    has = has && (exec::load_recent(all.marks[v / 32]) & bit) == 0 &&
          (exec::atomic_ref<std::uint32_t>(all.marks[v / 32]).fetch_or(bit, exec::relaxed) & bit) == 0;
    if (t.any(has)) append(t, v, has);
  }
  /// The same for vertices with marks that are in no list.
  template <class Tile>
  WYRM_HD void append(Tile const& t, graph::vertex_id v, bool has) const {
    all.append(t, v, has ? 1 : 0);
    next.append(t, g, v, has);
  }
};

/// One lane per entry of a change: reaches the vertices that gain a supporter.
struct reach_supported {
  core_bounds b;
  graph::graph_change change;
  reached_vertices reached;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const inserts = valid && change.inserts(i);
    concerned_ends const ends(b, inserts ? change.edges[i] : graph::edge{}, inserts);
    reached.add(t, ends.e.source, ends.source);
    reached.add(t, ends.e.target, ends.target);
  }
};

/// One tile per item: reaches the neighbours with the same bound, if the vertex has more supporters than its bound.
struct spread_rises {
  core_bounds b;
  frontier all;  // see reached_vertices
  frontier next;
  [[nodiscard]] WYRM_HD count_parts before_parts(frontier const&) const { return {b}; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    std::uint32_t const own = b.bound[v];
    if (b.count_supporters(t, item) <= own) return;
    reached_vertices const reached{b.g, all, next};
    graph::neighbour_list const part = item.part_of(b.g.neighbours(v));
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const u = has ? part[i + t.rank()] : v;
      reached.add(t, u, b.bound[u] == own);
    }
  }
};

/// One lane per vertex that was reached: lists those that cannot rise.
struct list_unraised {
  core_bounds b;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item != nullptr ? item->vertex : 0;
    to.append(t, b.g, v, item != nullptr && b.count[v] <= b.bound[v]);
  }
};

/// One tile per item of vertices that do not rise: they do not support neighbours with the same bound that rise. The
/// lane that takes the last supporter which such a neighbour can spare lists the neighbour. A vertex of the list, and
/// one that was not reached, has no supporter to spare.
struct refuse_rises {
  core_bounds b;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    std::uint32_t const own = b.bound[v];
    graph::neighbour_list const part = item.part_of(b.g.neighbours(v));
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const u = has ? part[i + t.rank()] : v;
      bool const may_rise = b.bound[u] == own && exec::load_recent(b.count[u]) > own;
      next.append(t, b.g, u,
                  may_rise && exec::atomic_ref<std::uint32_t>(b.count[u]).fetch_sub(1, exec::relaxed) == own + 1);
    }
  }
};

/// One lane per vertex that was reached: raises bounds. The next round begins with the vertices that rise.
struct settle_rises {
  core_bounds b;
  reached_vertices next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item != nullptr ? item->vertex : 0;
    bool const rises = item != nullptr && b.count[v] > b.bound[v];
    if (rises) ++b.bound[v];
    if (item != nullptr) b.count[v] = 0;
    if (item != nullptr && !rises) next.all.clear_mark(v);
    next.append(t, v, rises);
  }
};

}  // namespace wyrm::algorithms::detail
