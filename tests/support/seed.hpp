// SPDX-License-Identifier: Apache-2.0
// Seeds of random tests. WYRM_TEST_SEED, a number other than 0, makes each test draw other numbers, so that runs at
// different times test different things.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../../datasets/random.hpp"

namespace wyrm::tests {

/// n if WYRM_TEST_SEED is unset or 0; otherwise a mix of n and WYRM_TEST_SEED, which the first call prints.
[[nodiscard]] inline std::uint64_t seeded(std::uint64_t n) {
  static std::uint64_t const given = [] {
    char const* const text = std::getenv("WYRM_TEST_SEED");
    std::uint64_t const number = text != nullptr ? std::strtoull(text, nullptr, 0) : 0;
    if (number != 0) std::printf("WYRM_TEST_SEED=%" PRIu64 "\n", number);
    return number;
  }();
  return given == 0 ? n : datasets::random_numbers(datasets::random_numbers(given).next() ^ n).next();
}

}  // namespace wyrm::tests
