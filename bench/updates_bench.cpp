// SPDX-License-Identifier: Apache-2.0
// Batches of random edges into, and out of, a uniform random graph of 2^18 vertices and 16 edges a vertex: transfer,
// sort and update, for every registered allocator on every space.
#include <string>

#include "../alloc/registry.hpp"
#include "../datasets/updates.hpp"
#include "../graph/any_graph.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

void run(benchmark::State& state, exec::any_space const& space, std::string const& allocator, bool time_erase) {
  std::size_t const n = std::size_t{1} << 18;
  auto const size = static_cast<std::size_t>(state.range(0));
  graph::any_graph g(space, allocator, n);
  g.insert(datasets::update_batch(datasets::update_kind::random, n, 16 * n, 1));
  std::uint64_t seed = 2;
  for (auto _ : state) {
    auto const batch = datasets::update_batch(datasets::update_kind::random, n, size, seed++);
    auto const timed = [&](auto const& f) { return std::visit([&](auto const& s) { return seconds(s, f); }, space); };
    double const inserting = timed([&] { g.insert(batch); });
    double const erasing = timed([&] { g.erase(batch); });
    state.SetIterationTime(time_erase ? erasing : inserting);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  using namespace wyrm;
  bench::for_each_space([](auto const& space) {
    for (std::string const& allocator : alloc::names())
      for (bool const time_erase : {false, true}) {
        std::string const name = std::string(time_erase ? "erase/" : "insert/") + space.name + "/" + allocator;
        benchmark::RegisterBenchmark(name.c_str(),
                                     [space, allocator, time_erase](benchmark::State& s) {
                                       bench::run(s, exec::any_space(space), allocator, time_erase);
                                     })
            ->ArgsProduct({bench::batch_sizes})
            ->ArgName("edges")
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
  });
  return bench::run_registered(argc, argv);
}
