// SPDX-License-Identifier: Apache-2.0
// Independent trials with the same probability, in time proportional to the successes: the gaps between successes have
// a geometric distribution (Batagelj, Brandes: "Efficient generation of large random networks", Phys. Rev. E 71,
// 036113, 2005).
#pragma once

#include <cstdint>

#include "../exec/config.hpp"
#include "../graph/query/exponential.hpp"
#include "random.hpp"

namespace wyrm::datasets {

/// The smallest probability above 0, for which the fixed-point logarithm has a relative error below 2^-16.
inline constexpr double least_probability = 1e-12;

class bernoulli_skips {
 public:
  bernoulli_skips() = default;
  /// probability: 0, or least_probability to 1.
  explicit bernoulli_skips(double probability) {
    if (probability >= 1) {
      unit_ = ~std::uint64_t{0};
    } else if (probability > 0) {
      unit_ = graph::detail::negative_log2(std::uint64_t{0} - static_cast<std::uint64_t>(probability * 0x1p64));
      if (unit_ == 0) unit_ = 1;
    }
  }
  /// The number of failures before the next success, from 64 random bits; 2^64 - 1 for the probability 0.
  [[nodiscard]] WYRM_HD std::uint64_t operator()(std::uint64_t bits) const {
    return unit_ == 0 ? ~std::uint64_t{0} : graph::detail::negative_log2(bits) / unit_;
  }
  /// Calls success(i) for the successes among the trials `first` ... `last` - 1 of an item. `draw` counts the numbers
  /// that the item has used.
  template <class F>
  WYRM_HD void operator()(std::uint64_t first, std::uint64_t last, random_at const& random, std::uint64_t item,
                          std::uint32_t& draw, F&& success) const {
    if (unit_ == 0) return;
    for (std::uint64_t i = first; i < last; ++i) {
      std::uint64_t const skip = (*this)(random.bits(item, draw++));
      if (skip >= last - i) return;
      i += skip;
      success(i);
    }
  }

 private:
  std::uint64_t unit_ = 0;  // -log2(1 - probability), as negative_log2 scales it
};

}  // namespace wyrm::datasets
