// SPDX-License-Identifier: Apache-2.0
#include "degrees.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>

namespace wyrm::apps {

degree_summary summarize_counts(std::vector<std::uint64_t> counts) {
  degree_summary s;
  std::size_t const n = counts.size();
  if (n == 0) return s;
  std::sort(counts.begin(), counts.end());
  s.min = counts.front();
  s.median = counts[n / 2];
  s.mean =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})) / static_cast<double>(n);
  s.p99 = counts[n - 1 - n / 100];
  s.max = counts.back();
  s.zero = static_cast<std::uint64_t>(std::count(counts.begin(), counts.end(), std::uint64_t{0}));
  s.histogram.resize(static_cast<std::size_t>(std::bit_width(s.max)) + 1);
  for (std::uint64_t const d : counts) ++s.histogram[static_cast<std::size_t>(std::bit_width(d))];
  return s;
}

degree_summary summarize_degrees(graph::csr const& g) {
  std::vector<std::uint64_t> degrees(g.offsets.size() - 1);
  for (std::size_t v = 0; v < degrees.size(); ++v) degrees[v] = g.offsets[v + 1] - g.offsets[v];
  return summarize_counts(std::move(degrees));
}

}  // namespace wyrm::apps
