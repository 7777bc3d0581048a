// SPDX-License-Identifier: Apache-2.0
// Edges that kernels compute on a space chosen at run time, as lists in memory of the host. One device source compiles
// the kernels of all families.
#pragma once

#include <cstddef>
#include <vector>

#include "../exec/device.hpp"
#include "../graph/types.hpp"
#include "communities.hpp"
#include "geometric.hpp"
#include "kronecker.hpp"
#include "meshes.hpp"
#include "random_graphs.hpp"

namespace wyrm::datasets {

// The edges are the same on all spaces. On a GPU they take 8 bytes each of its memory, besides the scratch of
// edges_by_row() and geometric(). All throw error(out_of_memory) when the space or the host is out of memory.

/// The edges of edges_by_row(). Row: grid_row, dual_row, nlpkkt_row, gnp_row or planted_row.
template <class Row>
[[nodiscard]] std::vector<graph::edge> placed_rows(exec::any_space const& space, std::size_t rows, Row const& row);

/// The edges of edges_by_index().
[[nodiscard]] std::vector<graph::edge> placed_edges(exec::any_space const& space, std::size_t n,
                                                    kronecker_edges const& edge);

/// The edges of geometric(). Throws error(bad_argument) for options that are out of range.
[[nodiscard]] std::vector<graph::edge> placed_points(exec::any_space const& space, geometric_options const& o);

}  // namespace wyrm::datasets
