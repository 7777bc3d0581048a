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

/// Neighbours of a vertex that one lane processes together: a device waits for all of their loads once.
template <unsigned N>
struct bounded_neighbours {
  graph::vertex_id v[N];   // the vertex itself where there is no other one
  std::uint32_t bound[N];  // 0 there
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
  /// The neighbours in a list that belong to a lane, from the index `begin` of the tile on.
  template <class Tile>
  [[nodiscard]] WYRM_HD bounded_neighbours<neighbours_at_once<Tile>> load(Tile const& t, graph::vertex_id v,
                                                                          graph::neighbour_list const& from,
                                                                          std::uint32_t begin) const {
    bounded_neighbours<neighbours_at_once<Tile>> some;
    for (unsigned k = 0; k < neighbours_at_once<Tile>; ++k) {
      std::uint32_t const i = begin + k * Tile::size() + t.rank();
      some.v[k] = i < from.size ? from[i] : v;
    }
    for (unsigned k = 0; k < neighbours_at_once<Tile>; ++k) some.bound[k] = some.v[k] != v ? bound[some.v[k]] : 0;
    return some;
  }
  /// The number of neighbours in a list that support v, whose bound is `own`; collective. `last`: receives what load()
  /// has returned last.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t supporters(Tile const& t, graph::vertex_id v, std::uint32_t own,
                                                 graph::neighbour_list const& among,
                                                 bounded_neighbours<neighbours_at_once<Tile>>& last) const {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < among.size; i += neighbours_at_once<Tile> * Tile::size()) {
      last = load(t, v, among, i);
      for (unsigned k = 0; k < neighbours_at_once<Tile>; ++k) n += last.v[k] != v && last.bound[k] >= own ? 1u : 0u;
    }
    return exec::sum(t, n);
  }
  /// Calls f(some) for all neighbours of the part of an item, as load() returns them, if use(n) returns true for the
  /// number of supporters of the vertex, whose bound is `own`. That number becomes its count. Collective. count_parts
  /// has counted the supporters of a vertex in several parts.
  template <class Tile, class Use, class F>
  WYRM_HD void for_each_neighbour(Tile const& t, frontier_item const& item, std::uint32_t own, Use const& use,
                                  F const& f) const {
    graph::vertex_id const v = item.vertex;
    graph::neighbour_list const all = g.neighbours(v);
    auto some = load(t, v, all, all.size);
    bool const is_whole = frontier_item::parts(all.size) == 1;
    std::uint32_t const n = is_whole ? supporters(t, v, own, all, some) : count[v];
    if (is_whole && t.rank() == 0) count[v] = n;
    if (!use(n)) return;
    graph::neighbour_list const part = item.part_of(all);
    constexpr std::uint32_t step = neighbours_at_once<Tile> * Tile::size();
    bool const is_loaded = is_whole && part.size <= step;
    for (std::uint32_t i = 0; i < part.size; i += step) {
      if (!is_loaded) some = load(t, v, part, i);
      f(some);
    }
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
    auto some = b.load(t, v, all, all.size);
    std::uint32_t const n = b.supporters(t, v, b.bound[v], item->part_of(all), some);
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
    std::uint32_t const lower = b.lowered(v);
    auto const falls = [&](std::uint32_t n) {
      if (n >= own) return false;
      next.add(t, b.g, v, t.rank() == 0 && item.part == 0 && lower > 0);
      return true;
    };
    b.for_each_neighbour(t, item, own, falls, [&]<unsigned N>(bounded_neighbours<N> const& some) {
      bool is_concerned[N];
      for (unsigned k = 0; k < N; ++k)
        is_concerned[k] = some.v[k] != v && some.bound[k] > lower && some.bound[k] <= own;
      next.add(t, b.g, some.v, is_concerned);
    });
  }
};

/// The vertices that the current round of rises reaches.
struct reached_vertices {
  graph::graph_view g;
  frontier all;   // an item per vertex; marks are of the vertices that were reached
  frontier next;  // those whose supporters are to be counted; marks are not used

  /// Adds up to N vertices of each lane, unless they were reached; collective.
  template <class Tile, unsigned N>
  WYRM_HD void add(Tile const& t, graph::vertex_id const (&v)[N], bool (&has)[N]) const {
    auto const bit = [](graph::vertex_id u) { return 1u << u % 32; };
    for (unsigned k = 0; k < N; ++k) has[k] = has[k] && (exec::load_recent(all.marks[v[k] / 32]) & bit(v[k])) == 0;
    bool has_any = false;
    for (unsigned k = 0; k < N; ++k) {
      has[k] = has[k] && (exec::atomic_ref<std::uint32_t>(all.marks[v[k] / 32]).fetch_or(bit(v[k]), exec::relaxed) &
                          bit(v[k])) == 0;
      has_any = has_any || has[k];
    }
    if (t.any(has_any)) append(t, v, has);
  }
  template <class Tile>
  WYRM_HD void add(Tile const& t, graph::vertex_id v, bool has) const {
    graph::vertex_id const vertices[] = {v};
    bool are_added[] = {has};
    add(t, vertices, are_added);
  }
  /// The same for vertices with marks that are in no list.
  template <class Tile, unsigned N>
  WYRM_HD void append(Tile const& t, graph::vertex_id const (&v)[N], bool const (&has)[N]) const {
    std::uint32_t ones[N];
    std::uint32_t parts[N];
    for (unsigned k = 0; k < N; ++k) {
      ones[k] = has[k] ? 1 : 0;
      parts[k] = has[k] ? frontier_item::parts(g.degree(v[k])) : 0;
    }
    all.append(t, v, ones);
    next.append(t, v, parts);
  }
  template <class Tile>
  WYRM_HD void append(Tile const& t, graph::vertex_id v, bool has) const {
    graph::vertex_id const vertices[] = {v};
    bool const are_added[] = {has};
    append(t, vertices, are_added);
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
    reached_vertices const reached{b.g, all, next};
    auto const may_rise = [&](std::uint32_t n) { return n > own; };
    b.for_each_neighbour(t, item, own, may_rise, [&]<unsigned N>(bounded_neighbours<N> const& some) {
      bool is_equal[N];
      for (unsigned k = 0; k < N; ++k) is_equal[k] = some.v[k] != v && some.bound[k] == own;
      reached.add(t, some.v, is_equal);
    });
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
    constexpr unsigned n = neighbours_at_once<Tile>;
    for (std::uint32_t i = 0; i < part.size; i += n * Tile::size()) {
      auto const some = b.load(t, v, part, i);
      bool may_rise[n];
      std::uint32_t parts[n];
      for (unsigned k = 0; k < n; ++k)
        may_rise[k] = some.v[k] != v && some.bound[k] == own && exec::load_recent(b.count[some.v[k]]) > own;
      for (unsigned k = 0; k < n; ++k) parts[k] = may_rise[k] ? frontier_item::parts(b.g.degree(some.v[k])) : 0;
      for (unsigned k = 0; k < n; ++k)
        if (!may_rise[k] || exec::atomic_ref<std::uint32_t>(b.count[some.v[k]]).fetch_sub(1, exec::relaxed) != own + 1)
          parts[k] = 0;
      next.append(t, some.v, parts);
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
