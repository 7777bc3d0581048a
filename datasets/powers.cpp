// SPDX-License-Identifier: Apache-2.0
#include "powers.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "../graph/query/exponential.hpp"
#include "random.hpp"

namespace wyrm::datasets {
namespace {

__extension__ using wide = unsigned __int128;

constexpr unsigned log_bits = 57;  // of negative_log2, behind the point

// The largest r with r * r <= x, bit by bit.
constexpr std::uint64_t root(wide x) {
  std::uint64_t r = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1)
    if (wide{r | bit} * (r | bit) <= x) r |= bit;
  return r;
}

// 2^63 * 2^-(1/2), 2^63 * 2^-(1/4), ...: each is the square root of the one before.
constexpr auto roots_of_half = [] {
  std::array<std::uint64_t, log_bits> roots{};
  std::uint64_t last = std::uint64_t{1} << 62;
  for (std::uint64_t& r : roots) {
    last = root(wide{last} << 63);
    r = last;
  }
  return roots;
}();

// log2(n) * 2^57.
std::uint64_t log2_of(std::uint64_t n) {
  auto const zeros = static_cast<unsigned>(std::countl_zero(n));
  return (std::uint64_t{64 - zeros} << log_bits) - graph::detail::negative_log2(n << zeros);
}

}  // namespace

double natural_log(std::uint64_t n) { return static_cast<double>(log2_of(n)) * 0x1p-57 * 0.69314718055994530942; }

std::uint64_t negative_power(std::uint64_t k, double exponent, std::uint64_t least) {
  if (k <= least) return std::uint64_t{1} << 63;
  wide const e = wide{log2_of(k) - log2_of(least)} * static_cast<std::uint64_t>(exponent * 0x1p32) >> 32;
  auto const whole = static_cast<std::uint64_t>(e >> log_bits);
  if (whole > 63) return 0;
  std::uint64_t power = std::uint64_t{1} << 63;
  for (unsigned bit = 0; bit < log_bits; ++bit)
    if ((e >> (log_bits - 1 - bit) & 1) != 0)
      power = static_cast<std::uint64_t>(wide{power} * roots_of_half[bit] >> 63);
  return power >> whole;
}

power_law::power_law(std::uint32_t least, std::uint32_t most, double exponent) : least_(least) {
  sums_.resize(std::size_t{most} - least + 1);
  // Weights are relative to that of `least`, which is 2^31, so that their sums have 64 bits.
  std::uint64_t sum = 0;
  wide weighted = 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    std::uint64_t const weight = negative_power(least + i, exponent, least) >> 32;
    sum += weight;
    weighted += wide{weight} * (least + i);
    sums_[i] = sum;
  }
  mean_ = static_cast<double>(weighted) / static_cast<double>(sum);
}

std::uint32_t power_law::operator()(std::uint64_t bits) const {
  auto const found = std::upper_bound(sums_.begin(), sums_.end(), scaled(bits, sums_.back()));
  return least_ + static_cast<std::uint32_t>(found - sums_.begin());
}

}  // namespace wyrm::datasets
