// SPDX-License-Identifier: Apache-2.0
// The algorithms on paths for any_graph.
#include "../bfs.hpp"

namespace wyrm::algorithms {

bfs_result bfs(graph::any_graph const& g, std::span<graph::vertex_id const> sources, bfs_options const& o) {
  return std::visit([&](auto const& space) { return bfs(space, g.view(), sources, o); }, g.space());
}

}  // namespace wyrm::algorithms
