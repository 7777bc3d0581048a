// SPDX-License-Identifier: Apache-2.0
// Replacement policies of residency, played through synthetic traces (residency_traces.hpp) with 100 device blocks, and
// through recorded ones: `--trace FILE BLOCKS` plays a file with that many device blocks. It runs on the CPU; counts
// are the results, and nothing is timed. Prints a table for docs/residency.md: a row for each trace and policy.
// Random traces are drawn 32 times, and counts are averages.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

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

/// Prints sums over draws of a trace as averages.
void print(std::string const& name, std::string const& policy, alloc::residency::played const& p, std::size_t draws) {
  auto const n = [draws](std::uint64_t count) { return static_cast<unsigned long long>((count + draws / 2) / draws); };
  std::printf("| %s | %s | %.1f %% | %llu | %llu | %llu | %llu | %llu | %llu |\n", name.c_str(), policy.c_str(),
              p.uses == 0 ? 0.0 : 100 * static_cast<double>(p.hits) / static_cast<double>(p.uses), n(p.loads),
              n(p.evictions), n(p.written_back), n(p.moved()), n(p.signatures), n(p.in_place));
}

void play_all(std::string const& name, std::vector<trace> const& draws, std::size_t capacity) {
  auto const play = [&](std::string const& title, char const* policy, policy_options const& o) {
    alloc::residency::played sum;
    for (trace const& events : draws) sum += alloc::residency::play(events, *make_policy(policy, o), capacity);
    print(name, title, sum, draws.size());
  };
  for (char const* const policy : policy_names) play(policy, policy, {});
  policy_options without;
  without.for_lru_cost = {.uniformity = false, .overwrite_elimination = false, .double_transfer_avoidance = false};
  play("lru-cost without heuristics", "lru-cost", without);
}

/// 32 draws of a random trace.
template <class Draw>
std::vector<trace> drawn(Draw const& draw) {
  std::vector<trace> all;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) all.push_back(draw(seed));
  return all;
}

void play_synthetic() {
  print_title();
  constexpr std::size_t capacity = 100;
  play_all("two programs", {two_programs()}, capacity);
  play_all("loop", {loop()}, capacity);
  play_all("scan and hot set", {scan_and_hot_set(false)}, capacity);
  play_all("the same with hints", {scan_and_hot_set(true)}, capacity);
  play_all("read-mostly", drawn(read_mostly), capacity);
  play_all("attack", {attack()}, capacity);
  play_all("partitions", drawn(partitions), capacity);
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
  play_all(path, {events}, capacity);
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
