// SPDX-License-Identifier: Apache-2.0
// The vertices that a breadth-first search reaches, level by level in one list, and the work of betweenness on a level.
// A level is a range of the list whose end only the device knows: the kernel of a level reads the range, and appends
// the next level behind it. So the host can enqueue many levels in either direction before it waits.
//
// The vertex of an item may have several parts, each with a tile of its own. The tile that finishes last adds up the
// sums of all parts, in their order, so the result does not depend on which tile that is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"

namespace wyrm::algorithms::detail {

/// The list of levels. A vertex has enough parts for both its rows.
struct level_list {
  static constexpr std::uint32_t unreached = ~std::uint32_t{0};
  frontier_item* items;
  std::uint32_t* begins;  // of levels in items
  std::uint32_t* counts;  // of the items of levels; 0 for levels that are not there yet

  /// The greatest number of items of a graph.
  [[nodiscard]] static std::size_t capacity(graph::graph_view const& g) {
    return frontier::capacity(g.vertices(), 2 * g.arcs());
  }
  [[nodiscard]] WYRM_HD static std::uint32_t parts(graph::graph_view const& g, graph::vertex_id v) {
    std::uint32_t const out = g.degree(v);
    std::uint32_t const in = g.in_records()[v].degree;
    return frontier_item::parts(out > in ? out : in);
  }
  /// The same for frontier_end.
  struct parts_of_rows {
    WYRM_HD static void prefetch(graph::graph_view const& g, graph::vertex_id v) {
      exec::prefetch(g.out_records() + v);
      if (g.directed()) exec::prefetch(g.in_records() + v);
    }
    [[nodiscard]] WYRM_HD static std::uint32_t of(graph::graph_view const& g, graph::vertex_id v) {
      return parts(g, v);
    }
  };
  template <class Tile>
  using end = frontier_end<Tile, parts_of_rows>;
};

/// Sums of parts of vertices.
struct part_sums {
  double* sums;            // of items
  std::uint32_t* arrived;  // parts that have their sums, at the first item of each vertex; 0 between launches

  /// Of an item, with the sum of its part in every lane. Returns whether the tile is the last one of the vertex; `sum`
  /// is that of all parts then. Collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool complete(Tile const& t, std::uint32_t item, std::uint32_t part, std::uint32_t parts,
                                      double& sum) const {
    if (parts == 1) return true;
    std::uint32_t const first = item - part;
    bool is_last = false;
    if (t.rank() == 0) {
      exec::atomic_ref<double>(sums[item]).store(sum, exec::relaxed);
      is_last = exec::atomic_ref<std::uint32_t>(arrived[first]).fetch_add(1, exec::acq_rel) == parts - 1;
    }
    if (!t.any(is_last)) return false;
    t.sync();
    double all = 0;
    for (std::uint32_t p = t.rank(); p < parts; p += Tile::size())
      all += exec::atomic_ref<double>(sums[first + p]).load(exec::relaxed);
    sum = exec::sum(t, all);
    if (t.rank() == 0) arrived[first] = 0;
    return true;
  }
};

/// What both passes of betweenness use.
struct betweenness_pass {
  graph::graph_view g;
  level_list levels;
  part_sums sums;
  std::uint32_t* depths;
  double* paths;         // numbers of shortest paths from the source
  double* coefficients;  // (1 + dependency) / paths
  double* scores;
  std::uint32_t* overflow;  // set if a number of paths is infinite
};

/// A fixed number of tiles: calls f.visit(t, level, item, next) for the items of a level, where `next` has its place
/// behind them.
template <class F>
struct over_level {
  level_list levels;
  std::uint32_t level;
  std::size_t tiles;
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    std::uint32_t const begin = levels.begins[level];
    std::uint32_t const count = levels.counts[level];
    if (tile == 0 && t.rank() == 0) levels.begins[level + 1] = begin + count;
    frontier const behind{nullptr, levels.items + begin + count, levels.counts + level + 1};
    level_list::end<Tile> next(f.p.g, behind);
    auto const visit = [&](std::size_t i) { f.visit(t, level, begin + static_cast<std::uint32_t>(i), next); };
    if constexpr (Tile::size() == 1)
      for_each_in_share(levels.items + begin, count, tile, tiles, f, visit);
    else
      for (std::size_t i = tile; i < count; i += tiles) visit(i);
    next.flush(t);
  }
};

