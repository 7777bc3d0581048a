// SPDX-License-Identifier: Apache-2.0
#include "maintained_algorithms.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "../algorithms/components.hpp"
#include "../algorithms/incremental_bfs.hpp"
#include "../algorithms/incremental_clustering.hpp"
#include "../algorithms/incremental_core_numbers.hpp"
#include "../algorithms/incremental_label_propagation.hpp"
#include "../algorithms/incremental_pagerank.hpp"
#include "../algorithms/incremental_sssp.hpp"
#include "../algorithms/incremental_triangles.hpp"
#include "../exec/error.hpp"
#include "algorithm_results.hpp"

namespace wyrm::apps {

namespace {

// `describe` takes the result, which does not move, and its state.
template <class Result, class F>
maintained_algorithm describe_by(std::unique_ptr<Result> result, F const& describe, bool is_unique = true) {
  Result const& r = *result;
  return {std::move(result), [&r, describe](maintained_state const& s) { return describe(r, s); }, is_unique};
}

}  // namespace

maintained_algorithm maintain_pagerank(algorithm_input const& in) {
  return {algorithms::maintain_pagerank(in.g, {.tolerance = in.tolerance, .weighted = in.weighted})};
}

maintained_algorithm maintain_triangles(algorithm_input const& in) { return {algorithms::maintain_triangles(in.g)}; }

maintained_algorithm maintain_clustering(algorithm_input const& in) {
  if (in.weighted)
    throw error(error_code::bad_argument,
                "the algorithm clustering cannot be maintained by weights; leave it out, or --weighted and --decay");
  return describe_by(
      algorithms::maintain_clustering(in.g),
      [](auto const& r, maintained_state const& s) { return result_of_clustering(r.result(), s.absent); },
      false);  // clusters depend on the sequence of changes
}

maintained_algorithm maintain_components(algorithm_input const& in) {
  return describe_by(algorithms::maintain_components(in.g), [](auto const& r, maintained_state const&) {
    return result_of_components({r.label(), r.count(), r.largest()});
  });
}

maintained_algorithm maintain_core_numbers(algorithm_input const& in) {
  return describe_by(algorithms::maintain_core_numbers(in.g), [](auto const& r, maintained_state const& s) {
    return result_of_core_numbers(r.result(), s.top);
  });
}

maintained_algorithm maintain_bfs(algorithm_input const& in) {
  return describe_by(
      algorithms::maintain_bfs(in.g, {.source = in.source.value()}),
      [](auto const& r, maintained_state const&) { return result_of_distances(r.distance(), r.reached()); });
}

maintained_algorithm maintain_sssp(algorithm_input const& in) {
  bool const weighted = in.weighted;
  return describe_by(algorithms::maintain_sssp(in.g, {.source = in.source.value(), .weighted = weighted}),
                     [weighted](auto const& r, maintained_state const& s) {
                       std::vector<double> distance = r.distance();
                       if (weighted)
                         for (double& d : distance)
                           if (std::isfinite(d)) d *= s.unit;
                       return result_of_distances(std::move(distance), r.reached());
                     });
}

maintained_algorithm maintain_label_propagation(algorithm_input const& in) {
  return describe_by(
      algorithms::maintain_label_propagation(in.g),
      [](auto const& r, maintained_state const& s) { return result_of_labels(r.label(), s.absent); },
      false);  // labels depend on the sequence of changes
}

}  // namespace wyrm::apps
