// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "../exec/host_space.hpp"
#include "../exec/memory_limit.hpp"

namespace wyrm::datasets {

void require_vertices(std::uint64_t vertices) {
  if (vertices > graph::max_vertices)
    throw error(error_code::bad_argument, "the graph would have " + std::to_string(vertices) +
                                              " vertices, and the maximum is " + std::to_string(graph::max_vertices) +
                                              ": choose smaller parameters");
}

void require_memory(char const* what, double bytes) {
  auto const available = static_cast<double>(std::min(exec::host_space().memory_limit(), exec::memory_available()));
  if (bytes <= available) return;
  auto const mib = [](double b) { return std::to_string(static_cast<std::uint64_t>(std::min(b, 1e18) * 0x1p-20)); };
  throw error(error_code::out_of_memory, std::string(what) + " would take " + mib(bytes) + " MiB of memory, and " +
                                             mib(available) +
                                             " MiB are available: choose smaller parameters, or a larger machine");
}

graph::edge* room_for(std::vector<graph::edge>& edges, std::uint64_t n) {
  require_memory("the edges", static_cast<double>(n) * sizeof(graph::edge));
  edges.resize(n);
  return edges.data();
}

}  // namespace wyrm::datasets
