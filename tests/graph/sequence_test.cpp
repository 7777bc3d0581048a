// SPDX-License-Identifier: Apache-2.0
// Replays the corpus of the fuzzer, and random sequences, with every compiler.
#include "sequence.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "../support/spaces.hpp"

namespace wyrm::tests {

TEST(sequence, the_corpus) {
  std::size_t files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(std::string(WYRM_TEST_DATA) + "/sequences")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<char> const text{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::uint8_t> const bytes(text.begin(), text.end());
    EXPECT_EQ(run_sequence(bytes), "") << entry.path();
    ++files;
  }
  EXPECT_GT(files, 20u);
}

TEST(sequence, random_ones) {
  std::mt19937 random(1);
  for (std::size_t i = 0; i < scaled(60, 5); ++i) {
    std::vector<std::uint8_t> bytes(random() % 600);
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
    ASSERT_EQ(run_sequence(bytes), "") << "sequence " << i;
  }
}

}  // namespace wyrm::tests
