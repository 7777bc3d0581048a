// SPDX-License-Identifier: Apache-2.0
// Common definitions of all benchmarks: sizes, registration, and timing of a repetition.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../alloc/registry.hpp"
#include "../exec/device.hpp"

namespace wyrm::bench {

/// Whether a space is a GPU: its cases are larger than those of a CPU.
template <class Space>
inline constexpr bool is_gpu = !std::is_same_v<Space, exec::host_space>;

inline std::vector<std::int64_t> const page_sizes{16, 64, 256, 1024, 4096, 8192};
inline std::vector<std::int64_t> const odd_sizes{24, 72, 200, 600, 1500, 3000, 5000, 6000};
inline std::vector<std::int64_t> const block_sizes{16, 64, 256, 1024, 4096, 8192, 0};  // 0: mixed
inline std::vector<std::int64_t> const thread_counts{1, 1'000, 10'000, 100'000, 1'000'000};
inline std::vector<std::int64_t> const pool_sizes{64, 1024, 16 * 1024};  // MiB

/// A pseudorandom number that is a function of x.
WYRM_HD inline std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
  return x ^ (x >> 29);
}
inline constexpr std::size_t smallest_block = 16;
inline constexpr std::size_t largest_block = 8192;
/// The size of block i in a case with `bytes`; 0: a size that is drawn for each block.
WYRM_HD inline std::size_t bytes_of_block(std::size_t bytes, std::size_t i) {
  return bytes != 0 ? bytes : smallest_block + scramble(i) % (largest_block - smallest_block + 1);
}

/// Registers a case that measures its time itself, and returns it.
template <class F>
benchmark::internal::Benchmark* add(std::string const& name, F const& f) {
  return benchmark::RegisterBenchmark(name.c_str(), f)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

/// Runs the registered benchmarks that the command line selects. Returns the exit status.
inline int run_registered(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

/// Wall-clock time of f() and the device work that it enqueues, in seconds.
template <class Space, class F>
double seconds(Space const& space, F const& f) {
  space.synchronize();
  auto const start = std::chrono::steady_clock::now();
  f();
  space.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// 0 if there are no values.
inline double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

/// Calls f(space) for the CPU, and for the first GPU if there is one.
template <class F>
void for_each_space(F const& f) {
  f(exec::host_space());
#if WYRM_WITH_CUDA
  if (exec::cuda_space::device_count() > 0) f(exec::cuda_space(0));
#endif
}

/// Calls f<A>(space) for every allocator on each of these spaces.
template <class F>
void for_each_allocator(F const& f) {
  for_each_space([&]<class Space>(Space const& space) {
    [&]<class... A>(alloc::list<A...>) { (f.template operator()<A>(space), ...); }(alloc::all<Space>{});
  });
}

}  // namespace wyrm::bench
