// SPDX-License-Identifier: Apache-2.0
#include "algorithm_results.hpp"

#include <algorithm>
#include <cmath>

#include "../algorithms/bfs.hpp"

namespace wyrm::apps {

algorithm_result result_of_distances(std::vector<std::uint32_t> distance, std::size_t reached) {
  std::uint64_t greatest = 0;
  for (std::uint32_t const d : distance)
    if (d != algorithms::bfs_result::unreached) greatest = std::max<std::uint64_t>(greatest, d);
  algorithm_result result;
  result.figures = {{"reached", std::uint64_t{reached}, "{} reached"}, {"depth", greatest, "greatest distance {}"}};
  result.values = one_column(std::move(distance), value_column::kind::distance);
  return result;
}

algorithm_result result_of_distances(std::vector<double> distance, std::size_t reached) {
  double greatest = 0;
  for (double const d : distance)
    if (std::isfinite(d)) greatest = std::max(greatest, d);
  algorithm_result result;
  result.figures = {{"reached", std::uint64_t{reached}, "{} reached"}, {"depth", greatest, "greatest distance {}"}};
  result.values = one_column(std::move(distance));
  return result;
}

algorithm_result result_of_labels(std::vector<graph::vertex_id> label, std::set<graph::vertex_id> const& absent) {
  std::vector<std::uint64_t> sizes(label.size());
  for (graph::vertex_id const of : label) ++sizes[of];
  for (graph::vertex_id const v : absent) --sizes[label[v]];
  std::uint64_t const count = sizes.size() - static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), 0u));
  std::uint64_t const largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  algorithm_result result;
  result.figures = {{"count", count, "{}"}, {"largest", largest, "{} vertices in the largest"}};
  result.values = one_column(std::move(label), value_column::kind::vertex);
  return result;
}

algorithm_result result_of_components(algorithms::components_result r) {
  algorithm_result result;
  result.figures = {{"count", std::uint64_t{r.count}, "{}"},
                    {"largest", std::uint64_t{r.largest}, "{} vertices in the largest"}};
  result.values = one_column(std::move(r.label), value_column::kind::vertex);
  return result;
}

algorithm_result result_of_clustering(algorithms::clustering_result r, std::set<graph::vertex_id> const& absent) {
  for (graph::vertex_id const v : absent)
    if (--r.sizes[r.label[v]] == 0) --r.count;
  algorithm_result result;
  result.figures = {{"count", std::uint64_t{r.count}, "{}"},
                    {"modularity", r.modularity, "modularity {}"},
                    {"iterations", std::uint64_t{r.iterations}, "{} rounds of voting"},
                    {"converged", r.converged, " (not converged)"}};
  result.values = one_column(std::move(r.label));
  return result;
}

algorithm_result result_of_core_numbers(algorithms::core_numbers_result r, std::size_t top) {
  algorithm_result result;
  result.figures = {{"degeneracy", std::uint64_t{r.degeneracy}, "greatest {}"}};
  result.top = rank_largest("greatest core numbers", "core", r.core, top);
  result.values = one_column(std::move(r.core));
  return result;
}

}  // namespace wyrm::apps
