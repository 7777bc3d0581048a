// SPDX-License-Identifier: Apache-2.0
#include "updates.hpp"

#include <algorithm>

#include "random.hpp"

namespace wyrm::datasets {

std::vector<graph::edge> update_batch(update_kind kind, std::size_t vertices, std::size_t count, std::uint64_t seed) {
  if (vertices < 2 || vertices > graph::max_vertices)
    throw error(error_code::bad_argument, "random updates need between 2 and 2^32 - 1 vertices");
  auto const n = static_cast<std::uint32_t>(vertices);
  random_numbers random(seed);
  std::uint32_t const range = kind == update_kind::pressure ? std::min<std::uint32_t>(n, 1000) : n;
  std::uint32_t const first = random.below(n - range + 1);
  std::vector<graph::edge> batch(count);
  for (graph::edge& e : batch) {
    e.source = first + random.below(range);
    e.target = random.below(n - 1);
    if (e.target >= e.source) ++e.target;  // uniform over all vertices but the source
  }
  return batch;
}

}  // namespace wyrm::datasets
