// SPDX-License-Identifier: Apache-2.0
// The first steps of a round of local moves (move_round.hpp), on a device: each vertex that may move adds up the
// weights of its arcs to each neighbouring community in a hash table, and proposes the move with the greatest gain. For
// most rows the table is in the memory of a tile, and one step does all; for hubs (hub_tables.hpp) there are three. On
// a host propose_on_host proposes moves, by the same rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "hub_tables.hpp"
#include "move_round.hpp"
#include "vote_table.hpp"

namespace wyrm::algorithms::detail {

/// The items of the vertices that may propose moves, by kinds of rows.
struct proposers {
  frontier small;
  frontier medium;
  frontier hub;
  std::uint32_t longest_small;  // 0: the rows of `small` are in `medium`
};

/// One lane per item. On a device it also lists the vertices that may propose moves.
struct begin_round {
  move_round r;
  frontier from;
  proposers to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    frontier_item const it = item != nullptr ? *item : frontier_item{0, 1};
    if (it.part == 0) {
      r.proposal[it.vertex] = r.no_proposal(it.vertex);
      from.clear_mark(it.vertex);
    }
    if constexpr (Tile::size() > 1) {
      row_kind kind = row_kind::empty;
      if (it.part == 0 && r.may_propose(it.vertex)) kind = kind_of_row(r.rows.g.degree(it.vertex), to.longest_small);
      to.small.append_item(t, it, kind == row_kind::small);
      to.medium.append_item(t, it, kind == row_kind::medium);
      if (t.any(kind == row_kind::hub))  // its parts become adjacent
        to.hub.append(t, r.rows.g, it.vertex, kind == row_kind::hub);
    }
  }
};

/// The bytes of a table, a multiple of 16.
[[nodiscard]] constexpr std::size_t memory_of_table(std::uint32_t slots) {
  return (slots * (sizeof(graph::vertex_id) + sizeof(std::uint32_t)) + 15) / 16 * 16;
}
/// A table in the memory of a tile.
[[nodiscard]] WYRM_HD inline vote_table<std::uint32_t> table_in(std::byte* memory, std::uint32_t slots) {
  auto* const labels = reinterpret_cast<graph::vertex_id*>(memory);
  return {labels, labels + slots, slots};
}

/// The move with the greatest gain, to the smallest label among equals, of those that the lanes of a tile consider.
template <class Objective>
class best_move {
 public:
  WYRM_HD best_move(move_round const& r, typename Objective::leaving const& moves) : r_(r), moves_(moves) {}

  /// The moves to the communities in the slots from `begin` to `end` of a table.
  template <class Tile>
  WYRM_HD void consider_all(Tile const& t, vote_table<std::uint32_t> const& table, std::uint32_t begin,
                            std::uint32_t end) {
    constexpr std::uint32_t at_once = 4;  // slots whose loads overlap
    for (std::uint32_t i = begin + t.rank(); i < end; i += at_once * Tile::size()) {
      auto const at = [&](std::uint32_t k) { return i + k * Tile::size(); };
      graph::vertex_id to[at_once];
      bool is_empty = true;
      for (std::uint32_t k = 0; k < at_once; ++k) {
        to[k] = at(k) < end ? table.labels[at(k)] : graph::no_vertex;
        is_empty = is_empty && to[k] == graph::no_vertex;
      }
      if (is_empty) continue;
      std::uint32_t weight[at_once];
      typename Objective::leaving::community there[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) {
        weight[k] = table.votes[at(k) < end ? at(k) : i];
        there[k] = moves_.look(to[k] != graph::no_vertex ? to[k] : 0);
      }
      for (std::uint32_t k = 0; k < at_once; ++k)
        if (to[k] != graph::no_vertex) consider(to[k], moves_.gain(there[k], weight[k]));
    }
  }
  /// The move of v to a community of its own, if its label is free.
  template <class Tile>
  WYRM_HD void consider_own(Tile const& t, graph::vertex_id v) {
    if (t.rank() == 0 && r_.volume[v] == 0) consider(v, moves_.gain(v, 0));
  }
  /// In every lane; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD candidate<std::uint64_t> found(Tile const& t) const {
    return best_of(t, best_);
  }
  /// Whether a move may be possible in another round; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool waits(Tile const& t) const {
    return t.any(waits_);
  }

 private:
  WYRM_HD void consider(graph::vertex_id to, std::int64_t gain) {
    if (gain <= 0 || !r_.may_enter(to)) return;
    if (r_.is_source(to))
      waits_ = true;
    else
      best_.consider({static_cast<std::uint64_t>(gain), to});
  }

  move_round const& r_;
  typename Objective::leaving moves_;
  candidate<std::uint64_t> best_;
  bool waits_ = false;
};

/// One tile per item of one part, whose row has at most `Longest` entries: finds the best move. `begins`: there is no
/// begin_round before, as the rows of all vertices are for this step.
template <class Objective, std::uint32_t Longest>
struct propose_move {
  static constexpr std::size_t bytes = memory_of_table(vote_table<std::uint32_t>::slots_for(Longest));

