// SPDX-License-Identifier: Apache-2.0
// Counts the larger neighbours of vertices, for algorithms that number each edge once, from its smaller end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../graph/types.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// The number of larger neighbours of a vertex.
struct count_larger {
  graph::graph_view g;
  std::uint32_t* larger;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    graph::neighbour_list const row = g.neighbours(v);
    larger[i] = row.size - graph::lower_bound(row.data, row.size, v + 1);
  }
};

}  // namespace wyrm::algorithms::detail
