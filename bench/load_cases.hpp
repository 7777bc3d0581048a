// SPDX-License-Identifier: Apache-2.0
// The cases of load_bench: the figures of ScatterAlloc (InPar 2012, section 7), or those that the command line
// describes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "own_options.hpp"

namespace wyrm::bench {

/// What each thread does in a kernel: it frees one of its blocks with probability p_free, if it has some, and else
/// allocates one with probability p_alloc.
struct load_case {
  std::uint64_t p_alloc;  // percent
  std::uint64_t p_free;
  std::size_t smallest;  // bytes
  std::size_t largest;
};

/// A case of the benchmark.
struct load_run {
  std::string subject;
  std::string arguments;
  load_case what;
  std::size_t threads;
  std::size_t pool_bytes;
  int kernels;  // the last 5 are timed
};
inline constexpr int timed_kernels = 5;

/// Options of the command line. Each is a list; the program runs all combinations of their values.
struct load_settings {
  static constexpr std::size_t most_threads = std::size_t{1} << 22;
  static constexpr std::size_t least_bytes = 4;  // one word
  static constexpr std::size_t most_bytes = 8192;
  static constexpr std::size_t most_kernels = 10'000;
  static constexpr std::size_t most_pool = std::size_t{64} << 10;

  std::vector<std::size_t> p_alloc{75};                               // percent, 1 to 100
  std::vector<std::size_t> p_free{75};                                // percent, 0 to 100
  std::vector<std::pair<std::size_t, std::size_t>> sizes{{16, 128}};  // smallest and largest; bytes, 4 to 8192
  std::vector<std::size_t> threads{4096};                             // 1 to 4194304
  std::vector<std::size_t> kernels{15};                               // 5 to 10000
  std::size_t pool = 0;  // MiB, 1 to 65536; 0: four blocks of the largest size per thread, and at least 16 MiB

  /// The settings of a command line, whose options of this program are removed; none if there are no such options.
  /// Throws error(bad_argument).
  [[nodiscard]] static std::optional<load_settings> take(int& argc, char** argv) {
    load_settings s;
    bool any = false;
    take_options(argc, argv, {"--p-alloc", "--p-free", "--sizes", "--threads", "--kernels", "--pool"},
                 [&](std::string_view option, std::string_view value) {
                   any = true;
                   if (option == "--p-alloc") s.p_alloc = numbers_of(option, value, 1, 100);
                   if (option == "--p-free") s.p_free = numbers_of(option, value, 0, 100);
                   if (option == "--sizes")
                     s.sizes = list_of(
                         value, [&](std::string_view part) { return range_of(option, part, least_bytes, most_bytes); });
                   if (option == "--threads") s.threads = numbers_of(option, value, 1, most_threads);
                   if (option == "--kernels") s.kernels = numbers_of(option, value, timed_kernels, most_kernels);
                   if (option == "--pool") s.pool = number_of(option, value, 1, most_pool);
                 });
    return any ? std::optional(s) : std::nullopt;
  }
};

inline constexpr std::size_t smallest_load_pool = std::size_t{16} << 20;

/// The cases `chosen` of these settings.
[[nodiscard]] inline std::vector<load_run> cases_of(load_settings const& s) {
  std::vector<load_run> all;
  for (std::size_t const p_alloc : s.p_alloc)
    for (std::size_t const p_free : s.p_free)
      for (auto const& [smallest, largest] : s.sizes)
        for (std::size_t const kernels : s.kernels)
          for (std::size_t const threads : s.threads)
            all.push_back({"chosen",
                           "p_alloc:" + std::to_string(p_alloc) + "/p_free:" + std::to_string(p_free) +
                               "/mean:" + std::to_string((smallest + largest) / 2) +
                               "/spread:" + std::to_string(largest - smallest) + "/kernels:" + std::to_string(kernels) +
                               "/threads:" + std::to_string(threads),
                           {p_alloc, p_free, smallest, largest},
                           threads,
                           s.pool != 0 ? s.pool << 20 : std::max(smallest_load_pool, 4 * threads * largest),
                           static_cast<int>(kernels)});
  return all;
}

/// Fig. 2, 3 and 4 of the paper, with at most so many threads in Fig. 3.
[[nodiscard]] inline std::vector<load_run> cases_of_paper(std::size_t most_threads) {
  std::vector<load_run> all;
  for (int kernels = 20; kernels <= 140; kernels += 10)
    all.push_back({"fill", "kernels:" + std::to_string(kernels), {5, 0, 128, 160}, 16384, smallest_load_pool, kernels});
  for (std::size_t const bytes : {16u, 32u, 64u, 128u})
    for (std::size_t threads = 256; threads <= most_threads; threads *= 4)
      all.push_back({"load",
                     "bytes:" + std::to_string(bytes) + "/threads:" + std::to_string(threads),
                     {75, 75, bytes, bytes},
                     threads,
                     std::max(smallest_load_pool, 4 * threads * bytes),
                     15});
  for (std::size_t const threads : {1024u, 4096u})
    for (std::size_t spread = 0; spread <= 896; spread += 128)
      all.push_back({"spread",
                     "threads:" + std::to_string(threads) + "/spread:" + std::to_string(spread),
                     {60, 60, 512 - spread / 2, 512 + spread / 2},
                     threads,
                     smallest_load_pool,
                     15});
  return all;
}

}  // namespace wyrm::bench
