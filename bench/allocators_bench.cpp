// SPDX-License-Identifier: Apache-2.0
// Allocation and freeing by many threads at once, one request each: the survey's basic experiment, for every registered
// allocator on every space. The first repetition is first touch, all others reuse; a repetition counts only when every
// thread got memory.
#include <string>

#include "../alloc/registry.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

template <class Ref>
struct allocate_one {
  Ref allocator;
  std::size_t bytes;
  void** pointers;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const p = allocator.allocate(t, valid ? bytes : 0);
    if (valid) pointers[i] = p;
  }
};

template <class Ref>
struct free_one {
  Ref allocator;
  void** pointers;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    allocator.deallocate(t, valid ? pointers[i] : nullptr);
  }
};

template <class Allocator>
void run(benchmark::State& state, typename Allocator::space_type const& space, bool time_free) {
  auto const threads = static_cast<std::size_t>(state.range(0));
  auto const bytes = static_cast<std::size_t>(state.range(1));
  Allocator pool(space, {.pool_bytes = threads * bytes * 2 + (std::size_t{64} << 20)});
  auto const ref = pool.ref();
  using ref_type = typename Allocator::ref_type;
  exec::buffer<void*, typename Allocator::space_type> pointers(space, threads);
  for (auto _ : state) {
    if (!Allocator::family.reclaims) pool.reset();
    double const allocating = seconds(space, [&] {
      exec::for_each_lane<32>(space, threads, allocate_one<ref_type>{ref, bytes, pointers.data()});
    });
    double const freeing = seconds(space, [&] {
      exec::for_each_lane<32>(space, threads, free_one<ref_type>{ref, pointers.data()});
    });
    state.SetIterationTime(time_free ? freeing : allocating);
  }
  if (pool.stats().failures > 0) state.SkipWithError("out of memory: not every thread was served");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Space, class... A>
void add(Space const& space, alloc::list<A...>) {
  auto const one = [&]<class Allocator> {
    for (bool const time_free : {false, true}) {
      std::string const name = std::string(time_free ? "free/" : "allocate/") + Space::name + "/" + Allocator::name;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [space, time_free](benchmark::State& s) { run<Allocator>(s, space, time_free); })
          ->ArgsProduct({thread_counts, page_sizes})
          ->ArgNames({"threads", "bytes"})
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  };
  (one.template operator()<A>(), ...);
}

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space(
      []<class Space>(Space const& space) { wyrm::bench::add(space, wyrm::alloc::all<Space>{}); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
