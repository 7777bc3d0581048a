// SPDX-License-Identifier: Apache-2.0
// The similarity of pairs of vertices, by their sets of neighbours: Jaccard's index (Jaccard, Bull. Soc. Vaudoise Sci.
// Nat. 37, 1901), the overlap coefficient, and the cosine (Salton and McGill 1983). The common neighbours of a pair are
// counted by a query (graph/query/filter.hpp), which distributes the entries of the shorter rows evenly.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../exec/device_array.hpp"
#include "../exec/launch.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/queries.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"

namespace wyrm::algorithms {

/// c common neighbours of two vertices with a and b neighbours: c / (a + b - c), c / min(a, b), or c / sqrt(a b); 0 if
/// the divisor is 0.
enum class similarity_measure : std::uint8_t { jaccard, overlap, cosine };

namespace detail {

/// The similarity of two vertices with a and b neighbours, c of them in common.
[[nodiscard]] WYRM_HD inline double similarity_of(similarity_measure measure, double a, double b, double c) {
  double divisor = a < b ? a : b;
  if (measure == similarity_measure::jaccard) divisor = a + b - c;
  if (measure == similarity_measure::cosine) divisor = std::sqrt(a * b);
  return divisor > 0 ? c / divisor : 0;
}

struct score_pairs {
  graph::graph_view g;
  graph::edge const* pairs;
  std::uint32_t const* common;
  similarity_measure measure;
  double* scores;
  WYRM_HD void operator()(std::size_t i) const {
    scores[i] = similarity_of(measure, g.degree(pairs[i].source), g.degree(pairs[i].target), common[i]);
  }
};

}  // namespace detail

/// The similarity of each pair, in memory of the space. Of a directed graph, the out-neighbours count; pass
/// g.reversed() for the in-neighbours. A vertex with a self-loop is its own neighbour. A vertex without neighbours has
/// the similarity 0 with all. O(smaller degree * log larger degree) per pair. Scratch: 16 bytes per pair. Throws
/// error(bad_argument) for an id out of range, with the first such pair; and error(out_of_memory).
template <class Space>
exec::device_array<double, Space> similarity(Space const& space, graph::graph_view const& g,
                                             graph::resident_edges pairs,
                                             similarity_measure measure = similarity_measure::jaccard) {
  exec::device_array<double, Space> scores(space, pairs.size);
  exec::device_array<std::uint32_t, Space> common(space, pairs.size);
  graph::query_scratch<Space> scratch(space);
  graph::detail::count_passing(scratch, "similarity", graph::detail::intersections{g, pairs.data}, pairs.data,
                               pairs.size, common.data());
  exec::for_each(space, pairs.size, detail::score_pairs{g, pairs.data, common.data(), measure, scores.data()});
  return scores;
}

/// The same for pairs in host memory.
template <class Space>
std::vector<double> similarity(Space const& space, graph::graph_view const& g, std::span<graph::edge const> pairs,
                               similarity_measure measure = similarity_measure::jaccard) {
  auto const entries = graph::detail::upload(space, pairs);
  return similarity(space, g, graph::resident_edges(entries.data(), pairs.size()), measure).to_host();
}

std::vector<double> similarity(graph::any_graph const& g, std::span<graph::edge const> pairs,
                               similarity_measure measure = similarity_measure::jaccard);

}  // namespace wyrm::algorithms
