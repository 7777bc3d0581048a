// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden for any_graph.
#include "../leiden.hpp"
#include "../louvain.hpp"

namespace wyrm::algorithms {

louvain_result louvain(graph::any_graph const& g, louvain_options const& o) {
  return std::visit([&](auto const& space) { return louvain(space, g.view(), o); }, g.space());
}

leiden_result leiden(graph::any_graph const& g, leiden_options const& o) {
  return std::visit([&](auto const& space) { return leiden(space, g.view(), o); }, g.space());
}

}  // namespace wyrm::algorithms
