// SPDX-License-Identifier: Apache-2.0
// The sum of the contributions of all neighbours in a row: the inner loop of every pull.
#pragma once

#include <cstdint>

#include "../../exec/config.hpp"
#include "../../exec/load.hpp"
#include "../../graph/types.hpp"
#include "arc_weights.hpp"

namespace wyrm::algorithms::detail {

/// Contributions of all vertices, those of the first `count` > 0 from a table that is faster to read.
template <class Real>
struct contributions_with_table {
  Real const* all;
  Real const* table;
  std::uint32_t count;
};

/// The contribution of v, or 0 if it is not valid.
template <class Real>
[[nodiscard]] WYRM_HD Real contribution_of(Real const* all, graph::vertex_id v, bool valid) {
  return valid ? all[v] : Real{0};
}
/// Two conditional loads, of which each lane makes one, and no branch: the loads of several vertices are issued before
/// the first one returns.
template <class Real>
[[nodiscard]] WYRM_HD Real contribution_of(contributions_with_table<Real> const& from, graph::vertex_id v, bool valid) {
  bool const in_table = v < from.count;
  Real const near = valid && in_table ? from.table[v] : Real{0};
  Real const far = valid && !in_table ? from.all[v] : Real{0};
  return near + far;
}

/// The part of the sum that belongs to a lane, over the entries from `begin` to `end`. A lane issues the loads of four
/// times four entries before it uses any of them; entries are loaded with a hint that they are not used again, so that
/// contributions stay in the caches. A row may begin at any entry, but is read from multiples of 16 bytes: up to three
/// entries before the row and after it are read, and ignored. weights: points to the weight of the entry at the
/// multiple of 16 bytes before the row (see row_head()); not used if Weighted is false. contribution: an array, or
/// contributions_with_table.
template <class Sum, bool Weighted, class Tile, class Contributions>
WYRM_HD Sum pull(Tile const&, Contributions const& contribution, float const* weights, graph::vertex_id const* row,
                 std::uint32_t begin, std::uint32_t end, std::uint32_t lane, std::uint32_t lanes) {
  using Real = decltype(contribution_of(contribution, 0, true));
  struct alignas(16) quad {
    graph::vertex_id v[4];
  };
  struct alignas(16) four_weights {
    float w[4];
  };
  auto const sent = [](Real of, [[maybe_unused]] float weight) {
    if constexpr (Weighted)
      return static_cast<Sum>(of) * static_cast<Sum>(weight);
    else
      return static_cast<Sum>(of);
  };
  constexpr unsigned at_once = 4;
  std::uint32_t const head = row_head(row);
  if constexpr (Tile::size() == 1) {  // a core prefetches without help
    Sum sum = 0;
    for (std::uint32_t i = begin; i < end; ++i)
      sum += sent(contribution_of(contribution, row[i], true), Weighted ? weights[head + i] : 1.0f);
    return sum;
  }
  row -= head;
  begin += head;
  end += head;
  Sum sum = 0;
  for (std::uint32_t i = begin - begin % 4 + 4 * lane; i < end; i += 4 * lanes * at_once) {
    quad ids[at_once];
    four_weights by[at_once] = {};
    Real got[at_once][4];
    for (unsigned q = 0; q < at_once; ++q) {
      std::uint32_t const at = i + 4 * lanes * q;
      ids[q] = at < end ? exec::load_once(reinterpret_cast<quad const*>(row + at)) : quad{};
      if constexpr (Weighted)
        if (at < end) by[q] = exec::load_once(reinterpret_cast<four_weights const*>(weights + at));
    }
    for (unsigned q = 0; q < at_once; ++q)
      for (unsigned k = 0; k < 4; ++k) {
        std::uint32_t const at = i + 4 * lanes * q + k;
        got[q][k] = contribution_of(contribution, ids[q].v[k], at >= begin && at < end);
      }
    for (unsigned q = 0; q < at_once; ++q)
      sum += (sent(got[q][0], by[q].w[0]) + sent(got[q][1], by[q].w[1])) +
             (sent(got[q][2], by[q].w[2]) + sent(got[q][3], by[q].w[3]));
  }
  return sum;
}

}  // namespace wyrm::algorithms::detail
