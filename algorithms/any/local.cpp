// SPDX-License-Identifier: Apache-2.0
// The algorithms on neighbourhoods for any_graph.
#include <variant>

#include "../label_propagation.hpp"

namespace wyrm::algorithms {

std::vector<graph::vertex_id> label_propagation(graph::any_graph const& g, label_propagation_options const& o,
                                                std::span<graph::vertex_id const> initial) {
  return std::visit([&](auto const& space) { return label_propagation(space, g.view(), o, initial); }, g.space());
}

}  // namespace wyrm::algorithms
