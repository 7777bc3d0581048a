// SPDX-License-Identifier: Apache-2.0
// The sizes of the case studies in relational_bench: those of the figures of "Dynamic Buffer Management in Massively
// Parallel Systems" (ACM TOPC 2025, section 6), or those of the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "own_options.hpp"

namespace wyrm::bench {

/// Options of the command line.
struct relational_settings {
  static constexpr std::size_t most = std::size_t{1} << 27;  // their pairs are 1 GiB; 5 % of the pool of a GPU, 1.2 GiB

  std::vector<std::int64_t> tuples;  // of each table of the join, 1 to `most`; none: those of Fig. 17
  std::vector<std::int64_t> keys;    // of the group-by, 1 to `most`; none: those of Fig. 18

  /// The settings of a command line, whose options of this program are removed. Throws error(bad_argument).
  [[nodiscard]] static relational_settings take(int& argc, char** argv) {
    relational_settings s;
    take_options(argc, argv, {"--tuples", "--keys"}, [&](std::string_view option, std::string_view value) {
      std::vector<std::size_t> const sizes = numbers_of(option, value, 1, most);
      (option == "--tuples" ? s.tuples : s.keys).assign(sizes.begin(), sizes.end());
    });
    return s;
  }
  /// Fig. 17: 16 K to 64 M tuples. A CPU gets the smallest of these sizes.
  [[nodiscard]] std::vector<std::int64_t> join_sizes(bool gpu) const {
    if (!tuples.empty()) return tuples;
    if (!gpu) return {1 << 14, 1 << 16, 1 << 18};
    return {1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 25, 1 << 26};
  }
  /// Fig. 18: up to 10 million keys.
  [[nodiscard]] std::vector<std::int64_t> group_sizes(bool gpu) const {
    if (!keys.empty()) return keys;
    if (!gpu) return {1 << 14, 1 << 16, 1 << 18};
    return {1 << 14, 1 << 16, 1 << 18, 1 << 20, 2'500'000, 5'000'000, 10'000'000};
  }
};

}  // namespace wyrm::bench
