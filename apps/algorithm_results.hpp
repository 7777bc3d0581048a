// SPDX-License-Identifier: Apache-2.0
// Parts of results that the entries of the table of algorithms have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "../algorithms/clustering.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/core_numbers.hpp"
#include "../graph/types.hpp"
#include "algorithms.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

/// Values of all vertices.
template <class T>
[[nodiscard]] value_table one_column(std::vector<T> values, value_column::kind is = value_column::kind::number) {
  value_table table;
  table.columns.push_back({std::move(values), is});
  return table;
}

/// The k largest values, as vertex_values.hpp orders them.
template <class T>
[[nodiscard]] ranking rank_largest(char const* title, char const* name, std::vector<T> const& values, std::size_t k) {
  using number = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
  ranking r{title, name, {}};
  for (auto const [v, value] : largest(values, k)) r.entries.push_back({v, number{value}});
  return r;
}

/// Distances from a source, in edges and in weights.
[[nodiscard]] algorithm_result result_of_distances(std::vector<std::uint32_t> distance, std::size_t reached);
[[nodiscard]] algorithm_result result_of_distances(std::vector<double> distance, std::size_t reached);

/// Labels that are vertices: how many there are, and how many vertices have the most frequent one. The labels of the
/// absent vertices do not count.
[[nodiscard]] algorithm_result result_of_labels(std::vector<graph::vertex_id> label,
                                                std::set<graph::vertex_id> const& absent = {});

[[nodiscard]] algorithm_result result_of_components(algorithms::components_result r);
/// The absent vertices do not count.
[[nodiscard]] algorithm_result result_of_clustering(algorithms::clustering_result r,
                                                    std::set<graph::vertex_id> const& absent = {});
[[nodiscard]] algorithm_result result_of_core_numbers(algorithms::core_numbers_result r, std::size_t top);

}  // namespace wyrm::apps
