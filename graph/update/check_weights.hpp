// SPDX-License-Identifier: Apache-2.0
// Refuses values that attached results do not accept as weights, before anything is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../types.hpp"
#include "plan.hpp"
#include "values.hpp"

namespace wyrm::graph::detail {

/// Whether the bits of a value are those of a weight: a number, finite and not negative. Values that are no numbers are
/// not checked.
template <unsigned Width>
[[nodiscard]] WYRM_HD bool is_weight(value_word<Width> word, number_type type) {
  if constexpr (Width == 4) {
    if (type != number_type::f32) return true;
    auto const w = cuda::std::bit_cast<float>(word);
    return w >= 0 && w <= 0x1.fffffep127f;
  } else if constexpr (Width == 8) {
    if (type == number_type::i64) return cuda::std::bit_cast<std::int64_t>(word) >= 0;
    if (type != number_type::f64) return true;
    auto const w = cuda::std::bit_cast<double>(word);
    return w >= 0 && w <= 0x1.fffffffffffffp1023;
  } else {
    return true;
  }
}

/// One tile per source group of a planned entry_batch: counts planned values that are no weights.
template <unsigned Width>
struct check_planned_weights {
  entry_batch batch;
  mixed_plan const* plans;
  update_status* status;
  unsigned which;
  number_type type;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    if (status->is_refused() || s >= status->groups(which)) return;
    source_group const g = batch.arcs.groups[s];
    mixed_plan const plan = plans[s];
    auto const* const values = static_cast<value_word<Width> const*>(batch.values) + g.begin;
    std::uint64_t wrong = 0;
    for (std::uint32_t i = t.rank(); i < plan.changed; i += Tile::size()) wrong += !is_weight<Width>(values[i], type);
    for (std::uint32_t i = t.rank(); i < plan.updated; i += Tile::size())
      wrong += !is_weight<Width>(values[g.size - 1 - i], type);
    wrong = exec::sum(t, wrong);
    if (t.rank() == 0 && wrong > 0) add(status->no_weights, wrong);
  }
};

/// One lane per value of an array: counts those that are no weights.
template <unsigned Width>
struct count_no_weights {
  value_word<Width> const* values;
  number_type type;
  std::uint64_t* count;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint64_t const wrong = exec::sum(t, std::uint64_t{valid && !is_weight<Width>(values[i], type)});
    if (t.rank() == 0 && wrong > 0) add(*count, wrong);
  }
};

}  // namespace wyrm::graph::detail
