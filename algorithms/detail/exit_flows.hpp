// SPDX-License-Identifier: Apache-2.0
// Rounds of moves under the map equation (modularity_moves.hpp). The joint change of the codelength by several moves is
// not bounded by products of degrees. So a round changes the volumes and exits of modules, adds up by how much their
// costs change, and is undone if the codelength would not fall. The vertices of a round that is undone propose in fewer
// rounds, so a later round has fewer moves; a single move lowers the codelength by its gain.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "move_round.hpp"
#include "objectives.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// The weight of the arcs of a vertex to other vertices.
struct find_outside {
  weighted_rows rows;
  std::uint64_t const* degree;
  std::uint64_t* outside;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    graph::neighbour_list const row = rows.g.neighbours(v);
    std::uint32_t const at = graph::lower_bound(row.data, row.size, v);
    bool const loop = at < row.size && row[at] == v;
    outside[v] = degree[v] - (loop ? std::uint64_t{rows.weight(row.data + at)} * rows.loop : 0);
  }
};

/// One tile per item: adds the weight of the arcs to other modules to the exits of the module of a vertex.
struct add_up_exits {
  weighted_rows rows;
  graph::vertex_id const* label;
  std::uint64_t* exits;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const home = label[item->vertex];
    graph::neighbour_list const part = item->part_of(rows.g.neighbours(item->vertex));
    std::uint64_t sum = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size())
      if (label[part[i]] != home) sum += rows.weight(part.data + i);
    sum = exec::sum(t, sum);
    if (t.rank() == 0 && sum > 0) exec::atomic_ref<std::uint64_t>(exits[home]).fetch_add(sum, exec::relaxed);
  }
};

/// The volumes and exits of modules that a round may change, and the exits in their indices, from before the round.
struct saved_modules {
  std::uint64_t* volume;
  std::uint64_t* exits;
  std::uint64_t* books;       // of sets of vertices; nullptr: there is one index
  std::uint32_t* book_marks;  // whether the set has proposals
};

/// Adds the exits of a module, whose label is one of its vertices, to those in the index of its set.
struct add_up_books {
  std::uint64_t const* exits;
  graph::vertex_id const* within;
  std::uint64_t* books;
  WYRM_HD void operator()(std::size_t i) const {
    if (exits[i] > 0) exec::atomic_ref<std::uint64_t>(books[within[i]]).fetch_add(exits[i], exec::relaxed);
  }
};

/// One lane per item: saves both modules of each proposal. All lanes write the same values.
struct save_modules {
  move_round r;
  map_objective objective;
  saved_modules saved;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0 || r.proposal[item->vertex].gain == 0) return;
    for (graph::vertex_id const m : {r.label[item->vertex], r.proposal[item->vertex].to}) {
      exec::atomic_ref<std::uint64_t>(saved.volume[m]).store(r.volume[m], exec::relaxed);
      exec::atomic_ref<std::uint64_t>(saved.exits[m]).store(objective.exits[m], exec::relaxed);
    }
    if (objective.within == nullptr) return;
    graph::vertex_id const set = objective.within[item->vertex];
    exec::atomic_ref<std::uint64_t>(saved.books[set]).store(objective.books[set], exec::relaxed);
    exec::atomic_ref<std::uint32_t>(saved.book_marks[set]).store(1, exec::relaxed);
  }
};

/// One tile per item: changes the exits of both modules of each move, as long as labels are those from before it. The
/// arc from a neighbour that moves, too, is counted there.
struct change_exits {
  move_round r;
  map_objective objective;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (r.proposal[v].gain == 0) return;
    graph::vertex_id const from = r.label[v];
    graph::vertex_id const to = r.proposal[v].to;
    graph::neighbour_list const part = item->part_of(r.rows.g.neighbours(v));
    std::uint64_t of_from = 0;  // differences, modulo 2^64
    std::uint64_t of_to = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      graph::vertex_id const u = part[i];
      if (u == v) continue;
      std::uint64_t const w = r.rows.weight(part.data + i);
      graph::vertex_id const there = r.label[u];
      bool const moves = r.proposal[u].gain > 0;
      if (there != from) of_from -= w;
      if ((moves ? r.proposal[u].to : there) != to) of_to += w;
      if (!moves && there == from) of_from += w;
      if (!moves && there == to) of_to -= w;
    }
    of_from = exec::sum(t, of_from);
    of_to = exec::sum(t, of_to);
    if (t.rank() != 0) return;
    exec::atomic_ref<std::uint64_t>(objective.exits[from]).fetch_add(of_from, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(objective.exits[to]).fetch_add(of_to, exec::relaxed);
    std::uint64_t& book = objective.within == nullptr ? r.result->exits : objective.books[objective.within[v]];
    exec::atomic_ref<std::uint64_t>(book).fetch_add(of_from + of_to, exec::relaxed);
  }
};

/// One lane per item: adds up by how much the costs of modules have changed. The lane that resets the traffic of a
/// module counts it.
struct compare_costs {
  move_round r;
  map_objective objective;
  saved_modules saved;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    std::uint64_t cost = 0;
    if (item != nullptr && item->part == 0 && r.proposal[item->vertex].to != move_round::no_label) {
      for (graph::vertex_id const m : {r.label[item->vertex], r.proposal[item->vertex].to})
        if (exec::atomic_ref<std::uint64_t>(r.traffic[m]).exchange(0, exec::relaxed) != 0)
          cost += static_cast<std::uint64_t>(objective.terms.module(objective.exits[m], r.volume[m]) -
                                             objective.terms.module(saved.exits[m], saved.volume[m]));
      if (objective.within != nullptr) cost += change_of_index(objective.within[item->vertex]);
    }
    cost = exec::sum(t, cost);
    if (t.rank() == 0 && cost != 0) exec::atomic_ref<std::uint64_t>(r.result->cost).fetch_add(cost, exec::relaxed);
  }

 private:
  [[nodiscard]] WYRM_HD std::uint64_t change_of_index(graph::vertex_id set) const {
    if (exec::atomic_ref<std::uint32_t>(saved.book_marks[set]).exchange(0, exec::relaxed) == 0) return 0;
    return static_cast<std::uint64_t>(objective.terms.index(objective.books[set]) -
                                      objective.terms.index(saved.books[set]));
  }
};

/// One lane per item: undoes the moves of a round. All lanes write the same values.
struct undo_moves {
  move_round r;
  map_objective objective;
  saved_modules saved;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0 || r.proposal[item->vertex].gain == 0) return;
    move_proposal& w = r.proposal[item->vertex];
    for (graph::vertex_id const m : {r.label[item->vertex], w.to}) {
      exec::atomic_ref<std::uint64_t>(r.volume[m]).store(saved.volume[m], exec::relaxed);
      exec::atomic_ref<std::uint64_t>(objective.exits[m]).store(saved.exits[m], exec::relaxed);
    }
    if (objective.within != nullptr) {
      graph::vertex_id const set = objective.within[item->vertex];
      exec::atomic_ref<std::uint64_t>(objective.books[set]).store(saved.books[set], exec::relaxed);
    }
    w.refuse();
  }
};

}  // namespace wyrm::algorithms::detail
