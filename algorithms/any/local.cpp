// SPDX-License-Identifier: Apache-2.0
// The algorithms on neighbourhoods for any_graph.
#include <memory>
#include <variant>

#include "../clustering_coefficients.hpp"
#include "../incremental_label_propagation.hpp"
#include "../label_propagation.hpp"
#include "../similar_pairs.hpp"
#include "../similarity.hpp"
#include "../truss.hpp"

namespace wyrm::algorithms {

std::vector<graph::vertex_id> label_propagation(graph::any_graph const& g, label_propagation_options const& o,
                                                std::span<graph::vertex_id const> initial) {
  return std::visit([&](auto const& space) { return label_propagation(space, g.view(), o, initial); }, g.space());
}

std::unique_ptr<maintained_label_propagation> maintain_label_propagation(
    graph::any_graph const& g, incremental_label_propagation_options const& o) {
  return std::visit(
      [&]<class Space>(Space const& space) -> std::unique_ptr<maintained_label_propagation> {
        return std::make_unique<incremental_label_propagation<Space>>(space, g.view(), o);
      },
      g.space());
}

clustering_coefficients_result clustering_coefficients(graph::any_graph const& g) {
  return std::visit([&](auto const& space) { return clustering_coefficients(space, g.view()); }, g.space());
}

std::vector<double> similarity(graph::any_graph const& g, std::span<graph::edge const> pairs,
                               similarity_measure measure) {
  return std::visit([&](auto const& space) { return similarity(space, g.view(), pairs, measure); }, g.space());
}

similar_pairs_result similar_pairs(graph::any_graph const& g, similar_pairs_options const& o) {
  return std::visit([&](auto const& space) { return similar_pairs(space, g.view(), o); }, g.space());
}

trussness_result trussness(graph::any_graph const& g) {
  return std::visit([&](auto const& space) { return trussness(space, g.view()); }, g.space());
}

std::vector<graph::edge> k_truss(graph::any_graph const& g, std::uint32_t k) {
  return std::visit([&](auto const& space) { return k_truss(space, g.view(), k); }, g.space());
}

}  // namespace wyrm::algorithms
