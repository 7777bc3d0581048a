// SPDX-License-Identifier: Apache-2.0
// Refuses graphs that are too large before work begins.
#pragma once

#include <cstdint>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::datasets {

/// Throws error(bad_argument) for more than graph::max_vertices vertices.
void require_vertices(std::uint64_t vertices);

/// Throws error(out_of_memory) when `bytes` exceed what the host can give. `what` names the graph in the message.
void require_memory(char const* what, double bytes);

/// Makes a vector of n edges. Throws error(out_of_memory) before the host is out of memory.
[[nodiscard]] graph::edge* room_for(std::vector<graph::edge>& edges, std::uint64_t n);

}  // namespace wyrm::datasets
