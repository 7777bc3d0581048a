// SPDX-License-Identifier: Apache-2.0
// The steps of a round of local moves (modularity_moves.hpp). In each round a hash makes each community either a source
// or a target: vertices move only from sources to targets. This bounds the interaction of moves under modularity: if
// two vertices leave the same community, or enter the same one, their joint gain is less than the sum of both gains by
// d_i d_j (the product of their degrees), and never by more. A move is charged half of this product for each other
// vertex that proposes to leave the same source or to enter the same target, and is made only if its gain exceeds all
// charges. The constant Potts model has numbers of vertices instead of degrees; the map equation has no charges
// (exit_flows.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "objectives.hpp"
#include "vote_table.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// A hash of both numbers.
[[nodiscard]] WYRM_HD inline std::uint32_t pair_hash(std::uint32_t x, std::uint32_t y) {
  std::uint32_t h = x * 0x9e3779b1u ^ (y + 0x85ebca6bu) * 0xc2b2ae35u;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

/// The move that a vertex proposes in the current round.
struct move_proposal {
  std::uint64_t gain;     // the greatest gain; 0: no move
  graph::vertex_id to;    // the smallest label with the greatest gain
  std::uint32_t own;      // weight of the arcs to its own community
  std::uint32_t waits;    // whether a move may be possible in another round
  std::uint32_t refused;  // number of moves refused since the last one that was made, up to max_refused

  static constexpr std::uint32_t max_refused = 8;
  WYRM_HD void refuse() {
    gain = 0;
    waits = 1;
    if (refused < max_refused) ++refused;
  }
};

/// The result of a round. The differences are of the map equation; they may be negative, modulo 2^64.
struct round_result {
  std::uint64_t exits;
  std::uint64_t cost;
  std::uint32_t moved;     // number of vertices
  std::uint32_t has_hubs;  // set by find_hubs, before all rounds
};

/// The objective of a run of rounds, and the moves that it may make.
struct move_rules {
  /// Modularity or the constant Potts model; `chance` 0: modularity with resolution 1.
  quadratic_objective quadratic{};
  std::uint64_t const* mass = nullptr;  // of each vertex; nullptr: its degree
  bool map_equation = false;            // instead of `quadratic`; not in a refinement
  code_terms terms{};                   // of the map equation; if they are directed, masses are directed_visits()
  std::uint32_t seed = 0;               // which communities are sources in which round
  bool exhaustive = false;              // until no vertex in the lists can gain, also if few vertices move
  /// Vertices move within these sets of vertices. Labels are the ids of vertices of the same set then. Under the map
  /// equation each set has an index of its own. nullptr: all moves are allowed.
  graph::vertex_id const* within = nullptr;
  /// Refinement (Traag, Waltman, van Eck, Scientific Reports 9, 2019): only vertices that are communities by themselves
  /// move, from and to communities that are well connected with the rest of their set. nullptr: no refinement.
  std::uint64_t const* volume_within = nullptr;  // of each set: the sum of its degrees
  std::uint64_t* outward = nullptr;              // of each community: weight of the arcs to the rest of its set

  [[nodiscard]] WYRM_HD bool refine() const { return volume_within != nullptr; }
};

/// The vertices [first, last), whose hash tables are in memory, from `begin` on in the order of all tables.
struct table_window {
  graph::vertex_id first;
  graph::vertex_id last;
  std::uint64_t begin;
};

/// The state of a round. All threads read labels; labels are written only in a step in which no thread reads the label
/// of another vertex. Values that several tiles write in one step are sums, minima or maxima of integers.
struct move_round {
  static constexpr graph::vertex_id no_label = graph::no_vertex;

  weighted_rows rows;
  std::uint64_t const* mass;  // of each vertex; see move_rules
  graph::vertex_id* label;
  std::uint64_t* volume;         // of each community: the sum of its masses
  std::uint64_t* traffic;        // of each community: the masses of all vertices that propose to leave or enter it
  std::uint64_t const* offsets;  // of rows; the hash table of a row has 3/2 of its length
  graph::vertex_id* table_label;
  std::uint32_t* table_weight;
  table_window window;
  move_proposal* proposal;
  round_result* result;
  std::uint32_t number;
  std::uint32_t most_refused;  // refused moves that count
  move_rules rules;

  [[nodiscard]] WYRM_HD bool is_source(graph::vertex_id community) const {
    return (pair_hash(community, number ^ rules.seed) & 1) != 0;
  }
  /// Whether v may leave its community, as a source.
  [[nodiscard]] WYRM_HD bool may_leave(graph::vertex_id v) const {
    return !rules.refine() || (label[v] == v && volume[v] == mass[v] && is_well_connected(v));
  }
  [[nodiscard]] WYRM_HD bool may_enter(graph::vertex_id community) const {
    return !rules.refine() || is_well_connected(community);
  }
  [[nodiscard]] WYRM_HD bool may_meet(graph::vertex_id v, graph::vertex_id u) const {
    return rules.within == nullptr || rules.within[v] == rules.within[u];
  }

  [[nodiscard]] WYRM_HD static std::uint64_t table_begin(std::uint64_t const* offsets, graph::vertex_id v) {
    return offsets[v] + offsets[v] / 2 + v;
  }
  [[nodiscard]] WYRM_HD std::uint64_t table_begin(graph::vertex_id v) const {
    return table_begin(offsets, v) - window.begin;
  }
  [[nodiscard]] WYRM_HD bool is_in_window(graph::vertex_id v) const { return v >= window.first && v < window.last; }
  /// Whether v waits for a later round: hubs are processed in one round of four. They have most arcs of a skewed graph,
  /// are affected by moves in each round, and seldom move themselves.
  [[nodiscard]] WYRM_HD bool is_postponed(graph::vertex_id v) const {
    if (((number + pair_hash(v, rules.seed)) & 3) == 0) return false;
    std::uint64_t const degree = rows.g.degree(v);
    return degree > frontier_item::part_size && degree * rows.g.vertices() > 4 * rows.g.arcs();
  }
  /// Whether v may propose a move in this round, by steps that use its hash table.
  [[nodiscard]] WYRM_HD bool may_propose(graph::vertex_id v) const {
    return is_in_window(v) && is_source(label[v]) && may_leave(v) && !is_postponed(v);
  }
  /// The proposal of v before it looks for a move.
  [[nodiscard]] WYRM_HD move_proposal no_proposal(graph::vertex_id v) const {
    bool const waits = !is_source(label[v]) || is_postponed(v);
    return {0, no_label, 0, may_leave(v) && waits ? 1u : 0u, proposal[v].refused};
  }
  [[nodiscard]] WYRM_HD std::uint32_t table_size(graph::vertex_id v) const {
    return static_cast<std::uint32_t>(table_begin(v + 1) - table_begin(v));
  }
  /// The weights of arcs to each neighbouring community. Longer than the row.
  [[nodiscard]] WYRM_HD vote_table<std::uint32_t> table(graph::vertex_id v) const {
    std::uint64_t const begin = table_begin(v);
    return {table_label + begin, table_weight + begin, table_size(v)};
  }
  /// Adds the weights of the arcs of an item to the table of its vertex. Returns that of the arcs to its own community,
  /// in every lane; collective. is_alone: no other tile uses the table at the same time.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t gather_links(Tile const& t, frontier_item const& item, bool is_alone) const {
    graph::vertex_id const v = item.vertex;
    graph::neighbour_list const part = item.part_of(rows.g.neighbours(v));
    return table(v).gather(t, 0, part.size, label[v], is_alone, [&](std::uint32_t i) {
      if (part[i] == v || !may_meet(v, part[i])) return candidate<std::uint32_t>{};
      return candidate<std::uint32_t>{rows.weight(part.data + i), label[part[i]]};
    });
  }
  /// The part of the hash table that belongs to an item.
  struct range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  [[nodiscard]] WYRM_HD range table_part(frontier_item const& item) const {
    std::uint32_t const n = frontier_item::parts(rows.g.degree(item.vertex));
    std::uint32_t const size = table_size(item.vertex);
    std::uint32_t const part = (size + n - 1) / n;
    std::uint64_t const begin = table_begin(item.vertex);
    std::uint64_t const first = std::uint64_t{item.part} * part < size ? item.part * part : size;
    return {begin + first, begin + (first + part < size ? first + part : size)};
  }
  /// Calls f(community, weight of the arcs to it) for the neighbouring communities in the part of the table of an item;
  /// and for a community of its own, if the label of the vertex is free. Empties: also empties the part.
  template <bool Empties, class Tile, class F>
  WYRM_HD void for_each_community(Tile const& t, frontier_item const& item, F const& f) const {
    range const part = table_part(item);
    for (std::uint64_t i = part.begin + t.rank(); i < part.end; i += Tile::size()) {
      if (table_label[i] == no_label) continue;
      f(table_label[i], table_weight[i]);
      if constexpr (Empties) {
        table_label[i] = no_label;
        table_weight[i] = 0;
      }
    }
    if (item.part == 0 && t.rank() == 0 && volume[item.vertex] == 0) f(item.vertex, 0);
  }

 private:
  [[nodiscard]] WYRM_HD bool is_well_connected(graph::vertex_id community) const {
    std::uint64_t const rest = rules.volume_within[rules.within[community]] - volume[community];
    return rules.outward[community] * rules.quadratic.links >= volume[community] * rest * rules.quadratic.chance;
  }
};

