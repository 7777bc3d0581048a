// SPDX-License-Identifier: Apache-2.0
// Queries on any_graph, with entries and results on the host, for programs and bindings. They are compiled once, in
// on_any_graph.cpp. The overload for a space and a view documents each query.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../any_graph.hpp"
#include "../maintained_result.hpp"
#include "../snapshot.hpp"
#include "../types.hpp"
#include "../update_report.hpp"
#include "sample.hpp"

namespace wyrm::graph {

[[nodiscard]] std::vector<std::uint8_t> contains(any_graph const& g, std::span<edge const> pairs);
[[nodiscard]] std::vector<std::uint32_t> degrees(any_graph const& g, std::span<vertex_id const> vertices);
[[nodiscard]] csr neighbours(any_graph const& g, std::span<vertex_id const> vertices);
[[nodiscard]] std::vector<vertex_id> neighbours_at(any_graph const& g, std::span<vertex_id const> vertices,
                                                   std::span<std::uint32_t const> ks);
[[nodiscard]] std::vector<std::uint32_t> common_neighbours_count(any_graph const& g, std::span<edge const> pairs);
[[nodiscard]] csr common_neighbours(any_graph const& g, std::span<edge const> pairs);
[[nodiscard]] std::vector<sampled_hop> sample_neighbours(any_graph const& g, std::span<vertex_id const> seeds,
                                                         sample_options const& o);

/// Erases all edges whose value is below a bound; see dynamic_graph::erase_if. Throws error(bad_argument) unless the
/// graph has values of type double.
update_report erase_below(any_graph& g, double bound);

/// See catch_up.hpp: `since` is a snapshot of g at the version of the result.
void catch_up(any_graph const& g, maintained_result& result, snapshot const& since);

}  // namespace wyrm::graph
