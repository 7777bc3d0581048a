// SPDX-License-Identifier: Apache-2.0
// The algorithms on paths for any_graph.
#include "../betweenness.hpp"
#include "../bfs.hpp"
#include "../incremental_bfs.hpp"
#include "../incremental_sssp.hpp"
#include "../sssp.hpp"

namespace wyrm::algorithms {

bfs_result bfs(graph::any_graph const& g, std::span<graph::vertex_id const> sources, bfs_options const& o) {
  return std::visit([&](auto const& space) { return bfs(space, g.view(), sources, o); }, g.space());
}

sssp_result sssp(graph::any_graph const& g, graph::vertex_id source, sssp_options const& o) {
  return std::visit([&](auto const& space) { return sssp(space, g.view(), source, o); }, g.space());
}

std::unique_ptr<maintained_bfs> maintain_bfs(graph::any_graph const& g, incremental_bfs_options const& o) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_bfs> {
        return std::make_unique<incremental_bfs<Space>>(space, g.view(), o);
      },
      g.space());
}

std::unique_ptr<maintained_sssp> maintain_sssp(graph::any_graph const& g, incremental_sssp_options const& o) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_sssp> {
        return std::make_unique<incremental_sssp<Space>>(space, g.view(), o);
      },
      g.space());
}

betweenness_result betweenness(graph::any_graph const& g, betweenness_options const& o) {
  return std::visit([&](auto const& space) { return betweenness(space, g.view(), o); }, g.space());
}

betweenness_result betweenness(graph::any_graph const& g, std::span<graph::vertex_id const> sources,
                               betweenness_options const& o) {
  return std::visit([&](auto const& space) { return betweenness(space, g.view(), sources, o); }, g.space());
}

}  // namespace wyrm::algorithms
