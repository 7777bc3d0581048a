// SPDX-License-Identifier: Apache-2.0
// The rounds of Boruvka's algorithm (spanning_forest.hpp): the list of edges, the choice of each tree, and the trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "../components.hpp"
#include "frontier.hpp"
#include "larger_neighbours.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// A number that means no entry, or no edge. It is at least as large as every weight.
inline constexpr std::uint64_t no_entry = ~std::uint64_t{0};

/// In device memory; the host reads it.
struct forest_state {
  std::uint64_t first_invalid = no_entry;  // vertex << 32 | index in its row; or none
  std::uint64_t kept = 0;                  // edges that may join trees
  std::uint32_t chosen = 0;                // edges of the forest
};

/// The weight of entry i as a number without a sign, in the order of the weights.
[[nodiscard]] WYRM_HD inline std::uint64_t ordered_weight(value_row const& row, std::uint32_t i) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (row.type == graph::number_type::i64)
    return static_cast<std::uint64_t>(static_cast<std::int64_t const*>(row.values)[i]) ^ sign;
  auto const bits = cuda::std::bit_cast<std::uint64_t>(row.weight(i) + 0.0);  // -0 becomes 0
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

struct forest_edge {
  std::uint64_t weight;  // ordered_weight; 0 for all without weights
  graph::vertex_id low;
  graph::vertex_id high;
  /// Edges of equal weights are in the order of this number.
  [[nodiscard]] WYRM_HD std::uint64_t key() const { return std::uint64_t{low} << 32 | high; }
};

/// One tile per item: lists the edges to larger neighbours, and checks their weights.
struct list_forest_edges {
  graph::graph_view g;
  std::uint32_t const* larger;
  std::uint64_t const* begins;
  forest_edge* edges;
  forest_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const row = g.neighbours(v);
    graph::neighbour_list const part = item->part_of(row);
    auto const begin = static_cast<std::uint32_t>(part.data - row.data);
    std::uint32_t const smaller = row.size - larger[v];  // or equal
    std::uint32_t const first = begin < smaller ? smaller : begin;
    bool const weighted = g.numbers() != graph::number_type::none;
    value_row const values(g.out_records()[v], g.numbers());
    for (std::uint32_t i = first + t.rank(); i < begin + part.size; i += Tile::size()) {
      if (weighted && !is_finite(values.weight(i)))
        exec::atomic_ref<std::uint64_t>(state->first_invalid).fetch_min(std::uint64_t{v} << 32 | i, exec::relaxed);
      edges[begins[v] + (i - smaller)] = {weighted ? ordered_weight(values, i) : 0, v, row[i]};
    }
  }

 private:
  [[nodiscard]] WYRM_HD static bool is_finite(double w) {
    return w >= -0x1.fffffffffffffp1023 && w <= 0x1.fffffffffffffp1023;
  }
};

struct growing_forest {
  graph::vertex_id* root;   // of the tree of each vertex
  component_forest hooks;   // of roots: the root of the tree that a tree is hooked under
  std::uint64_t* lightest;  // of trees, at their roots: the least weight of an edge to another tree
  std::uint64_t* first;     // of trees, at their roots: the key of the first edge of that weight

  WYRM_HD void clear(std::size_t v) const { lightest[v] = first[v] = no_entry; }
  /// The trees at both ends of an edge.
  [[nodiscard]] WYRM_HD graph::edge trees_of(forest_edge const& e) const { return {root[e.low], root[e.high]}; }
  /// Sets place to the minimum of itself and value. Most values are no less than one that was there before.
  WYRM_HD static void lower(std::uint64_t& place, std::uint64_t value) {
    if (value < exec::load_recent(place)) exec::atomic_ref<std::uint64_t>(place).fetch_min(value, exec::relaxed);
  }
};

struct begin_trees {
  growing_forest forest;
  WYRM_HD void operator()(std::size_t v) const {
    forest.root[v] = forest.hooks.parent[v] = static_cast<graph::vertex_id>(v);
    forest.clear(v);
  }
};

/// One lane per edge: keeps edges between trees, and finds the least weight of each tree.
struct find_lightest {
  forest_edge const* edges;
  growing_forest forest;
  forest_edge* kept;
  forest_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    forest_edge const e = valid ? edges[i] : forest_edge{};
    graph::edge const trees = valid ? forest.trees_of(e) : graph::edge{};
    bool const joins = trees.source != trees.target;
    std::uint32_t const all = t.ballot(joins);
    if (all == 0) return;
    std::uint64_t begin = 0;
    if (t.rank() == 0)
      begin = exec::atomic_ref<std::uint64_t>(state->kept)
                  .fetch_add(static_cast<std::uint64_t>(cuda::std::popcount(all)), exec::relaxed);
    begin = t.shfl(begin, 0);
    if (!joins) return;
    kept[begin + exec::rank_in(t, all)] = e;
    forest.lower(forest.lightest[trees.source], e.weight);
    forest.lower(forest.lightest[trees.target], e.weight);
  }
};

/// Finds the first edge of the least weight of each tree.
struct find_first_edges {
  forest_edge const* edges;
  growing_forest forest;
  WYRM_HD void operator()(std::size_t i) const {
    forest_edge const e = edges[i];
    graph::edge const trees = forest.trees_of(e);
    if (e.weight == forest.lightest[trees.source]) forest.lower(forest.first[trees.source], e.key());
    if (e.weight == forest.lightest[trees.target]) forest.lower(forest.first[trees.target], e.key());
  }
};

/// One lane per vertex: hooks its tree, if it is a root, and lists the edge.
struct hook_trees {
  growing_forest forest;
  std::uint64_t* chosen;
  forest_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::uint64_t const key = valid && forest.root[v] == v ? forest.first[v] : no_entry;
    bool hooks = key != no_entry;
    if (hooks) {
      graph::edge const trees =
          forest.trees_of({0, static_cast<graph::vertex_id>(key >> 32), static_cast<graph::vertex_id>(key)});
      graph::vertex_id const other = trees.source == v ? trees.target : trees.source;
      hooks = forest.first[other] != key || other < v;
      if (hooks) forest.hooks.parent[v] = other;
    }
    std::uint32_t const all = t.ballot(hooks);
    if (all == 0) return;
    std::uint32_t begin = 0;
    if (t.rank() == 0)
      begin = exec::atomic_ref<std::uint32_t>(state->chosen)
                  .fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(all)), exec::relaxed);
    begin = t.shfl(begin, 0);
    if (hooks) chosen[begin + exec::rank_in(t, all)] = key;
  }
};

struct flatten_trees {
  growing_forest forest;
  WYRM_HD void operator()(std::size_t v) const {
    forest.root[v] = forest.hooks.find(forest.root[v]);
    forest.clear(v);
  }
};

/// Writes the edges of the forest and their weights.
struct write_forest {
  graph::graph_view g;
  std::uint64_t const* keys;
  graph::edge* edges;
  double* weights;
  WYRM_HD void operator()(std::size_t i) const {
    graph::edge const e{static_cast<graph::vertex_id>(keys[i] >> 32), static_cast<graph::vertex_id>(keys[i])};
    edges[i] = e;
    graph::neighbour_list const row = g.neighbours(e.source);
    weights[i] = g.numbers() == graph::number_type::none
                     ? 1
                     : value_row(g.out_records()[e.source], g.numbers())
                           .weight(graph::lower_bound(row.data, row.size, e.target));
  }
};

}  // namespace wyrm::algorithms::detail
