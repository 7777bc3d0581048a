// SPDX-License-Identifier: Apache-2.0
// Summaries of the distribution of degrees, or of other counts, for tables and reports.
#pragma once

#include <cstdint>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::apps {

struct degree_summary {
  std::uint64_t min = 0;
  std::uint64_t median = 0;
  double mean = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
  std::uint64_t zero = 0;  // number of vertices of degree 0
  /// Numbers of vertices of degree 0, 1, 2-3, 4-7, ..., up to the largest degree.
  std::vector<std::uint64_t> histogram;
};

/// O(n log n). Without counts all fields are 0.
[[nodiscard]] degree_summary summarize_counts(std::vector<std::uint64_t> counts);
[[nodiscard]] degree_summary summarize_degrees(graph::csr const& g);

}  // namespace wyrm::apps
