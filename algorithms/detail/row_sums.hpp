// SPDX-License-Identifier: Apache-2.0
// A sum over each row: lanes compute partial sums as the bin of the row requires, and one lane receives the sum. For a
// hub, one lane per part receives the sum of the part.
#pragma once

#include <cstdint>

#include "../../exec/config.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "row_bins.hpp"

namespace wyrm::algorithms::detail {

template <class F>
struct row_sums {
  row_bins_view const& bins;
  F& f;

  template <class Tile>
  WYRM_HD void lane(Tile const& t, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    if (!valid) return;
    auto const loaded = f.load(v, row);
    f.set(v, row, loaded, f.sum(t, v, row, 0, row.degree, 0, 1));
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    bool const sets = valid && t.rank() % lanes == 0;
    decltype(f.load(v, row)) loaded{};
    if (sets) loaded = f.load(v, row);
    auto const sum = group_sum(t, f.sum(t, v, row, 0, row.degree, t.rank() % lanes, lanes));
    if (sets) f.set(v, row, loaded, sum);
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id v, graph::vertex_record const& row) const {
    decltype(f.load(v, row)) loaded{};
    if (t.rank() == 0) loaded = f.load(v, row);
    auto const sum = exec::sum(t, f.sum(t, v, row, 0, row.degree, t.rank(), Tile::size()));
    if (t.rank() == 0) f.set(v, row, loaded, sum);
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    auto const sum = exec::sum(t, f.sum(t, p.vertex, p.row, p.begin, p.end, t.rank(), Tile::size()));
    if (t.rank() == 0) f.set_part(number, p.vertex, sum);
  }
};

/// Computes the sums of an item of the bins; collective. f has these functions:
///   f.sum(t, v, row, begin, end, lane, lanes)  the sum over the entries from `begin` to `end` that belong to a lane;
///                                              lanes of a group without a row call it for an empty row
///   f.load(v, row)                             what set() needs besides the sum; called before entries are read
///   f.set(v, row, loaded, sum)                 by one lane, for a row that is not divided into parts
///   f.set_part(number, v, sum)                 by one lane, for a part of a row
template <class Tile, class F>
WYRM_HD void sum_rows(Tile const& t, row_bins_view const& bins, std::uint32_t item, F& f) {
  row_sums<F> rows{bins, f};
  bins.dispatch(t, item, rows);
}

}  // namespace wyrm::algorithms::detail