/// One lane: level 0.
struct begin_level {
  betweenness_pass p;
  graph::vertex_id source;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t, bool valid) const {
    frontier const first{nullptr, p.levels.items, p.levels.counts};
    first.append(t, source, valid ? level_list::parts(p.g, source) : 0);
    if (!valid) return;
    p.levels.begins[0] = 0;
    p.depths[source] = 0;
    p.paths[source] = 1;
  }
};

/// Counts the shortest paths to a vertex, those to its in-neighbours at the level before, and adds out-neighbours that
/// are not reached to the next level. Of an undirected graph both are the same row, which is read once. Other tiles may
/// be writing depths, but only from unreached to that of the next level.
struct extend_paths {
  betweenness_pass p;
  [[nodiscard]] WYRM_HD graph::packed_record const* rows() const { return p.g.out_records(); }
  template <class Tile>
  WYRM_HD void visit(Tile const& t, std::uint32_t level, std::uint32_t index, level_list::end<Tile>& next) const {
    frontier_item const item = p.levels.items[index];
    std::uint32_t const parts = level_list::parts(p.g, item.vertex);
    graph::neighbour_list const out = item.part_of(p.g.neighbours(item.vertex), parts);
    bool const one_row = !p.g.directed();
    std::uint32_t const nearer = level > 0 ? level - 1 : level_list::unreached - 1;
    double sum = 0;
    for_some_neighbours(t, p.g, out, item.vertex, [&]<unsigned N>(some_neighbours<N> const& some) {
      std::uint32_t depth[N];
      double paths[N];
      bool claims[N];
      bool has_any = false;
      for (unsigned k = 0; k < N; ++k) depth[k] = exec::load_recent(p.depths[some.v[k]]);
      for (unsigned k = 0; k < N; ++k) paths[k] = one_row && depth[k] == nearer ? p.paths[some.v[k]] : 0;
      for (unsigned k = 0; k < N; ++k) {
        claims[k] = depth[k] == level_list::unreached &&
                    exec::atomic_ref<std::uint32_t>(p.depths[some.v[k]])
                        .compare_exchange_strong(depth[k], level + 1, exec::relaxed, exec::relaxed);
        has_any = has_any || claims[k];
      }
      for (double const x : paths)
        if (x > 0) sum += x;
      if (t.any(has_any)) next.append(t, some.v, claims);
    });
    if (level == 0) return;
    if (!one_row) {
      graph::neighbour_list const in = item.part_of(p.g.in_neighbours(item.vertex), parts);
      for (std::uint32_t i = t.rank(); i < in.size; i += Tile::size())
        if (exec::load_recent(p.depths[in[i]]) == nearer) sum += p.paths[in[i]];
    }
    sum = exec::sum(t, sum);
    if (!p.sums.complete(t, index, item.part, parts, sum) || t.rank() != 0) return;
    p.paths[item.vertex] = sum;
    if (sum > 0x1.fffffffffffffp1023) exec::atomic_ref<std::uint32_t>(*p.overflow).store(1, exec::relaxed);
  }
};

/// Adds to the score of a vertex the dependency of the source on it: the sum, over its out-neighbours at the next
/// level, of the fraction of the shortest paths to the neighbour that contain the vertex, times 1 + the dependency of
/// the source on the neighbour.
struct collect_dependencies {
  betweenness_pass p;
  [[nodiscard]] WYRM_HD graph::packed_record const* rows() const { return p.g.out_records(); }
  template <class Tile>
  WYRM_HD void visit(Tile const& t, std::uint32_t level, std::uint32_t index, level_list::end<Tile>&) const {
    frontier_item const item = p.levels.items[index];
    std::uint32_t const parts = level_list::parts(p.g, item.vertex);
    graph::neighbour_list const out = item.part_of(p.g.neighbours(item.vertex), parts);
    double sum = 0;
    for_some_neighbours(t, p.g, out, item.vertex, [&]<unsigned N>(some_neighbours<N> const& some) {
      std::uint32_t depth[N];
      double shares[N];
      for (unsigned k = 0; k < N; ++k) depth[k] = p.depths[some.v[k]];
      for (unsigned k = 0; k < N; ++k) shares[k] = depth[k] == level + 1 ? p.coefficients[some.v[k]] : 0;
      for (double const x : shares)
        if (x > 0) sum += x;
    });
    sum = exec::sum(t, sum);
    if (!p.sums.complete(t, index, item.part, parts, sum) || t.rank() != 0) return;
    double const dependency = p.paths[item.vertex] * sum;
    p.coefficients[item.vertex] = (1 + dependency) / p.paths[item.vertex];
    p.scores[item.vertex] += dependency;
  }
};

}  // namespace wyrm::algorithms::detail
