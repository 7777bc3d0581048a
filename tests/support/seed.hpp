// SPDX-License-Identifier: Apache-2.0
// The seeds of random tests. They are fixed, so that a run can be repeated; WYRM_TEST_SEED in the environment changes
// all of them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace wyrm::tests {

/// n, or, where WYRM_TEST_SEED is set and not 0, a mix of n and that number, which is printed once.
[[nodiscard]] inline std::uint64_t seeded(std::uint64_t n) {
  static std::uint64_t const seed = [] {
    char const* const text = std::getenv("WYRM_TEST_SEED");
    std::uint64_t const number = text != nullptr ? std::strtoull(text, nullptr, 0) : 0;
    if (number != 0) std::printf("WYRM_TEST_SEED=%llu\n", static_cast<unsigned long long>(number));
    return number;
  }();
  if (seed == 0) return n;
  std::seed_seq mix{n, n >> 32, seed, seed >> 32};
  std::uint32_t words[2];
  mix.generate(words, words + 2);
  return std::uint64_t{words[1]} << 32 | words[0];
}

}  // namespace wyrm::tests
