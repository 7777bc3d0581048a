// SPDX-License-Identifier: Apache-2.0
// Patterns of access on kinds of memory and on arrangements of it (patterns/), on the host and on the GPU:
//
//   applications/SPACE/PATTERN/ARRAYS/MEMORY/MiB:N    the eight applications of Fig. 16 of AlignMalloc (TPDS 2025)
//   own_memory/SPACE/step|random/ARRAYS/MEMORY/accesses:A/bytes:N   1 K threads read A words of N bytes each (Fig. 12,
//                                                     13: 100 words; with at most 8, most blocks are never touched)
//   translation/SPACE/ARRAYS/accesses:A/bytes:N       128 threads read A words of N bytes each, at random, in memory of
//                                                     the device (Fig. 13 (d))
//
// WYRM_PATTERN_MIB lists the sizes of applications in MiB, 1 MiB or more each, instead of 1024,4096,20480 (on a CPU:
// 64).
//
//   ARRAYS       plain: in one piece; interleaved: in a block per warp; rows-ALLOCATOR: in a block per thread
//   MEMORY       device               memory of the device (on the CPU: host memory)
//                async                the same, from cudaMallocAsync
//                managed              managed memory, all pages of which are on the host when the time begins
//                managed-prefetch     the same; the time begins with the prefetch of all pages to the device
//                managed-preferred    the same as managed, with the advice that the device is the preferred location
//                managed-mapped       the same as managed, with the advice that the device accesses the pages
//
// Where memory is in the device from the beginning, the difference between plain, rows and interleaved is the cost of
// address translation, and of the arrangement for the caches.
//
// Each run begins with new initial values; writing them, and moving pages to the host, is not timed. Before the runs,
// 4 MiB in the same kind of memory are compared with a serial program, and one run of the whole size with the result in
// plain memory of the device. A wrong result is an error and has no time. A case is skipped if it needs more than 90 %
// of what the device has free.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "defaults.hpp"
#include "patterns/arrays.hpp"
#include "patterns/reference.hpp"