/// One lane per item.
struct begin_round {
  move_round r;
  frontier from;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0) return;
    r.proposal[item->vertex] = r.no_proposal(item->vertex);
    from.clear_mark(item->vertex);
  }
};

/// If each row is one item. One tile per item: begins the round, sums the weights of arcs to each neighbouring
/// community in the hash table, finds the smallest label with the greatest gain, and empties the table. On a host
/// propose_on_host proposes moves, by the same rules.
template <class Objective>
struct propose_move {
  move_round r;
  Objective objective;
  frontier from;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!r.is_in_window(v)) return;
    bool const proposes = r.may_propose(v);
    std::uint32_t const own = proposes ? r.gather_links(t, *item, true) : 0;
    if (t.rank() == 0) {
      move_proposal w = r.no_proposal(v);
      w.own = own;
      r.proposal[v] = w;
      from.clear_mark(v);
    }
    if (!proposes) return;
    t.sync();
    candidate<std::uint64_t> best;
    bool waits = false;
    auto const moves = objective.from(r, v);
    r.template for_each_community<true>(t, *item, [&](graph::vertex_id to, std::uint32_t weight) {
      std::int64_t const gain = moves.gain(to, weight);
      if (gain <= 0 || !r.may_enter(to)) return;
      if (r.is_source(to))
        waits = true;
      else
        best.consider({static_cast<std::uint64_t>(gain), to});
    });
    best = best_of(t, best);
    waits = t.any(waits);
    if (t.rank() != 0) return;
    if (waits) r.proposal[v].waits = 1;
    if (best.votes == 0) return;
    r.proposal[v].gain = best.votes;
    r.proposal[v].to = best.label;
  }
};

