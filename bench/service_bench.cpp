// SPDX-License-Identifier: Apache-2.0
// What the thread of the host that serves align-malloc does for a request, without kernels and without the mailbox: it
// finds a space for a warp, and frees it.
//
//   service/GiB:G/n:N    512 warps whose 32 lanes request 2^n to 2^(n+1) bytes each, as in Fig. 10 of AlignMalloc (TPDS
//                        2025), from a pool of G GiB; then all spaces are freed in another order
//
// The time is that of a request and its free, the mean over all warps: 50 GiB hold those of the largest size. Whether
// the spaces are sound is checked once, untimed: an unsound one is an error, and has no time.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../alloc/align/align_ref.hpp"
#include "../alloc/align/portion_space.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

constexpr std::size_t warps = 512;
constexpr unsigned lanes = 32;

/// The pages of each warp's request: those of all lanes.
std::vector<std::uint32_t> requests(unsigned log2) {
  std::vector<std::uint32_t> pages(warps);
  std::mt19937_64 random(1);
  for (std::uint32_t& all : pages)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      std::size_t const bytes = (std::size_t{1} << log2) + random() % (std::size_t{1} << log2);
      all += static_cast<std::uint32_t>((bytes + alloc::align_page_bytes - 1) / alloc::align_page_bytes);
    }
  return pages;
}

void serve(benchmark::State& state) {
  auto const pool_pages =
      static_cast<std::uint32_t>((static_cast<std::size_t>(state.range(0)) << 30) / alloc::align_page_bytes);
  alloc::portion_space spaces(pool_pages, true);
  std::vector<std::uint32_t> const pages = requests(static_cast<unsigned>(state.range(1)));
  if (std::accumulate(pages.begin(), pages.end(), std::uint64_t{0}) > pool_pages)
    return state.SkipWithError("the pool is too small for these requests; use a larger one");
  std::vector<std::uint32_t> firsts(warps);
  std::vector<std::size_t> order(warps);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(2));
  auto const allocate = [&] {
    for (std::size_t w = 0; w < warps; ++w) firsts[w] = spaces.allocate(pages[w]);
  };
  allocate();
  try {
    spaces.check();
  } catch (error const& unsound) {
    return state.SkipWithError(unsound.what());
  }
  for (auto _ : state) {
    for (std::size_t const w : order)
      if (!spaces.free(firsts[w])) return state.SkipWithError("a space is lost");
    allocate();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(warps) * state.iterations());
  state.counters["ns"] = benchmark::Counter(
      static_cast<double>(warps) * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  std::vector<std::int64_t> exponents(13);
  std::iota(exponents.begin(), exponents.end(), 9);
  benchmark::RegisterBenchmark("service", wyrm::bench::serve)
      ->ArgNames({"GiB", "n"})
      ->ArgsProduct({{52}, exponents})
      ->Unit(benchmark::kMicrosecond);
  return wyrm::bench::run_registered(argc, argv);
}