namespace wyrm::bench {

namespace {

enum class source { device, async, managed, managed_prefetch, managed_preferred, managed_mapped };
constexpr std::pair<source, char const*> sources[] = {{source::device, "device"},
                                                      {source::async, "async"},
                                                      {source::managed, "managed"},
                                                      {source::managed_prefetch, "managed-prefetch"},
                                                      {source::managed_preferred, "managed-preferred"},
                                                      {source::managed_mapped, "managed-mapped"}};
bool is_managed(source from) { return from != source::device && from != source::async; }
exec::memory_kind kind_of(source from) {
  return is_managed(from) ? exec::memory_kind::managed : exec::memory_kind::device;
}

/// Throws error(out_of_memory) if a case would take more than 90 % of what is free.
template <class Space>
void require_free([[maybe_unused]] Space const& space, std::uint64_t bytes) {
  std::size_t free = space.memory_limit();
#if WYRM_WITH_CUDA
  if constexpr (is_gpu<Space>) {
    typename Space::guard const current(space);
    std::size_t total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess)
      throw error(error_code::device, "cannot read how much memory " + space.description() + " has free");
  }
#endif
  if (bytes / 9 > free / 10)
    throw error(error_code::out_of_memory, "needs " + std::to_string(bytes >> 20) +
                                               " MiB, which is more than 90 % of " + std::to_string(free >> 20) +
                                               " MiB that are free; use a smaller size");
}

/// Memory for arrays.
using memory = std::unique_ptr<std::byte, std::function<void(std::byte*)>>;
template <class Space>
memory allocate(Space const& space, source from, std::size_t bytes) {
#if WYRM_WITH_CUDA
  if constexpr (is_gpu<Space>)
    if (from == source::async) {
      typename Space::guard const current(space);
      void* p = nullptr;
      if (cudaMallocAsync(&p, bytes, space.stream()) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        throw error(error_code::out_of_memory,
                    "cudaMallocAsync failed to allocate " + std::to_string(bytes >> 20) + " MiB; use a smaller size");
      }
      return memory(static_cast<std::byte*>(p), [space](std::byte* allocated) {
        exec::under_device_guard<exec::detail::cuda_device>(space.device(), [&] {
          static_cast<void>(cudaFreeAsync(allocated, space.stream()));
          static_cast<void>(cudaStreamSynchronize(space.stream()));  // the pool returns the memory to the device
        });
      });
    }
#endif
  auto const kept = std::make_shared<exec::buffer<std::byte, Space>>(space, bytes, kind_of(from));
  return memory(kept->data(), [kept](std::byte*) {});
}

/// Calls f(arrays) with arrays that have memory for p.
template <class Arrays, class Space, class Pattern, class F>
void with_arrays(Space const& space, source from, Pattern const& p, F const& f) {
  std::size_t const bytes = bytes_for<Arrays>(p);
  require_free(space, bytes);
  if constexpr (requires { typename Arrays::allocator_type; }) {
    Arrays arrays(space, {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false, .memory = kind_of(from)});
    f(arrays);
  } else {
    memory const range = allocate(space, from, bytes);
    Arrays arrays(space, {range.get(), bytes});
    f(arrays);
  }
}

/// A run from its initial values on. Returns seconds.
template <class Workload, class Space>
double run_once(Workload const& work, Space const& space, std::span<std::byte> range, source from) {
  if (is_managed(from)) space.prefetch(range.data(), range.size(), exec::memory_location::device);
  work.fill();
  if (is_managed(from)) space.prefetch(range.data(), range.size(), exec::memory_location::host);
  space.synchronize();
  typename Space::stopwatch watch(space);
  watch.start();
  if (from == source::managed_prefetch) space.prefetch(range.data(), range.size(), exec::memory_location::device);
  work.run();
  return watch.stop();
}

template <class Space>
void advise(Space const& space, source from, std::span<std::byte> range) {
  auto const give = [&](exec::memory_advice advice) {
    space.advise(range.data(), range.size(), advice, exec::memory_location::device);
  };
  if (from == source::managed_preferred) give(exec::memory_advice::preferred_location);
  if (from == source::managed_mapped) give(exec::memory_advice::accessed_by);
}

using results = std::vector<std::uint64_t>;

/// The seconds of `runs` runs, after one whose result must be `correct`.
template <class Arrays, class Space, class Pattern>
std::vector<double> time_runs(Space const& space, source from, Pattern const& p, results const& correct, int runs) {
  std::vector<double> seconds;
  with_arrays<Arrays>(space, from, p, [&](Arrays& arrays) {
    workload<Pattern, Arrays> const work(p, arrays);
    advise(space, from, arrays.memory());
    run_once(work, space, arrays.memory(), from);
    if (work.result() != correct)
      throw error(error_code::corrupt, "wrong result with " + std::to_string(p.size.bytes() >> 10) + " KiB");
    for (int i = 0; i < runs; ++i) seconds.push_back(run_once(work, space, arrays.memory(), from));
  });
  return seconds;
}

/// The result that a large case must have, computed once for each size.
template <class Pattern, class Space>
results const& result_in_plain_memory(Space const& space, Pattern const& p) {
  static std::map<std::uint64_t, results> known;
  auto const [at, is_new] = known.try_emplace(p.size.bytes());
  if (is_new)
    with_arrays<plain_arrays<Space>>(space, source::device, p, [&](plain_arrays<Space>& arrays) {
      workload<Pattern, plain_arrays<Space>> const work(p, arrays);
      run_once(work, space, arrays.memory(), source::device);
      at->second = work.result();
    });
  return at->second;
}

/// Reports the times of a case. f(runs) returns them.
template <class F>
void report(benchmark::State& state, F const& f) {
  try {
    std::vector<double> const seconds = f(static_cast<int>(state.max_iterations));
    auto next = seconds.begin();
    for (auto _ : state) state.SetIterationTime(*next++);
  } catch (error const& failed) {
    state.SkipWithError(failed.what());
  }
}

template <class Pattern, class Arrays, class Space>
void time_application(benchmark::State& state, Space const& space, source from) {
  extent const small{64, (64 << 10) / sizeof(word)};
  report(state, [&](int runs) {
    auto const bytes = static_cast<std::uint64_t>(state.range(0)) << 20;
    Pattern const p{extent::of_bytes(std::min(paper_threads, bytes >> 16), bytes)};
    static results const correct = expected(Pattern{small});
    time_runs<Arrays>(space, from, Pattern{small}, correct, 0);
    state.SetBytesProcessed(static_cast<std::int64_t>(p.size.bytes()) * runs);
    state.SetLabel(Pattern::access);
    return time_runs<Arrays>(space, from, p, result_in_plain_memory(space, p), runs);
  });
}

template <class Arrays, class Space>
void time_own_memory(benchmark::State& state, Space const& space, source from, std::uint64_t threads, bool in_step) {
  report(state, [&](int runs) {
    auto const words = static_cast<std::uint64_t>(state.range(1)) / sizeof(word);
    own_memory const p{{threads, words}, static_cast<std::uint32_t>(state.range(0)), in_step};
    state.SetItemsProcessed(static_cast<std::int64_t>(p.size.threads * p.accesses) * runs);
    return time_runs<Arrays>(space, from, p, expected(p), runs);
  });
}

/// The sizes that WYRM_PATTERN_MIB lists, or else `usual`. Throws error(bad_argument).
std::vector<std::int64_t> sizes_or(char const* usual) {
  char const* const named = std::getenv("WYRM_PATTERN_MIB");
  std::istringstream text(named != nullptr ? named : usual);
  std::vector<std::int64_t> sizes;
  for (std::string one; std::getline(text, one, ',');) {
    std::int64_t size = 0;
    auto const [end, failure] = std::from_chars(one.data(), one.data() + one.size(), size);
    if (failure != std::errc() || end != one.data() + one.size() || size < 1 || size > 1 << 20)
      throw error(error_code::bad_argument,
                  "WYRM_PATTERN_MIB: '" + one + "' is no size in MiB; it needs numbers from 1 to 1048576 and commas");
    sizes.push_back(size);
  }
  return sizes;
}

template <class Arrays, class Space>
void add_arrays(Space const& space, std::string const& arrays, source from, char const* memory) {
  std::string const name = arrays + "/" + memory;
  for_each_application([&]<class Pattern>() {
    for (std::int64_t const mib : sizes_or(is_gpu<Space> ? "1024,4096,20480" : "64"))
      benchmark::RegisterBenchmark(
          (std::string("applications/") + Space::name + "/" + Pattern::name + "/" + name).c_str(),
          [=](benchmark::State& state) { time_application<Pattern, Arrays>(state, space, from); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(mib < 16384 ? 3 : 1)  // a run with page faults takes seconds
          ->ArgName("MiB")
          ->Arg(mib);
  });
  for (bool const in_step : {true, false})
    benchmark::RegisterBenchmark(
        (std::string("own_memory/") + Space::name + (in_step ? "/step/" : "/random/") + name).c_str(),
        [=](benchmark::State& state) { time_own_memory<Arrays>(state, space, from, 1024, in_step); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(10)
        ->ArgNames({"accesses", "bytes"})
        ->ArgsProduct({{2, 8, 100}, benchmark::CreateRange(512, is_gpu<Space> ? 2 << 20 : 64 << 10, 4)});
  if (from != source::device) return;
  benchmark::RegisterBenchmark(
      (std::string("translation/") + Space::name + "/" + arrays).c_str(),
      [=](benchmark::State& state) { time_own_memory<Arrays>(state, space, from, 128, false); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(5)
      ->ArgNames({"accesses", "bytes"})
      ->ArgsProduct({{100, 150, 200}, benchmark::CreateRange(64 << 10, is_gpu<Space> ? 16 << 20 : 64 << 10, 4)});
}

template <class Space>
void add_space(Space const& space) {
  for (auto const& [from, name] : sources) {
    if (!is_gpu<Space> && from != source::device) continue;
    add_arrays<plain_arrays<Space>>(space, "plain", from, name);
    if (from == source::async) continue;
    add_arrays<interleaved_arrays<Space>>(space, "interleaved", from, name);
    [&]<class... A>(alloc::list<A...>) {
      (add_arrays<rows_arrays<A>>(space, std::string("rows-") + A::name, from, name), ...);
    }(alloc::list<alloc::align_malloc<Space>, alloc::ouroboros_va_p<Space>, alloc::corw<Space>,
                  alloc::scatteralloc<Space>, alloc::list_size<Space>>{});
  }
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  try {
    wyrm::bench::for_each_space([](auto const& space) { wyrm::bench::add_space(space); });
  } catch (wyrm::error const& e) {
    std::fprintf(stderr, "patterns_bench: %s\n", e.what());
    return 2;
  }
  return wyrm::bench::run_registered(argc, argv);
}
