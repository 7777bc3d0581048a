// SPDX-License-Identifier: Apache-2.0
// The steps of a round of incremental_label_propagation.hpp. All steps of a round read the same labels; the last one
// writes them. Values that several tiles write in one step are sums, minima, maxima or bits, so the labels do not
// depend on the order of execution.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "../label_propagation.hpp"
#include "frontier.hpp"
#include "move_round.hpp"
#include "vote_table.hpp"

namespace wyrm::algorithms::detail {

/// In device memory; the host reads it.
struct voting_state {
  std::uint64_t used;    // slots of tables, in the current round
  std::uint32_t left;    // items of the list for the next round
  std::uint32_t rounds;  // that had vertices, of a change
};

/// The rows of voters: out-neighbours, and in a directed graph in-neighbours.
struct voting_rows {
  graph::graph_view g;

  [[nodiscard]] WYRM_HD voters of(graph::vertex_id v) const {
    if (!g.directed()) return {g.neighbours(v), {nullptr, 0}};
    return {g.neighbours(v), g.in_neighbours(v)};
  }
  [[nodiscard]] WYRM_HD std::uint32_t size(graph::vertex_id v) const {
    return g.degree(v) + (g.directed() ? g.in_records()[v].degree : 0);
  }
  struct range {
    std::uint32_t begin;
    std::uint32_t end;
  };
  /// The part of n entries that belongs to an item: of its row, or of its table.
  [[nodiscard]] WYRM_HD range part_of(frontier_item const& item, std::uint32_t n) const {
    std::uint64_t const parts = frontier_item::parts(size(item.vertex));
    return {static_cast<std::uint32_t>(n * std::uint64_t{item.part} / parts),
            static_cast<std::uint32_t>(n * (std::uint64_t{item.part} + 1) / parts)};
  }
  /// Adds the vertex of each lane that has one to a list, unless it is there; collective.
  template <class Tile>
  WYRM_HD void add(Tile const& t, frontier const& to, graph::vertex_id v, bool has) const {
    if (!t.any(has)) return;
    std::uint32_t const bit = 1u << v % 32;
    has = has && (exec::atomic_ref<std::uint32_t>(to.marks[v / 32]).fetch_or(bit, exec::relaxed) & bit) == 0;
    to.append(t, v, has ? frontier_item::parts(size(v)) : 0);
  }
};

struct label_votes {
  voting_rows rows;
  graph::vertex_id* label;
  std::uint64_t* best;          // of the other labels: votes << 32 | ~label; 0 for vertices that are in no list
  std::uint32_t* own;           // votes for the label of the vertex; 0 for vertices that are in no list
  std::uint32_t* yields;        // a bit per vertex: whether a neighbour moves first
  std::uint64_t* table_begins;  // of the vertices in the list
  vote_table<std::uint32_t> tables;
  voting_state* state;
  std::uint32_t round;
  std::uint32_t free_rounds;  // the first rounds, in which a vertex moves by chance, whatever its neighbours do

  [[nodiscard]] WYRM_HD vote_table<std::uint32_t> table(graph::vertex_id v) const {
    return {tables.labels + table_begins[v], tables.votes + table_begins[v], slots(v)};
  }
  [[nodiscard]] WYRM_HD std::uint32_t slots(graph::vertex_id v) const {
    return vote_table<std::uint32_t>::slots_for(rows.size(v));
  }
  /// Whether another label has more votes than that of the vertex.
  [[nodiscard]] WYRM_HD bool wants(graph::vertex_id v) const { return best[v] >> 32 > own[v]; }
  [[nodiscard]] WYRM_HD graph::vertex_id wanted(graph::vertex_id v) const {
    return ~static_cast<std::uint32_t>(best[v]);
  }
  [[nodiscard]] WYRM_HD bool moves(graph::vertex_id v) const { return wants(v) && !waits(v); }
  [[nodiscard]] WYRM_HD bool is_free() const { return round < free_rounds; }
  /// Which of two neighbours that want another label moves first: drawn in each round, so that none waits for long.
  [[nodiscard]] WYRM_HD bool precedes(graph::vertex_id u, graph::vertex_id v) const {
    std::uint32_t const of_u = pair_hash(u, round);
    std::uint32_t const of_v = pair_hash(v, round);
    return of_u < of_v || (of_u == of_v && u < v);
  }

 private:
  // Other lanes may be clearing bits of the same word.
  [[nodiscard]] WYRM_HD bool waits(graph::vertex_id v) const {
    if (is_free()) return (pair_hash(v, round) & 1) != 0;
    return (exec::atomic_ref<std::uint32_t>(yields[v / 32]).load(exec::relaxed) >> v % 32 & 1) != 0;
  }
};

/// One lane per vertex: lists those that have neighbours, or a label of another vertex.
struct list_voting {
  voting_rows rows;
  graph::vertex_id const* label;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    rows.add(t, to, v, valid && (rows.size(v) > 0 || label[v] != v));
  }
};

