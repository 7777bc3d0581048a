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
  frontier brief;
  frontier single;
  frontier hub;
  std::uint32_t longest_brief;  // 0: the rows of `brief` are in `single`
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
      if (item != nullptr && r.may_propose(it.vertex)) kind = kind_of_row(r.rows.g.degree(it.vertex), to.longest_brief);
      to.brief.append_item(t, it, kind == row_kind::brief);
      to.single.append_item(t, it, kind == row_kind::single);
      to.hub.append_item(t, it, kind == row_kind::hub);
    }
  }
};

/// One tile per item of one part, whose row has at most `Longest` entries: finds the smallest label with the greatest
/// gain. `begins`: there is no begin_round before, as the rows of all vertices are for this step.
template <class Objective, std::uint32_t Longest>
struct propose_move {
  static constexpr std::uint32_t slots = vote_table<std::uint32_t>::slots_for(Longest);
  static constexpr std::size_t bytes = (slots * (sizeof(graph::vertex_id) + sizeof(std::uint32_t)) + 15) / 16 * 16;

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
    auto* const label = reinterpret_cast<graph::vertex_id*>(memory);
    vote_table<std::uint32_t> const table{label, label + slots, vote_table<std::uint32_t>::slots_for(row.size)};
    for (std::uint32_t i = t.rank(); i < table.slots; i += Tile::size()) {
      table.labels[i] = graph::no_vertex;
      table.votes[i] = 0;
    }
    t.sync();
    std::uint32_t const own =
        table.gather(t, 0, row.size, r.label[v], true, [&](std::uint32_t i) { return r.vote(v, row.data + i); });
    t.sync();
    auto const moves = objective.from(r, v, own);
    candidate<std::uint64_t> best;
    bool waits = false;
    auto const consider = [&](graph::vertex_id to, std::uint32_t weight) {
      std::int64_t const gain = moves.gain(to, weight);
      if (gain <= 0 || !r.may_enter(to)) return;
      if (r.is_source(to))
        waits = true;
      else
        best.consider({static_cast<std::uint64_t>(gain), to});
    };
    for (std::uint32_t i = t.rank(); i < table.slots; i += Tile::size())
      if (table.labels[i] != graph::no_vertex) consider(table.labels[i], table.votes[i]);
    if (t.rank() == 0 && r.volume[v] == 0) consider(v, 0);  // a community of its own, if its label is free
    best = best_of(t, best);
    waits = t.any(waits);
    if (t.rank() != 0) return;
    if (waits) r.proposal[v].waits = 1;
    if (best.votes == 0) return;
    r.proposal[v].gain = best.votes;
    r.proposal[v].to = best.label;
  }
};

/// A hub, for the three steps that process its parts: one tile per item.
struct hub_round {
  move_round r;
  hub_tables_view tables;

  struct range {
    std::uint32_t begin;
    std::uint32_t end;
  };
  /// The part of the table that belongs to an item.
  [[nodiscard]] WYRM_HD range part_of_table(frontier_item const& item, std::uint32_t slots) const {
    std::uint32_t const n = frontier_item::parts(r.rows.g.degree(item.vertex));
    std::uint32_t const size = (slots + n - 1) / n;
    std::uint32_t const begin = item.part * size < slots ? item.part * size : slots;
    return {begin, begin + size < slots ? begin + size : slots};
  }
  /// Calls f(community, weight of the arcs to it) for the neighbouring communities in the part of the table of an item;
  /// and for a community of its own, if the label of the vertex is free. Empties: also empties the part.
  template <bool Empties, class Tile, class F>
  WYRM_HD void for_each_community(Tile const& t, frontier_item const& item, F const& f) const {
    vote_table<std::uint32_t> const table = tables.of(item.vertex);
    range const part = part_of_table(item, table.slots);
    for (std::uint32_t i = part.begin + t.rank(); i < part.end; i += Tile::size()) {
      if (table.labels[i] == graph::no_vertex) continue;
      f(table.labels[i], table.votes[i]);
      if constexpr (Empties) {
        table.labels[i] = graph::no_vertex;
        table.votes[i] = 0;
      }
    }
    if (item.part == 0 && t.rank() == 0 && r.volume[item.vertex] == 0) f(item.vertex, 0);
  }
};

/// Sums the weights of the arcs of a part to each neighbouring community.
struct gather_links {
  hub_round hubs;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!hubs.tables.has(v)) return;
    move_round const& r = hubs.r;
    graph::neighbour_list const part = item->part_of(r.rows.g.neighbours(v));
    std::uint32_t const own = hubs.tables.of(v).gather(t, 0, part.size, r.label[v], false,
                                                       [&](std::uint32_t i) { return r.vote(v, part.data + i); });
    if (t.rank() == 0 && own > 0) exec::atomic_ref<std::uint32_t>(r.proposal[v].own).fetch_add(own, exec::relaxed);
  }
};

/// Finds the greatest gain.
template <class Objective>
struct find_gains {
  hub_round hubs;
  Objective objective;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!hubs.tables.has(v)) return;
    move_round const& r = hubs.r;
    std::uint64_t best = 0;
    bool waits = false;
    auto const moves = objective.from(r, v, r.proposal[v].own);
    hubs.for_each_community<false>(t, *item, [&](graph::vertex_id to, std::uint32_t weight) {
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

/// Finds the smallest label with the greatest gain, and empties the table.
template <class Objective>
struct find_targets {
  hub_round hubs;
  Objective objective;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    if (!hubs.tables.has(v)) return;
    move_round const& r = hubs.r;
    std::uint64_t const wanted = r.proposal[v].gain;
    graph::vertex_id least = move_round::no_label;
    auto const moves = objective.from(r, v, r.proposal[v].own);
    hubs.for_each_community<true>(t, *item, [&](graph::vertex_id to, std::uint32_t weight) {
      if (wanted > 0 && to < least && !r.is_source(to) && r.may_enter(to) &&
          moves.gain(to, weight) == static_cast<std::int64_t>(wanted))
        least = to;
    });
    if (least != move_round::no_label)
      exec::atomic_ref<graph::vertex_id>(r.proposal[v].to).fetch_min(least, exec::relaxed);
  }
};

}  // namespace wyrm::algorithms::detail
