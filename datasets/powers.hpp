// SPDX-License-Identifier: Apache-2.0
// Powers in integer arithmetic, and numbers with the distribution of a power law. A generator that decides about an
// edge by a function of libm gives different graphs on machines whose libraries round differently; these functions are
// equal on all machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wyrm::datasets {

/// ln(n) for n >= 1.
[[nodiscard]] double natural_log(std::uint64_t n);

/// (k / least)^-exponent * 2^63, for 1 <= least <= k < 2^32 and an exponent in [0, 16]. The relative error is below
/// 2^-40 for results above 2^40.
[[nodiscard]] std::uint64_t negative_power(std::uint64_t k, double exponent, std::uint64_t least = 1);

/// The integers least ... most with probabilities proportional to k^-exponent. 1 <= least <= most < 2^32. The table has
/// 8 bytes for each number.
class power_law {
 public:
  power_law(std::uint32_t least, std::uint32_t most, double exponent);
  /// The number of 64 random bits. O(log(most - least)).
  [[nodiscard]] std::uint32_t operator()(std::uint64_t bits) const;
  [[nodiscard]] double mean() const { return mean_; }

 private:
  std::uint32_t least_;
  std::vector<std::uint64_t> sums_;  // of the weights of the numbers up to this one
  double mean_;
};

}  // namespace wyrm::datasets
