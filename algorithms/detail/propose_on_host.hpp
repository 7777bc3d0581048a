// SPDX-License-Identifier: Apache-2.0
// Proposals of moves on a host: the same as those of gather_links, find_gains and find_targets (move_round.hpp), by one
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
  thread_tables_view<std::uint32_t> tables;  // of two entries per vertex

  [[nodiscard]] WYRM_HD graph::packed_record const* rows() const { return r.rows.g.out_records(); }

  /// The communities of the neighbours of a vertex, and the weights of the arcs to them.
  class communities {
   public:
    WYRM_HD communities(thread_tables_view<std::uint32_t> const& tables, unsigned index)
        : tables_(tables), index_(index), weights_(tables.table(index)), found_(weights_ + tables.entries_each / 2) {}
    /// Adds up the weights of the arcs of v. A community that has only arcs of weight 0 may be found more than once, at
    /// most as often as there are arcs.
    WYRM_HD void gather(move_round const& r, graph::vertex_id v) {
      graph::neighbour_list const all = r.rows.g.neighbours(v);
      // Copies, as the compiler would load members again after each store.
      std::uint32_t* const weights = weights_;
      graph::vertex_id* const found = found_;
      graph::vertex_id const* const label = r.label;
      std::uint32_t size = 0;
      auto const add = [&](graph::vertex_id u, std::uint32_t weight) {
        graph::vertex_id const community = label[u];
        found[size] = community;
        size += weights[community] == 0 ? 1 : 0;
        weights[community] += weight;
      };
      if (r.rows.weights == nullptr && r.rules.within == nullptr) {
        for (std::uint32_t i = 0; i < all.size; ++i)
          if (all[i] != v) add(all[i], 1);
      } else {
        for (std::uint32_t i = 0; i < all.size; ++i)
          if (all[i] != v && r.may_meet(v, all[i])) add(all[i], r.rows.weight(all.data + i));
      }
      size_ = size;
    }
    [[nodiscard]] WYRM_HD std::uint32_t weight(graph::vertex_id community) const { return weights_[community]; }
    /// Calls f(community, weight) for all of them, and removes them.
    template <class F>
    WYRM_HD void take_each(F const& f) {
      for (std::uint32_t i = 0; i < size_; ++i) {
        f(found_[i], weights_[found_[i]]);
        weights_[found_[i]] = 0;
      }
      size_ = 0;
    }
    template <class Tile>
    WYRM_HD void flush(Tile const&) const {
      tables_.release(index_);
    }

   private:
    thread_tables_view<std::uint32_t> tables_;
    unsigned index_;
    std::uint32_t* weights_;  // 0 for all others
    graph::vertex_id* found_;
    std::uint32_t size_ = 0;
  };
  template <class Tile>
  [[nodiscard]] WYRM_HD communities begin(Tile const& t) const {
    return {tables, tables.acquire(t)};
  }

  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item, communities& near) const {
    graph::vertex_id const v = item->vertex;
    graph::vertex_id const home = r.label[v];
    if (item->part != 0 || !r.is_source(home) || !r.may_leave(v)) return;
    near.gather(r, v);

    move_proposal& proposal = r.proposal[v];
    proposal.own = near.weight(home);
    auto const moves = objective.from(r, v);
    auto const consider = [&](graph::vertex_id to, std::uint32_t weight) {
      std::int64_t const gain = moves.gain(to, weight);
      if (gain <= 0 || !r.may_enter(to)) return;
      if (r.is_source(to)) {
        proposal.waits = 1;
        return;
      }
      bool const is_better = static_cast<std::uint64_t>(gain) > proposal.gain ||
                             (static_cast<std::uint64_t>(gain) == proposal.gain && to < proposal.to);
      if (is_better) proposal.gain = static_cast<std::uint64_t>(gain), proposal.to = to;
    };
    near.take_each([&](graph::vertex_id to, std::uint32_t weight) {
      if (to != home) consider(to, weight);
    });
    if (r.volume[v] == 0) consider(v, 0);
  }
};

}  // namespace wyrm::algorithms::detail
