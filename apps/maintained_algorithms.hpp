// SPDX-License-Identifier: Apache-2.0
// The entries of the table of algorithms that `wyrm stream` maintains (see algorithm::maintain).
#pragma once

#include "algorithms.hpp"

namespace wyrm::apps {

[[nodiscard]] maintained_algorithm maintain_pagerank(algorithm_input const& in);
[[nodiscard]] maintained_algorithm maintain_triangles(algorithm_input const& in);
/// Throws error(bad_argument) if the graph is weighted.
[[nodiscard]] maintained_algorithm maintain_clustering(algorithm_input const& in);
[[nodiscard]] maintained_algorithm maintain_components(algorithm_input const& in);
[[nodiscard]] maintained_algorithm maintain_core_numbers(algorithm_input const& in);
/// From in.source, which must exist.
[[nodiscard]] maintained_algorithm maintain_bfs(algorithm_input const& in);
[[nodiscard]] maintained_algorithm maintain_sssp(algorithm_input const& in);
/// Does not use weights.
[[nodiscard]] maintained_algorithm maintain_label_propagation(algorithm_input const& in);

}  // namespace wyrm::apps
