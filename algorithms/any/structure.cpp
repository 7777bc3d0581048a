// SPDX-License-Identifier: Apache-2.0
// Strong components, spanning forests, independent sets, colourings and maintained core numbers of an any_graph.
#include <memory>
#include <variant>

#include "../colouring.hpp"
#include "../incremental_core_numbers.hpp"
#include "../independent_set.hpp"
#include "../spanning_forest.hpp"
#include "../strong_components.hpp"

namespace wyrm::algorithms {

components_result strong_components(graph::any_graph const& g) {
  return std::visit([&](auto const& space) { return strong_components(space, g.view()); }, g.space());
}

spanning_forest_result spanning_forest(graph::any_graph const& g) {
  return std::visit([&](auto const& space) { return spanning_forest(space, g.view()); }, g.space());
}

independent_set_result independent_set(graph::any_graph const& g, independent_set_options const& o) {
  return std::visit([&](auto const& space) { return independent_set(space, g.view(), o); }, g.space());
}

colouring_result colouring(graph::any_graph const& g, colouring_options const& o) {
  return std::visit([&](auto const& space) { return colouring(space, g.view(), o); }, g.space());
}

std::unique_ptr<maintained_core_numbers> maintain_core_numbers(graph::any_graph const& g,
                                                               incremental_core_numbers_options const& o) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_core_numbers> {
        return std::make_unique<incremental_core_numbers<Space>>(space, g.view(), o);
      },
      g.space());
}

}  // namespace wyrm::algorithms
