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
  std::uint32_t own;      // of a hub on a device: weight of the arcs to its own community
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
  std::uint32_t moved;  // number of vertices
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
  std::uint32_t window = 16;            // otherwise rounds end when in so many of them at most 1/few of the first
  std::uint32_t few = 32;               // vertices moved
  /// Vertices move within these sets of vertices. Labels are the ids of vertices of the same set then. Under the map
  /// equation each set has an index of its own. nullptr: all moves are allowed.
  graph::vertex_id const* within = nullptr;
  /// Refinement (Traag, Waltman, van Eck, Scientific Reports 9, 2019): only vertices that are communities by themselves
  /// move, from and to communities that are well connected with the rest of their set. nullptr: no refinement.
  std::uint64_t const* volume_within = nullptr;  // of each set: the sum of its degrees
  std::uint64_t* outward = nullptr;              // of each community: weight of the arcs to the rest of its set

  [[nodiscard]] WYRM_HD bool refine() const { return volume_within != nullptr; }
};

/// The state of a round. All threads read labels; labels are written only in a step in which no thread reads the label
/// of another vertex. Values that several tiles write in one step are sums, minima or maxima of integers.
struct move_round {
  static constexpr graph::vertex_id no_label = graph::no_vertex;

  weighted_rows rows;
  std::uint64_t const* mass;  // of each vertex; see move_rules
  graph::vertex_id* label;
  std::uint64_t* volume;   // of each community: the sum of its masses
  std::uint64_t* traffic;  // of each community: the masses of all vertices that propose to leave or enter it
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

  /// Whether v waits for a later round: hubs are processed in one round of four. They have most arcs of a skewed graph,
  /// are affected by moves in each round, and seldom move themselves.
  [[nodiscard]] WYRM_HD bool is_postponed(graph::vertex_id v) const {
    if (((number + pair_hash(v, rules.seed)) & 3) == 0) return false;
    std::uint64_t const degree = rows.g.degree(v);
    return degree > frontier_item::part_size && degree * rows.g.vertices() > 4 * rows.g.arcs();
  }
  /// Whether v may propose a move in this round. A vertex without a row, of which there may be some in a list, has a
  /// label of its own, and so it proposes none.
  [[nodiscard]] WYRM_HD bool may_propose(graph::vertex_id v) const {
    return is_source(label[v]) && may_leave(v) && !is_postponed(v);
  }
  /// The proposal of v before it looks for a move.
  [[nodiscard]] WYRM_HD move_proposal no_proposal(graph::vertex_id v) const {
    bool const waits = !is_source(label[v]) || is_postponed(v);
    return {0, no_label, 0, may_leave(v) && waits ? 1u : 0u, proposal[v].refused};
  }
  /// The vote of u, an entry of the row of v, for its community.
  [[nodiscard]] WYRM_HD candidate<std::uint32_t> vote(graph::vertex_id v, graph::vertex_id const* entry,
                                                      graph::vertex_id u) const {
    candidate<std::uint32_t> one{rows.weight(entry), exec::load_recent(label[u])};
    if (u == v || !may_meet(v, u)) one.label = graph::no_vertex;
    return one;
  }

 private:
  [[nodiscard]] WYRM_HD bool is_well_connected(graph::vertex_id community) const {
    std::uint64_t const rest = rules.volume_within[rules.within[community]] - volume[community];
    return rules.outward[community] * rules.quadratic.links >= volume[community] * rest * rules.quadratic.chance;
  }
};

/// One lane per item: adds the mass of a vertex that proposes a move to the traffic of both communities. A vertex
/// whose moves were refused proposes in fewer rounds, so that the traffic decreases. Also empties the lists that
/// apply_moves fills.
struct gather_traffic {
  move_round r;
  std::uint32_t* next_size;
  std::uint32_t* movers_sizes;  // two
  WYRM_HD void start() const { *next_size = movers_sizes[0] = movers_sizes[1] = 0; }
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

/// One lane per item: sets labels, and lists the vertices that move, and those that the next round processes: these and
/// those that wait. Each vertex that proposed a move resets the traffic of both communities; all threads write the same
/// value, 0. Also empties the lists of proposers.
struct apply_moves {
  move_round r;
  frontier movers;
  frontier hub_movers;  // the same list, or one for the items of hubs
  frontier next;
  std::uint32_t* proposers_sizes;  // three
  WYRM_HD void start() const {
    for (unsigned i = 0; i < 3; ++i) proposers_sizes[i] = 0;
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD frontier_end<Tile> begin(Tile const&) const {
    return {r.rows.g, next};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item, frontier_end<Tile>& listed) const {
    frontier_item const it = item != nullptr ? *item : frontier_item{0, 1};
    bool moves = false;
    bool stays_listed = false;
    if (item != nullptr) {
      move_proposal const w = r.proposal[it.vertex];
      moves = w.gain > 0;
      if (it.part == 0) {
        stays_listed = moves || w.waits != 0;
        if (w.to != move_round::no_label) {
          exec::atomic_ref<std::uint64_t>(r.traffic[r.label[it.vertex]]).store(0, exec::relaxed);
          exec::atomic_ref<std::uint64_t>(r.traffic[w.to]).store(0, exec::relaxed);
        }
        if (moves) r.label[it.vertex] = w.to;
      }
    }
    bool const is_hub =
        moves && movers.size != hub_movers.size && r.rows.g.degree(it.vertex) > frontier_item::part_size;
    movers.append_item(t, it, moves && !is_hub);
    hub_movers.append_item(t, it, is_hub);
    listed.add(t, it.vertex, stays_listed);
  }
};

/// One tile per item of a vertex that moved: lists its neighbours in other communities for the next round. A refinement
/// also updates the weight outward: proposals of this round tell which members of a community are new, because vertices
/// that moved in a round are listed in the next one, and propose nothing there.
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
    graph::vertex_id const to = r.proposal[v].to;
    graph::neighbour_list const part = item->part_of(r.rows.g.neighbours(v));
    std::uint64_t change = 0;  // of the weight outward; may be less than 0, modulo 2^64
    for (std::uint32_t base = 0; base < part.size; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      graph::vertex_id const u = i < part.size ? part[i] : v;
      bool const meets = u != v && r.may_meet(v, u);
      listed.add(t, u, meets && r.label[u] != to);
      if (!r.rules.refine() || !meets) continue;
      std::uint64_t const weight = r.rows.weight(part.data + i);
      if (r.label[u] != to)
        change += weight;
      else if (r.proposal[u].gain == 0)
        change -= weight;
    }
    if (!r.rules.refine()) return;
    change = exec::sum(t, change);
    if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(r.rules.outward[to]).fetch_add(change, exec::relaxed);
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
