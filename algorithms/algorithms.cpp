// SPDX-License-Identifier: Apache-2.0
// The algorithms for any_graph; those on paths are in any/paths.cpp.
#include "clustering.hpp"
#include "clustering_quality.hpp"
#include "components.hpp"
#include "core_numbers.hpp"
#include "edge_support.hpp"
#include "incremental_clustering.hpp"
#include "incremental_pagerank.hpp"
#include "incremental_triangles.hpp"
#include "pagerank.hpp"
#include "random_walks.hpp"
#include "triangles.hpp"

namespace wyrm::algorithms {

pagerank_result pagerank(graph::any_graph const& g, pagerank_options const& o) {
  return std::visit([&](auto const& space) { return pagerank(space, g.view(), o); }, g.space());
}

triangles_result triangles(graph::any_graph const& g, triangles_options const& o) {
  return std::visit([&](auto const& space) { return triangles(space, g.view(), o); }, g.space());
}

clustering_quality quality(graph::any_graph const& g, std::vector<std::uint32_t> const& labels, double resolution) {
  return std::visit([&](auto const& space) { return quality(space, g.view(), labels, resolution); }, g.space());
}

std::vector<std::uint32_t> edge_support(graph::any_graph const& g) {
  return std::visit([&](auto const& space) { return edge_support(space, g.view()); }, g.space());
}

walk_paths random_walks(graph::any_graph const& g, random_walk_options const& o) {
  return std::visit([&](auto const& space) { return random_walks(space, g.view(), o); }, g.space());
}

clustering_result clustering(graph::any_graph const& g, clustering_options const& o) {
  return std::visit([&](auto const& space) { return clustering(space, g.view(), o); }, g.space());
}

components_result components(graph::any_graph const& g) {
  return std::visit([&](auto const& space) { return components(space, g.view()); }, g.space());
}

core_numbers_result core_numbers(graph::any_graph const& g) {
  return std::visit([&](auto const& space) { return core_numbers(space, g.view()); }, g.space());
}

std::unique_ptr<maintained_pagerank> maintain_pagerank(graph::any_graph const& g,
                                                       incremental_pagerank_options const& o) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_pagerank> {
        return std::make_unique<incremental_pagerank<Space>>(space, g.view(), o);
      },
      g.space());
}

std::unique_ptr<maintained_triangles> maintain_triangles(graph::any_graph const& g, bool per_vertex) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_triangles> {
        return std::make_unique<incremental_triangles<Space>>(space, g.view(), per_vertex);
      },
      g.space());
}

std::unique_ptr<maintained_components> maintain_components(graph::any_graph const& g) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_components> {
        return std::make_unique<incremental_components<Space>>(space, g.view());
      },
      g.space());
}

std::unique_ptr<maintained_clustering> maintain_clustering(graph::any_graph const& g, clustering_options const& o) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_clustering> {
        return std::make_unique<incremental_clustering<Space>>(space, g.view(), o);
      },
      g.space());
}

}  // namespace wyrm::algorithms
