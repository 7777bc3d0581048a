// SPDX-License-Identifier: Apache-2.0
// Personalised PageRank and the centralities of power iterations for any_graph.
#include <span>
#include <variant>

#include "../personalised_pagerank.hpp"
#include "../power_iterations.hpp"

namespace wyrm::algorithms {

pagerank_result personalised_pagerank(graph::any_graph const& g, std::span<weighted_source const> sources,
                                      pagerank_options const& o) {
  return std::visit([&](auto const& space) { return personalised_pagerank(space, g.view(), sources, o); }, g.space());
}

personalised_result personalised_pageranks(graph::any_graph const& g, std::span<graph::vertex_id const> sources,
                                           personalised_options const& o) {
  return std::visit([&](auto const& space) { return personalised_pageranks(space, g.view(), sources, o); }, g.space());
}

hits_result hits(graph::any_graph const& g, power_options const& o) {
  return std::visit([&](auto const& space) { return hits(space, g.view(), o); }, g.space());
}

centrality_result katz(graph::any_graph const& g, katz_options const& o) {
  return std::visit([&](auto const& space) { return katz(space, g.view(), o); }, g.space());
}

centrality_result eigenvector_centrality(graph::any_graph const& g, power_options const& o) {
  return std::visit([&](auto const& space) { return eigenvector_centrality(space, g.view(), o); }, g.space());
}

}  // namespace wyrm::algorithms
