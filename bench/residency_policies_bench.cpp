// SPDX-License-Identifier: Apache-2.0
// Replacement policies of residency, played through synthetic traces (residency_traces.hpp) with 100 device blocks, and
// through recorded ones: `--trace FILE BLOCKS` plays a file with that many device blocks. It runs on the CPU; counts
// are the results, and nothing is timed. Prints a table for docs/residency.md: a row for each trace and policy.
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../alloc/residency/play.hpp"
#include "../alloc/residency/policies.hpp"
#include "residency_traces.hpp"

namespace wyrm::bench {

namespace {

using alloc::residency::make_policy;
using alloc::residency::policy_names;
using alloc::residency::policy_options;
using alloc::residency::trace;

void print_title() {
  std::printf(
      "| trace | policy | hit rate | loads | evictions | written back | blocks moved | compared | in place |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
}

void print(std::string const& name, std::string const& policy, alloc::residency::played const& p) {
  auto const n = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
  std::printf("| %s | %s | %.1f %% | %llu | %llu | %llu | %llu | %llu | %llu |\n", name.c_str(), policy.c_str(),
              p.uses == 0 ? 0.0 : 100 * static_cast<double>(p.hits) / static_cast<double>(p.uses), n(p.loads),
              n(p.evictions), n(p.written_back), n(p.moved()), n(p.signatures), n(p.in_place));
}

void play_all(std::string const& name, trace const& events, std::size_t capacity) {
  for (char const* const policy : policy_names) {
    auto const p = make_policy(policy);
    print(name, policy, alloc::residency::play(events, *p, capacity));
  }
  policy_options without;
  without.for_lru_cost = {.uniformity = false, .overwrite_elimination = false, .double_transfer_avoidance = false};
  auto const p = make_policy("lru-cost", without);
  print(name, "lru-cost without heuristics", alloc::residency::play(events, *p, capacity));
}

void play_synthetic() {
  print_title();
  constexpr std::size_t capacity = 100;
  play_all("two programs", two_programs(), capacity);
  play_all("loop", loop(), capacity);
  play_all("scan and hot set", scan_and_hot_set(false), capacity);
  play_all("the same with hints", scan_and_hot_set(true), capacity);
  play_all("read-mostly", read_mostly(1), capacity);
  play_all("attack", attack(), capacity);
  play_all("partitions", partitions(1), capacity);
}

void play_file(char const* path, std::string_view blocks) {
  std::size_t capacity = 0;
  auto const [end, bad] = std::from_chars(blocks.data(), blocks.data() + blocks.size(), capacity);
  if (bad != std::errc{} || end != blocks.data() + blocks.size())
    throw error(error_code::bad_argument, "'" + std::string(blocks) + "' is not a number of device blocks");
  std::ifstream file(path);
  if (!file) throw error(error_code::io, std::string(path) + ": cannot be opened; give a recorded trace");
  auto const events = alloc::residency::read_trace(file);
  print_title();
  play_all(path, events, capacity);
}

int run(int argc, char** argv) {
  try {
    if (argc == 1) {
      play_synthetic();
    } else if (argc == 4 && std::strcmp(argv[1], "--trace") == 0) {
      play_file(argv[2], argv[3]);
    } else {
      std::fprintf(stderr, "usage: %s [--trace FILE BLOCKS]\n", argv[0]);
      return 2;
    }
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) { return wyrm::bench::run(argc, argv); }
