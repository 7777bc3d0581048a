// SPDX-License-Identifier: Apache-2.0
// The access test of the AlignMalloc paper (access.hpp) for each registered allocator, on the host and on the GPU:
//
//   allocate/SPACE/ALLOCATOR/whole|linked/scale:S   allocation of the lists, from a pool after a reset (for a family
//                                                   without reset: after the lists of the previous run were freed)
//   walk/SPACE/ALLOCATOR/whole|linked/scale:S       1,000 walks of 50 steps on the lists; several seeds alternate, so a
//                                                   run does not leave all data of the next run in the caches
//   cluster/SPACE/ALLOCATOR/managed|device/scale:S  both, with whole lists in this kind of memory, whose pages are on
//                                                   the host when the walks begin (Fig. 15); counters: allocate_us,
//                                                   walk_us. Three walks on new lists each
//
// After each allocation all edges are written and verified, untimed, and the results of walks are compared with
// expected ones. A run with overlapping or incomplete lists, or with wrong results, is an error and has no time.
#include <cstdint>
#include <string>
#include <vector>

#include "access.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

constexpr std::uint32_t seeds = 16;  // alternating walks: 50 MB

// The same size for all cases, because the first use of device malloc fixes the size of its heap.
std::size_t pool_bytes() { return 4 * access_case::of_scale(16, false).bytes(); }

template <class Space, class F>
double timed(Space const& space, typename Space::stopwatch& watch, F const& f) {
  space.synchronize();
  watch.start();
  f();
  return watch.stop();
}

template <class Allocator>
void time_allocation(benchmark::State& state, typename Allocator::space_type const& space, access_case const& c) {
  access_lists<Allocator> lists(space, c, pool_bytes());
  typename Allocator::space_type::stopwatch watch(space);
  lists.allocate();  // once, untimed
  lists.free();
  for (auto _ : state) {
    if (Allocator::family.resets) lists.pool().reset();
    state.SetIterationTime(timed(space, watch, [&] { lists.allocate(); }));
    lists.write();
    lists.verify();
    lists.free();
  }
  if (lists.damaged() > 0) state.SkipWithError("requests were refused, or lists overlap");
  state.SetItemsProcessed(state.iterations() * c.lists * (c.linked ? c.edges : 1));
  state.counters["bytes"] = static_cast<double>(c.bytes());
}

template <class Allocator>
void time_walks(benchmark::State& state, typename Allocator::space_type const& space, access_case const& c) {
  access_lists<Allocator> lists(space, c, pool_bytes());
  typename Allocator::space_type::stopwatch watch(space);
  lists.allocate();
  lists.write();
  lists.verify();
  if (lists.damaged() > 0) return state.SkipWithError("requests were refused, or lists overlap");
  std::vector<expected_walks> expected;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) expected.push_back(expect_walks(c, seed));
  lists.walk(seeds);  // once, untimed
  double accesses = 0;
  std::uint32_t seed = 0;
  for (auto _ : state) {
    state.SetIterationTime(timed(space, watch, [&] { lists.walk(seed); }));
    if (lists.sums() != expected[seed].sums) return state.SkipWithError("a walk has a wrong result");
    accesses += static_cast<double>(expected[seed].accesses);
    seed = (seed + 1) % seeds;
  }
  state.counters["accesses_per_s"] = benchmark::Counter(accesses, benchmark::Counter::kIsRate);
  state.counters["bytes"] = static_cast<double>(c.bytes());
}

template <class Allocator>
void time_clustering(benchmark::State& state, typename Allocator::space_type const& space, exec::memory_kind kind) {
  auto const c = access_case::of_scale(static_cast<std::uint32_t>(state.range(0)), false);
  try {
    access_lists<Allocator> lists(space, c, pool_bytes(), kind);
    typename Allocator::space_type::stopwatch watch(space);
    std::vector<double> allocating;
    std::vector<double> walking;
    for (auto _ : state) {
      auto const seed = static_cast<std::uint32_t>(walking.size());
      allocating.push_back(timed(space, watch, [&] { lists.allocate(); }));
      lists.write();
      lists.verify();
      if (lists.damaged() > 0) return state.SkipWithError("requests were refused, or lists overlap");
      if (kind == exec::memory_kind::managed) lists.to_host();
      walking.push_back(timed(space, watch, [&] { lists.walk(seed); }));
      if (lists.sums() != expect_walks(c, seed).sums) return state.SkipWithError("a walk has a wrong result");
      state.SetIterationTime(allocating.back() + walking.back());
      lists.free();
    }
    state.counters["allocate_us"] = median(allocating) * 1e6;
    state.counters["walk_us"] = median(walking) * 1e6;
    state.counters["bytes"] = static_cast<double>(c.bytes());
  } catch (error const& refused) {
    state.SkipWithError(refused.what());
  }
}

template <class Allocator, class Space>
void add_all(Space const& space) {
  for (exec::memory_kind const kind : {exec::memory_kind::device, exec::memory_kind::managed})
    if (Allocator::family.resets && Allocator::family.reclaims)
      add(std::string("cluster/") + Space::name + "/" + Allocator::name + "/" + exec::to_string(kind),
          [=](benchmark::State& state) { time_clustering<Allocator>(state, space, kind); })
          ->Iterations(3)
          ->ArgName("scale")
          ->ArgsProduct({{1, 2, 4, 8, 16}});
  for (bool const linked : {false, true}) {
    auto const add_case = [&](char const* subject, auto const& f) {
      std::string const name =
          std::string(subject) + "/" + Space::name + "/" + Allocator::name + (linked ? "/linked" : "/whole");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](benchmark::State& state) {
                                     f(state, space,
                                       access_case::of_scale(static_cast<std::uint32_t>(state.range(0)), linked));
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond)
          ->Iterations(linked ? 4 : 32)  // untimed work takes longer than timed work; linked lists are slow
          ->ArgName("scale")
          ->ArgsProduct({{1, 2, 4, 8, 16}});
    };
    add_case("allocate", time_allocation<Allocator>);
    add_case("walk", time_walks<Allocator>);
  }
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_allocator([&]<class A>(auto const& space) { wyrm::bench::add_all<A>(space); });
  return wyrm::bench::run_registered(argc, argv);
}
