// SPDX-License-Identifier: Apache-2.0
// Replays the corpus of the fuzzers of file formats with every compiler.
#include <gtest/gtest.h>

#include <filesystem>

#include "any_bytes.hpp"
#include "files.hpp"

namespace wyrm::tests {
namespace {

TEST(fuzz_corpus, is_loaded_or_refused) {
  auto const folder = std::filesystem::path(WYRM_TEST_DATA) / "fuzz";
  for (auto const format : fuzzed_formats) {
    std::size_t files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder / format)) {
      EXPECT_EQ(load_any_bytes(format, read_file(entry.path())), "") << entry.path();
      ++files;
    }
    EXPECT_GT(files, 4U) << format;
  }
}

}  // namespace
}  // namespace wyrm::tests
