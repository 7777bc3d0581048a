// SPDX-License-Identifier: Apache-2.0
#include "degrees.hpp"

#include <algorithm>
#include <bit>

namespace wyrm::apps {

degree_summary summarize_degrees(graph::csr const& g) {
  degree_summary s;
  std::size_t const n = g.offsets.size() - 1;
  if (n == 0) return s;
  std::vector<std::uint64_t> degrees(n);
  for (std::size_t v = 0; v < n; ++v) degrees[v] = g.offsets[v + 1] - g.offsets[v];
  std::sort(degrees.begin(), degrees.end());
  s.min = degrees.front();
  s.median = degrees[n / 2];
  s.mean = static_cast<double>(g.targets.size()) / static_cast<double>(n);
  s.p99 = degrees[n - 1 - n / 100];
  s.max = degrees.back();
  s.zero = static_cast<std::uint64_t>(std::count(degrees.begin(), degrees.end(), std::uint64_t{0}));
  s.histogram.resize(static_cast<std::size_t>(std::bit_width(s.max)) + 1);
  for (std::uint64_t const d : degrees) ++s.histogram[static_cast<std::size_t>(std::bit_width(d))];
  return s;
}

}  // namespace wyrm::apps
