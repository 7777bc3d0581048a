// SPDX-License-Identifier: Apache-2.0
#include "arrival_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "limits.hpp"
#include "random.hpp"

namespace wyrm::datasets {

void add_arrival_times(graph::edge_list& list, arrival kind, std::uint64_t span, std::uint64_t seed) {
  std::size_t const m = list.edges.size();
  require_memory("the times", static_cast<double>(m) * 32);
  random_at const random(seed, 12);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order(m);  // time, or a random number; number of the edge
  for (std::size_t i = 0; i < m; ++i) {
    auto const [u, v] = list.edges[i];
    std::uint64_t place = 0;
    switch (kind) {
      case arrival::uniform: place = scaled(random.bits(i), span); break;
      case arrival::poisson: place = random.bits(i); break;
      case arrival::growth: {
        // last * span / n, rounded down, without overflow.
        std::uint64_t const last = std::max(u, v);
        place = span / list.vertices * last + span % list.vertices * last / list.vertices;
        break;
      }
    }
    order[i] = {place, i};
  }
  std::sort(order.begin(), order.end());
  std::vector<graph::edge> sorted(m);
  for (std::size_t i = 0; i < m; ++i) sorted[i] = list.edges[order[i].second];
  list.edges = std::move(sorted);
  list.times.resize(m);
  // negative_log2 has 57 bits behind the point; times ln 2 it is exponential with the mean 1.
  double const unit =
      0.69314718055994530942 * 0x1p-57 * static_cast<double>(span) / static_cast<double>(std::max<std::size_t>(m, 1));
  double now = 0;
  for (std::size_t i = 0; i < m; ++i) {
    if (kind == arrival::poisson) {
      now += static_cast<double>(graph::detail::negative_log2(random.bits(i, 1))) * unit;
      list.times[i] = std::floor(now);
    } else {
      list.times[i] = static_cast<double>(order[i].first);
    }
  }
}

}  // namespace wyrm::datasets
