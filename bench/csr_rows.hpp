// SPDX-License-Identifier: Apache-2.0
// Presents the rows of a CSR as a graph view, for benchmarks and tests of algorithms without a dynamic graph.
#pragma once

#include <cstdint>

#include "../graph/view.hpp"

namespace wyrm::bench {

/// One thread per vertex: writes a record that points to the row of the vertex in the CSR.
struct point_at_rows {
  std::uint64_t const* offsets;
  graph::vertex_id* targets;
  graph::packed_record* rows;
  WYRM_HD void operator()(std::size_t v) const {
    auto const degree = static_cast<std::uint32_t>(offsets[v + 1] - offsets[v]);
    rows[v] = graph::vertex_record{degree > 0 ? targets + offsets[v] : nullptr, degree, degree};
  }
};

}  // namespace wyrm::bench
