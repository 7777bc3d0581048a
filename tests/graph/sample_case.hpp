// SPDX-License-Identifier: Apache-2.0
// What the suites of samples have in common.
#pragma once

#include <cmath>
#include <vector>

#include "query_case.hpp"

namespace wyrm::tests {

template <class Space>
class sample_fixture : public query_fixture<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;

  /// A star: vertex 0 has the neighbours 1 ... degree.
  [[nodiscard]] static query_case wheel(graph::vertex_id degree) {
    std::vector<graph::edge> edges;
    for (graph::vertex_id v = 1; v <= degree; ++v) edges.push_back({0, v});
    return {"star", degree + std::size_t{1}, true, edges};
  }
  /// Checks a chi-squared statistic: both bounds are passed by chance in fewer than one of 10,000 tests (approximation
  /// of Wilson and Hilferty).
  static void expect_chi_squared(double statistic, double freedom) {
    double const variance = 2 / (9 * freedom);
    auto const quantile = [&](double z) { return freedom * std::pow(1 - variance + z * std::sqrt(variance), 3); };
    EXPECT_LT(statistic, quantile(3.9)) << "with " << freedom << " degrees of freedom";
    EXPECT_GT(statistic, quantile(-3.9)) << "with " << freedom << " degrees of freedom";
  }
  [[nodiscard]] static std::size_t sized(std::size_t n) { return query_fixture<Space>::is_slow ? n / 10 : n; }
};

}  // namespace wyrm::tests