  move_round r;
  Objective objective;
  frontier from;
  bool begins;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item, std::byte* memory) const {
    graph::vertex_id const v = item->vertex;
    if (begins) {
      bool const proposes = r.may_propose(v);
      if (t.rank() == 0) {
        r.proposal[v] = r.no_proposal(v);
        from.clear_mark(v);
      }
      if (!proposes) return;
    }
    graph::neighbour_list const row = r.rows.g.neighbours(v);
    typename Objective::home const home = objective.look_home(r, v);
    vote_table<std::uint32_t> const table = table_in(memory, vote_table<std::uint32_t>::slots_for(row.size));
    table.clear(t);
    t.sync();
    std::uint32_t const own = table.gather<table_users::tile>(
        t, row, 0, row.size, r.label[v], true,
        [&](std::uint32_t i, graph::vertex_id u) { return r.vote(v, row.data + i, u); });
    t.sync();
    best_move<Objective> best(r, objective.from(r, home, own));
    best.consider_all(t, table, 0, table.slots);
    best.consider_own(t, v);
    candidate<std::uint64_t> const found = best.found(t);
    bool const waits = best.waits(t);
    if (t.rank() != 0) return;
    if (waits) r.proposal[v].waits = 1;
    if (found.votes == 0) return;
    r.proposal[v].gain = found.votes;
    r.proposal[v].to = found.label;
  }
};

// The three steps of hubs, whose parts are adjacent in the list of hubs: one tile per item.

/// Sums the weights of the arcs of a part to each neighbouring community, first in the memory of the tile, because many
/// arcs of a hub lead to few communities.
struct gather_links {
  static constexpr std::uint32_t slots = vote_table<std::uint32_t>::slots_for(frontier_item::part_size);
  static constexpr std::size_t bytes = memory_of_table(slots);

  move_round r;
  hub_tables_view tables;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item, std::byte* memory) const {
    graph::vertex_id const v = item->vertex;
    if (!tables.has(v)) return;
    graph::neighbour_list const part = item->part_of(r.rows.g.neighbours(v));
    vote_table<std::uint32_t> const all = tables.of(v);
    vote_table<std::uint32_t> const mine = table_in(memory, slots);
    std::uint32_t own = 0;
    for (std::uint32_t begin = 0; begin < part.size; begin += frontier_item::part_size) {  // parts may be longer
      std::uint32_t const rest = part.size - begin;
      mine.clear(t);
      t.sync();
      own += mine.gather<table_users::tile>(
          t, part, begin, begin + (rest < frontier_item::part_size ? rest : frontier_item::part_size), r.label[v], true,
          [&](std::uint32_t i, graph::vertex_id u) { return r.vote(v, part.data + i, u); });
      t.sync();
      // Each addition waits for device memory, so all lanes have one at a time.
      std::uint32_t const found = mine.pack(t);
      for (std::uint32_t i = t.rank(); i < found; i += Tile::size())
        all.add<table_users::tiles>(mine.labels[i], mine.votes[i]);
      t.sync();
    }
    if (t.rank() == 0 && own > 0) exec::atomic_ref<std::uint32_t>(r.proposal[v].own).fetch_add(own, exec::relaxed);
  }
};

/// Finds the best move among those of a part of the table, and empties the part.
template <class Objective>
struct find_gains {
  move_round r;
  Objective objective;
  hub_tables_view tables;
  frontier_item const* items;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!tables.has(v)) return;
    vote_table<std::uint32_t> const table = tables.of(v);
    std::uint32_t const parts = frontier_item::parts(r.rows.g.degree(v));
    std::uint32_t const each = (table.slots + parts - 1) / parts;
    std::uint32_t const begin = item->part * each < table.slots ? item->part * each : table.slots;
    std::uint32_t const end = table.slots - begin < each ? table.slots : begin + each;
    best_move<Objective> best(r, objective.from(r, objective.look_home(r, v), r.proposal[v].own));
    best.consider_all(t, table, begin, end);
    if (item->part == 0) best.consider_own(t, v);
    for (std::uint32_t i = begin + t.rank(); i < end; i += Tile::size()) {
      if (table.labels[i] == graph::no_vertex) continue;
      table.labels[i] = graph::no_vertex;
      table.votes[i] = 0;
    }
    candidate<std::uint64_t> const found = best.found(t);
    bool const waits = best.waits(t);
    if (t.rank() != 0) return;
    tables.best[item - items] = found;
    if (waits) exec::atomic_ref<std::uint32_t>(r.proposal[v].waits).store(1, exec::relaxed);
  }
};

/// Finds the best move of a hub among those of its parts.
struct find_targets {
  move_round r;
  candidate<std::uint64_t> const* best;
  frontier_item const* items;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    if (item->part != 0) return;
    graph::vertex_id const v = item->vertex;
    std::uint32_t const parts = frontier_item::parts(r.rows.g.degree(v));
    candidate<std::uint64_t> mine;
    for (std::uint32_t p = t.rank(); p < parts; p += Tile::size()) mine.consider(best[item - items + p]);
    mine = best_of(t, mine);
    if (t.rank() != 0 || mine.votes == 0) return;
    r.proposal[v].gain = mine.votes;
    r.proposal[v].to = mine.label;
  }
};

}  // namespace wyrm::algorithms::detail