// The same after begin_round in three steps, if rows have several parts.

/// One tile per item: sums the weights of arcs to each neighbouring community in the hash table.
struct gather_links {
  move_round r;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!r.may_propose(v)) return;
    bool const is_alone = frontier_item::parts(r.rows.g.degree(v)) == 1;
    std::uint32_t const own = r.gather_links(t, *item, is_alone);
    if (t.rank() == 0 && own > 0) exec::atomic_ref<std::uint32_t>(r.proposal[v].own).fetch_add(own, exec::relaxed);
  }
};

/// One tile per item: finds the greatest gain.
template <class Objective>
struct find_gains {
  move_round r;
  Objective objective;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!r.may_propose(v)) return;
    std::uint64_t best = 0;
    bool waits = false;
    auto const moves = objective.from(r, v);
    r.for_each_community<false>(t, *item, [&](graph::vertex_id to, std::uint32_t weight) {
      std::int64_t const gain = moves.gain(to, weight);
      if (gain <= 0 || !r.may_enter(to)) return;
      if (r.is_source(to))
        waits = true;
      else if (static_cast<std::uint64_t>(gain) > best)
        best = static_cast<std::uint64_t>(gain);
    });
    if (best > 0) exec::atomic_ref<std::uint64_t>(r.proposal[v].gain).fetch_max(best, exec::relaxed);
    if (waits) exec::atomic_ref<std::uint32_t>(r.proposal[v].waits).store(1, exec::relaxed);
  }
};

