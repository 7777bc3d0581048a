// SPDX-License-Identifier: Apache-2.0
// Replays of the corpus of the fuzzer, and of random sequences. WYRM_TEST_SEQUENCES is the number of random sequences.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "../support/seed.hpp"

namespace wyrm::tests {

/// Prints what is running if the program crashes. Leaves signals alone that have a handler, which a sanitizer installs.
class crash_message {
 public:
  explicit crash_message(std::string const& running) {
    text_ = running.c_str();
    for (int const signal : {SIGABRT, SIGSEGV})
      if (auto const old = std::signal(signal, print); old != SIG_DFL) std::signal(signal, old);
  }
  ~crash_message() { text_ = nullptr; }
  crash_message(crash_message const&) = delete;
  crash_message& operator=(crash_message const&) = delete;

 private:
  static void print(int signal) {
    if (char const* const text = text_; text != nullptr) {
      [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, std::strlen(text));
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  static inline char const* volatile text_ = nullptr;
};

/// Expects that `run`, which returns a description of the first failure, finds none in any file of the corpus.
template <class Run>
void replay_the_corpus(Run const& run) {
  std::size_t files = 0;
  for (auto const& entry : std::filesystem::directory_iterator(std::string(WYRM_TEST_DATA) + "/sequences")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<char> const text{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::uint8_t> const bytes(text.begin(), text.end());
    std::string const name = entry.path().string() + "\n";
    crash_message const message(name);
    EXPECT_EQ(run(bytes), "") << name;
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
    std::string const name = "sequence " + std::to_string(i) + ": " + hex(bytes) + "\n";
    crash_message const message(name);
    ASSERT_EQ(run(bytes), "") << name;
  }
}

}  // namespace wyrm::tests
