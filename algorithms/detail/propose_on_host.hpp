// SPDX-License-Identifier: Apache-2.0
// Proposals of moves on a host: the same as those of propose_move (propose_move.hpp), by one
// core per vertex, which adds up weights in a table of all communities.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "move_round.hpp"
#include "thread_tables.hpp"

namespace wyrm::algorithms::detail {

/// One lane per item; that of part 0 has the whole row.
template <class Objective>
struct propose_on_host {
  move_round r;
  Objective objective;
  label_tables_view<std::uint32_t> tables;

  [[nodiscard]] WYRM_HD graph::packed_record const* rows() const { return r.rows.g.out_records(); }

  template <class Tile>
  [[nodiscard]] WYRM_HD label_tables_view<std::uint32_t>::held begin(Tile const& t) const {
    return tables.acquire(t);
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item,
                          label_tables_view<std::uint32_t>::held const& table) const {
    graph::vertex_id const v = item->vertex;
    if (item->part != 0 || !r.may_propose(v)) return;
    graph::vertex_id const home = r.label[v];
    label_sums<std::uint32_t> near = weights_to_communities(v, table.empty_sums());

    move_proposal& proposal = r.proposal[v];
    auto const moves = objective.from(r, objective.look_home(r, v), near[home]);
    auto const consider = [&](graph::vertex_id to, std::uint32_t weight) {
      std::int64_t const gain = moves.gain(to, weight);
      if (gain <= 0 || !r.may_enter(to)) return;
      if (r.is_source(to)) {
        proposal.waits = 1;
        return;
      }
      auto const positive = static_cast<std::uint64_t>(gain);
      if (positive < proposal.gain || (positive == proposal.gain && to > proposal.to)) return;
      proposal.gain = positive;
      proposal.to = to;
    };
    near.take_each([&](graph::vertex_id to, std::uint32_t weight) {
      if (to != home) consider(to, weight);
    });
    if (r.volume[v] == 0) consider(v, 0);
  }

 private:
  [[nodiscard]] WYRM_HD label_sums<std::uint32_t> weights_to_communities(graph::vertex_id v,
                                                                         label_sums<std::uint32_t> near) const {
    graph::neighbour_list const all = r.rows.g.neighbours(v);
    graph::vertex_id const* const label = r.label;
    if (r.rows.weights == nullptr && r.rules.within == nullptr) {
      for (std::uint32_t i = 0; i < all.size; ++i)
        if (all[i] != v) near.add(label[all[i]], 1);
    } else {
      for (std::uint32_t i = 0; i < all.size; ++i)
        if (all[i] != v && r.may_meet(v, all[i])) near.add(label[all[i]], r.rows.weight(all.data + i));
    }
    return near;
  }
};

}  // namespace wyrm::algorithms::detail
