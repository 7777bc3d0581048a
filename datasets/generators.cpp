// SPDX-License-Identifier: Apache-2.0
#include "generators.hpp"

#include <string>

#include "geometric.hpp"
#include "limits.hpp"
#include "rows.hpp"

namespace wyrm::datasets {

graph::edge_list rmat(unsigned scale, std::size_t edge_factor, std::uint64_t seed) {
  if (scale < 1 || scale > 31)
    throw error(error_code::bad_argument, "an R-MAT graph has 2^1 to 2^31 vertices, not 2^" + std::to_string(scale));
  graph::edge_list list;
  list.vertices = std::size_t{1} << scale;
  std::size_t const edges = list.vertices * edge_factor;
  edges_by_index(exec::host_space(), edges, rmat_edges{scale, seed}, room_for(list.edges, edges));
  return list;
}

graph::edge_list random_geometric(std::size_t vertices, std::uint64_t seed) {
  return geometric({.vertices = vertices, .seed = seed});
}

}  // namespace wyrm::datasets
