// SPDX-License-Identifier: Apache-2.0
// The entries of the table of algorithms that score vertices by their place in the graph. Each computes one result, and
// throws the errors of its algorithm.
#pragma once

#include "algorithms.hpp"

namespace wyrm::apps {

[[nodiscard]] algorithm_result run_pagerank(algorithm_input const& in);
[[nodiscard]] algorithm_result run_personalised_pagerank(algorithm_input const& in);
[[nodiscard]] algorithm_result run_hits(algorithm_input const& in);
[[nodiscard]] algorithm_result run_eigenvector(algorithm_input const& in);
[[nodiscard]] algorithm_result run_katz(algorithm_input const& in);
[[nodiscard]] algorithm_result run_betweenness(algorithm_input const& in);

}  // namespace wyrm::apps
