// SPDX-License-Identifier: Apache-2.0
// Replays of the corpus of the fuzzer, and of random sequences. WYRM_TEST_SEQUENCES is the number of random sequences.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "../support/seed.hpp"

namespace wyrm::tests {

/// Expects that `run`, which returns a description of the first failure, finds none in any file of the corpus.
template <class Run>
void replay_the_corpus(Run const& run) {
  std::size_t files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(std::string(WYRM_TEST_DATA) + "/sequences")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<char> const text{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::uint8_t> const bytes(text.begin(), text.end());
    EXPECT_EQ(run(bytes), "") << entry.path();
    ++files;
  }
  EXPECT_GT(files, 20u);
}

inline std::string hex(std::vector<std::uint8_t> const& bytes) {
  std::string text;
  for (std::uint8_t const b : bytes) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

/// The same for random sequences: WYRM_TEST_SEQUENCES, or n. A sequence that fails is printed as hexadecimal digits;
/// `xxd -r -p` makes of them a file for the corpus.
template <class Run>
void run_random_sequences(std::size_t n, Run const& run) {
  char const* const text = std::getenv("WYRM_TEST_SEQUENCES");
  std::size_t const count = text != nullptr ? std::strtoull(text, nullptr, 0) : n;
  std::mt19937_64 random(seeded(1));
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::uint8_t> bytes(random() % 600);
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
    ASSERT_EQ(run(bytes), "") << "sequence " << i << ": " << hex(bytes);
  }
}

}  // namespace wyrm::tests
