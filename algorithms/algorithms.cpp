// SPDX-License-Identifier: Apache-2.0
// The algorithms on graphs whose space is chosen at run time.
#include "pagerank.hpp"
#include "triangles.hpp"

namespace wyrm::algorithms {

pagerank_result pagerank(graph::any_graph const& g, pagerank_options const& o) {
  return std::visit([&](auto const& space) { return pagerank(space, g.view(), o); }, g.space());
}

triangles_result triangles(graph::any_graph const& g, triangles_options const& o) {
  return std::visit([&](auto const& space) { return triangles(space, g.view(), o); }, g.space());
}

}  // namespace wyrm::algorithms
