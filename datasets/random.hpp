// SPDX-License-Identifier: Apache-2.0
// Random numbers that are equal on all machines (those of the distributions in the C++ library are not): splitmix64
// (Steele, Lea, Flood, OOPSLA 2014), reduced to a range by Lemire's multiplication (ACM TOMACS 29(1), 2019).
#pragma once

#include <cstdint>

namespace wyrm::datasets {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number in [0, n), n > 0. The relative deviation from a uniform distribution is less than n / 2^32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * std::uint64_t{n}) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace wyrm::datasets
