// SPDX-License-Identifier: Apache-2.0
// Random numbers that are equal on all machines (those of the distributions in the C++ library are not): splitmix64
// (Steele, Lea, Flood, OOPSLA 2014), reduced to a range by Lemire's multiplication (ACM TOMACS 29(1), 2019). random_at
// has no state: Philox (exec/philox.hpp).
#pragma once

#include <cstdint>

#include "../exec/config.hpp"
#include "../exec/philox.hpp"
#include "../graph/query/exponential.hpp"

namespace wyrm::datasets {

/// 64 random bits, as a number in [0, n). The relative deviation from a uniform distribution is less than n / 2^64.
[[nodiscard]] WYRM_HD inline std::uint64_t scaled(std::uint64_t bits, std::uint64_t n) {
  return graph::detail::multiply_high(bits, n);
}

/// Random numbers that are functions of a seed, a stream, an item and the number of the draw, so that threads can
/// compute them in any order. Purposes that must be independent use different streams.
class random_at {
 public:
  WYRM_HD random_at(std::uint64_t seed, std::uint32_t stream) : seed_(seed), stream_(stream) {}
  /// 64 random bits.
  [[nodiscard]] WYRM_HD std::uint64_t bits(std::uint64_t item, std::uint32_t draw = 0) const {
    exec::four_words const words =
        exec::philox<10>({{static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(item >> 32), draw, stream_}},
                         static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
    return std::uint64_t{words.x[1]} << 32 | words.x[0];
  }

 private:
  std::uint64_t seed_;
  std::uint32_t stream_;
};

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  /// As many calls of next() without a result. O(1).
  void skip(std::uint64_t calls) { state_ += calls * step; }
  std::uint64_t next() {
    std::uint64_t z = (state_ += step);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number in [0, n), n > 0. The relative deviation from a uniform distribution is less than n / 2^32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * std::uint64_t{n}) >> 32); }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  std::uint64_t state_;
};

}  // namespace wyrm::datasets