/// One tile per item: finds the smallest label with the greatest gain, and empties the table.
template <class Objective>
struct find_targets {
  move_round r;
  Objective objective;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!r.may_propose(v)) return;
    std::uint64_t const wanted = r.proposal[v].gain;
    graph::vertex_id least = move_round::no_label;
    auto const moves = objective.from(r, v);
    r.for_each_community<true>(t, *item, [&](graph::vertex_id to, std::uint32_t weight) {
      if (wanted > 0 && to < least && !r.is_source(to) && r.may_enter(to) &&
          moves.gain(to, weight) == static_cast<std::int64_t>(wanted))
        least = to;
    });
    if (least != move_round::no_label)
      exec::atomic_ref<graph::vertex_id>(r.proposal[v].to).fetch_min(least, exec::relaxed);
  }
};

/// One lane per item: adds the mass of a vertex that proposes a move to the traffic of both communities. A vertex
/// whose moves were refused proposes in fewer rounds, so that the traffic decreases.
struct gather_traffic {
  move_round r;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0 || r.proposal[item->vertex].gain == 0) return;
    graph::vertex_id const v = item->vertex;
    move_proposal& w = r.proposal[v];
    std::uint32_t const refused = w.refused < r.most_refused ? w.refused : r.most_refused;
    if (pair_hash(v, r.number ^ r.rules.seed) > ~0u >> refused) {
      w.gain = 0;
      w.waits = 1;
      return;
    }
    exec::atomic_ref<std::uint64_t>(r.traffic[r.label[v]]).fetch_add(r.mass[v], exec::relaxed);
    exec::atomic_ref<std::uint64_t>(r.traffic[w.to]).fetch_add(r.mass[v], exec::relaxed);
  }
};

/// One lane per item: decides which moves are made, and updates volumes.
template <class Objective>
struct decide_moves {
  move_round r;
  Objective objective;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool moves = false;
    if (item != nullptr && item->part == 0 && r.proposal[item->vertex].gain > 0) {
      graph::vertex_id const v = item->vertex;
      move_proposal& w = r.proposal[v];
      std::uint64_t const d = r.mass[v];
      std::uint64_t const others = r.traffic[r.label[v]] - d + (r.traffic[w.to] - d);
      // In a refinement each move must gain in whatever order the moves into a community are made.
      std::uint64_t const charge = objective.charge(r, v, others);
      moves = w.gain > (r.rules.refine() ? charge : charge / 2);
      if (moves) {
        exec::atomic_ref<std::uint64_t>(r.volume[r.label[v]]).fetch_sub(d, exec::relaxed);
        exec::atomic_ref<std::uint64_t>(r.volume[w.to]).fetch_add(d, exec::relaxed);
        w.refused = 0;
      } else {
        w.refuse();
      }
    }
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(moves)));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(r.result->moved).fetch_add(n, exec::relaxed);
  }
};