/// One lane per entry of a change: lists the ends of its edge.
struct list_ends {
  voting_rows rows;
  graph::graph_change change;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const has = valid && change.has_edge(i) && change.edges[i].source != change.edges[i].target;
    graph::edge const e = has ? change.edges[i] : graph::edge{};
    rows.add(t, to, e.source, has);
    rows.add(t, to, e.target, has);
  }
};

/// One lane per item: gives each vertex a table.
struct place_tables {
  label_votes x;
  frontier now;
  WYRM_HD void start() const { x.state->rounds += *now.size > 0 ? 1 : 0; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const is_first = item != nullptr && item->part == 0;
    std::uint64_t const slots = is_first ? x.slots(item->vertex) : 0;
    std::uint64_t const below = exec::sum_below(t, slots);
    std::uint64_t const all = t.shfl(below + slots, Tile::size() - 1);
    std::uint64_t begin = 0;
    if (t.rank() == 0 && all > 0) begin = exec::atomic_ref<std::uint64_t>(x.state->used).fetch_add(all, exec::relaxed);
    begin = t.shfl(begin, 0);
    if (!is_first) return;
    x.table_begins[item->vertex] = begin + below;
    now.clear_mark(item->vertex);
  }
};

/// One tile per item: counts the votes of a part of a row.
struct gather_votes {
  label_votes x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    voters const all = x.rows.of(v);
    std::uint32_t const size = x.rows.size(v);
    auto const part = x.rows.part_of(*item, size);
    std::uint32_t const own =
        x.table(v).gather(t, all, part.begin, part.end, x.label[v], frontier_item::parts(size) == 1,
                          [&](std::uint32_t, graph::vertex_id u) {
                            return u == v ? candidate<std::uint32_t>{} : candidate<std::uint32_t>{1, x.label[u]};
                          });
    if (t.rank() == 0 && own > 0) exec::atomic_ref<std::uint32_t>(x.own[v]).fetch_add(own, exec::relaxed);
  }
};

/// One tile per item: finds the best label in a part of the table, which it empties.
struct find_best_labels {
  label_votes x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    auto const table = x.table(v);
    auto const part = x.rows.part_of(*item, table.slots);
    auto const found = table.take(t, part.begin, part.end);
    if (t.rank() == 0 && found.votes > 0)
      exec::atomic_ref<std::uint64_t>(x.best[v]).fetch_max(
          std::uint64_t{found.votes} << 32 | static_cast<std::uint32_t>(~found.label), exec::relaxed);
  }
};

/// One tile per item: whether a neighbour that wants another label, too, moves first.
struct find_yielding {
  label_votes x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!x.wants(v)) return;
    voters const all = x.rows.of(v);
    auto const part = x.rows.part_of(*item, x.rows.size(v));
    for (std::uint32_t base = part.begin; base < part.end; base += Tile::size()) {
      graph::vertex_id const u = base + t.rank() < part.end ? all[base + t.rank()] : v;
      if (!t.any(u != v && x.wants(u) && x.precedes(u, v))) continue;
      if (t.rank() == 0) exec::atomic_ref<std::uint32_t>(x.yields[v / 32]).fetch_or(1u << v % 32, exec::relaxed);
      return;
    }
  }
};

/// One tile per item: lists a vertex that waits again, and the neighbours of one that moves, unless they have its next
/// label. In a free round such a neighbour may lose that label, so all that move are listed again, too.
struct list_voters {
  label_votes x;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    if (!x.wants(v)) return;
    bool const moves = x.moves(v);
    x.rows.add(t, next, v, t.rank() == 0 && item.part == 0 && (!moves || x.is_free()));
    if (!moves) return;
    voters const all = x.rows.of(v);
    auto const part = x.rows.part_of(item, x.rows.size(v));
    graph::vertex_id const to = x.wanted(v);
    for (std::uint32_t base = part.begin; base < part.end; base += Tile::size()) {
      graph::vertex_id const u = base + t.rank() < part.end ? all[base + t.rank()] : v;
      x.rows.add(t, next, u, u != v && x.label[u] != to);
    }
  }
};

/// One lane per item: sets labels. A vertex without neighbours gets its own.
struct settle_labels {
  label_votes x;
  std::uint32_t const* left;
  WYRM_HD void start() const {
    x.state->used = 0;
    x.state->left = *left;
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0) return;
    graph::vertex_id const v = item->vertex;
    if (x.best[v] == 0 && x.own[v] == 0)
      x.label[v] = v;
    else if (x.moves(v))
      x.label[v] = x.wanted(v);
    x.best[v] = 0;
    x.own[v] = 0;
    exec::atomic_ref<std::uint32_t>(x.yields[v / 32]).fetch_and(~(1u << v % 32), exec::relaxed);
  }
};

}  // namespace wyrm::algorithms::detail
