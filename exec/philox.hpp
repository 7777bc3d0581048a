// SPDX-License-Identifier: Apache-2.0
// Stateless random numbers: Philox 4x32 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC
// 2011). They are a function of a counter and a key, and equal on all machines. 7 rounds are the fewest that pass all
// tests of the paper (Table 2).
#pragma once

#include <cstdint>

#include "config.hpp"

namespace wyrm::exec {

struct four_words {
  std::uint32_t x[4];
};

/// Philox 4x32 of a counter of four words and a key of two words.
template <unsigned rounds = 7>
[[nodiscard]] WYRM_HD constexpr four_words philox(four_words counter, std::uint32_t key_0, std::uint32_t key_1) {
  for (unsigned round = 0; round < rounds; ++round) {
    std::uint64_t const a = std::uint64_t{0xD2511F53} * counter.x[0];
    std::uint64_t const b = std::uint64_t{0xCD9E8D57} * counter.x[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.x[1] ^ key_0, static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.x[3] ^ key_1, static_cast<std::uint32_t>(a)}};
    key_0 += 0x9E3779B9;
    key_1 += 0xBB67AE85;
  }
  return counter;
}

}  // namespace wyrm::exec