/// One lane per item: sets labels. Each vertex that proposed a move resets the traffic of both communities; all threads
/// write the same value, 0.
struct apply_moves {
  move_round r;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0 || r.proposal[item->vertex].to == move_round::no_label) return;
    graph::vertex_id const v = item->vertex;
    move_proposal const& w = r.proposal[v];
    exec::atomic_ref<std::uint64_t>(r.traffic[r.label[v]]).store(0, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(r.traffic[w.to]).store(0, exec::relaxed);
    if (w.gain > 0) r.label[v] = w.to;
  }
};

/// One tile per item: lists vertices for the next round: those that wait, those that moved, and their neighbours in
/// other communities. A refinement also updates the weight outward: proposals of this round tell which members of a
/// community are new, because vertices that moved in a round are listed in the next one, and propose nothing there.
struct list_next {
  move_round r;
  frontier next;
  template <class Tile>
  [[nodiscard]] WYRM_HD frontier_end<Tile> begin(Tile const&) const {
    return {r.rows.g, next};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item, frontier_end<Tile>& listed) const {
    graph::vertex_id const v = item->vertex;
    move_proposal const w = r.proposal[v];
    listed.add(t, v, t.rank() == 0 && item->part == 0 && (w.waits != 0 || w.gain > 0));
    if (w.gain == 0) return;
    graph::neighbour_list const part = item->part_of(r.rows.g.neighbours(v));
    std::uint64_t change = 0;  // of the weight outward; may be less than 0, modulo 2^64
    for (std::uint32_t base = 0; base < part.size; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      graph::vertex_id const u = i < part.size ? part[i] : v;
      bool const meets = u != v && r.may_meet(v, u);
      listed.add(t, u, meets && r.label[u] != w.to);
      if (!r.rules.refine() || !meets) continue;
      std::uint64_t const weight = r.rows.weight(part.data + i);
      if (r.label[u] != w.to)
        change += weight;
      else if (r.proposal[u].gain == 0)
        change -= weight;
    }
    if (!r.rules.refine()) return;
    change = exec::sum(t, change);
    if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(r.rules.outward[w.to]).fetch_add(change, exec::relaxed);
  }
};

/// One thread per window: the tables that begin in the next `places` places.
struct cut_tables {
  std::uint64_t const* offsets;
  graph::vertex_id n;
  std::uint64_t places;
  table_window* windows;
  WYRM_HD void operator()(std::size_t k) const {
    graph::vertex_id const first = vertex_at(k * places);
    windows[k] = {first, vertex_at((k + 1) * places), move_round::table_begin(offsets, first)};
  }

 private:
  // The first vertex whose table begins at or after a place; n if there is none.
  [[nodiscard]] WYRM_HD graph::vertex_id vertex_at(std::uint64_t place) const {
    graph::vertex_id first = 0;
    for (graph::vertex_id left = n; left > 0;) {
      graph::vertex_id const half = left / 2;
      if (move_round::table_begin(offsets, first + half) < place) {
        first += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    return first;
  }
};

/// One thread per vertex.
struct find_hubs {
  graph::graph_view g;
  round_result* result;
  WYRM_HD void operator()(std::size_t v) const {
    if (frontier_item::parts(g.degree(static_cast<graph::vertex_id>(v))) > 1)
      exec::atomic_ref<std::uint32_t>(result->has_hubs).store(1, exec::relaxed);
  }
};

struct add_up_volumes {
  std::uint64_t const* mass;
  graph::vertex_id const* label;
  std::uint64_t* volume;
  WYRM_HD void operator()(std::size_t v) const {
    if (mass[v] > 0) exec::atomic_ref<std::uint64_t>(volume[label[v]]).fetch_add(mass[v], exec::relaxed);
  }
};

}  // namespace wyrm::algorithms::detail
