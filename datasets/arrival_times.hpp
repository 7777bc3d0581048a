// SPDX-License-Identifier: Apache-2.0
// Arrival times for the edges of any graph.
#pragma once

#include <cstdint>

#include "../graph/types.hpp"

namespace wyrm::datasets {

enum class arrival : std::uint8_t {
  uniform,  // each edge at a random time, uniform over the span
  poisson,  // edges in random order, with exponentially distributed gaps of mean span / edges; may end after the span
  growth,   // vertices arrive evenly over the span in the order of their ids, and edges with the later of their ends
};

/// Gives each edge a time, a whole number of seconds, and sorts edges by time. `span` is at least 1. O(edges log
/// edges), 24 bytes of scratch for each edge. Throws error(out_of_memory).
void add_arrival_times(graph::edge_list& list, arrival kind, std::uint64_t span, std::uint64_t seed);

}  // namespace wyrm::datasets
