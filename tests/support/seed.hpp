// SPDX-License-Identifier: Apache-2.0
// The seeds of random tests. They are fixed, so that a run can be repeated; WYRM_TEST_SEED in the environment changes
// all of them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

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
  // The finaliser of MurmurHash3: distinct (n, seed) give unrelated numbers.
  std::uint64_t x = n + seed * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

}  // namespace wyrm::tests
