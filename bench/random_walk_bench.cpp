// SPDX-License-Identifier: Apache-2.0
// Pools of random searches: one page for each thread, of a pool of which so much is free when the kernel begins
// ("Dynamic Buffer Management in Massively Parallel Systems", ACM TOPC 2025, section 5.2.1, Fig. 11), and freeing them
// (Fig. 16), with the steps that were taken (TAS, WAS) and those that the theory expects. `bump` is an atomic addition
// a warp: what any way of handing out pages costs at least. A run that hands out a page twice, or too few, is an error.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../alloc/random_walk/page_pool.hpp"
#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

template <class Ref>
struct get_pages {
  Ref ref;
  std::uint64_t seed;
  std::uint32_t* pages;
  std::uint32_t* steps;  // or nullptr
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    alloc::walk w(seed, i);
    std::uint64_t const page = ref.get(t, w, valid);
    if (!valid) return;
    pages[i] = static_cast<std::uint32_t>(page);
    if (steps != nullptr) steps[i] = static_cast<std::uint32_t>(w.steps);
  }
};
template <class Ref>
struct put_pages {
  Ref ref;
  std::uint32_t const* pages;
  WYRM_HD void operator()(std::size_t i) const { ref.put(pages[i]); }
};
struct bump_pages {
  std::uint64_t* next;
  std::uint32_t* pages;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint64_t first = 0;
    if (t.rank() == 0) first = exec::atomic_ref<std::uint64_t>(*next).fetch_add(Tile::size(), exec::relaxed);
    first = t.shfl(first, 0) + t.rank();
    if (valid) pages[i] = static_cast<std::uint32_t>(first);
  }
};

constexpr std::size_t pages_of_pool = std::size_t{1} << 27;  // 32 GiB of 256 bytes, so that 1 % is a page for 2^20
constexpr double shares[] = {0.5, 0.1, 0.01, 0.005};

enum class what { get, put };

/// A pool of which each page is free with the chance of share. Made once a share; who takes pages puts them back.
template <class Pool>
struct occupied {
  Pool pool;
  double share;
  std::uint64_t free;
  std::vector<bool> used;

  static occupied& get(typename Pool::space_type const& space, double share) {
    static std::unique_ptr<occupied> last;
    if (last == nullptr || last->share != share) {
      last.reset();
      last.reset(new occupied{Pool(space, pages_of_pool, 1e-4), share, 0, {}});
      last->free = last->pool.scatter(share, 1);
      last->used = last->pool.used();
    }
    return *last;
  }
};

template <class Pool>
void time_pool(benchmark::State& state, typename Pool::space_type const& space, what timed) {
  auto const threads = static_cast<std::size_t>(state.range(0));
  double const share = static_cast<double>(state.range(1)) / 1000;
  auto const& [pool, unused, free, used] = occupied<Pool>::get(space, share);
  if (free <= threads) return state.SkipWithError("fewer pages are free than wanted");
  using ref_type = typename Pool::ref_type;
  exec::buffer<std::uint32_t, typename Pool::space_type> pages(space, threads);
  exec::buffer<std::uint32_t, typename Pool::space_type> steps(space, threads);
  typename Pool::space_type::stopwatch watch(space);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    space.synchronize();
    if (timed == what::get) watch.start();
    exec::for_each_lane<32>(space, threads, get_pages<ref_type>{pool.ref(), ++seed, pages.data(), nullptr});
    if (timed == what::get) state.SetIterationTime(watch.stop());
    if (timed == what::put) watch.start();
    exec::for_each(space, threads, put_pages<ref_type>{pool.ref(), pages.data()});
    if (timed == what::put) state.SetIterationTime(watch.stop());
  }
  if (timed == what::put) return;
  exec::for_each_lane<32>(space, threads, get_pages<ref_type>{pool.ref(), ++seed, pages.data(), steps.data()});
  auto all = exec::copy_out(space, pages.data(), threads);
  exec::for_each(space, threads, put_pages<ref_type>{pool.ref(), pages.data()});
  auto const taken = exec::copy_out(space, steps.data(), threads);
  std::sort(all.begin(), all.end());
  bool good = std::adjacent_find(all.begin(), all.end()) == all.end();
  for (std::uint32_t const page : all) good = good && page < pages_of_pool && !used[page];
  if (!good) return state.SkipWithError("a page was handed out that was used, or none");
  double average = 0;
  double of_warp = 0;
  for (std::size_t i = 0; i < threads; ++i) average += taken[i];
  for (std::size_t i = 0; i < threads; i += 32)
    of_warp += *std::max_element(taken.data() + i, taken.data() + std::min(i + 32, threads));
  constexpr unsigned w = ref_type::used_type::bits;
  alloc::theory::search const s{pages_of_pool, static_cast<double>(free), static_cast<double>(threads)};
  bool const together = ref_type::how == alloc::page_search::together;
  state.counters["tas"] = average / static_cast<double>(threads);
  state.counters["was"] = of_warp / static_cast<double>((threads + 31) / 32);
  state.counters["tas_theory"] = together ? alloc::theory::together(s, w) : alloc::theory::average(s, w);
  state.counters["was_bound"] = together ? alloc::theory::together(s, w) : alloc::theory::bound_of_warp(s, w);
}

template <class Space>
void time_bump(benchmark::State& state, Space const& space) {
  auto const threads = static_cast<std::size_t>(state.range(0));
  exec::buffer<std::uint32_t, Space> pages(space, threads);
  exec::buffer<std::uint64_t, Space> next(space, 1);
  typename Space::stopwatch watch(space);
  for (auto _ : state) {
    exec::write(space, next.data(), std::uint64_t{0});
    space.synchronize();
    watch.start();
    exec::for_each_lane<32>(space, threads, bump_pages{next.data(), pages.data()});
    state.SetIterationTime(watch.stop());
  }
}

template <class Pool>
void add(typename Pool::space_type const& space, std::string const& name) {
  for (what const timed : {what::get, what::put}) {
    std::string const full = std::string(timed == what::get ? "get/" : "put/") + Pool::space_type::name + "/" + name;
    auto* const b = benchmark::RegisterBenchmark(
        full.c_str(), [space, timed](benchmark::State& s) { time_pool<Pool>(s, space, timed); });
    b->UseManualTime()->Unit(benchmark::kMicrosecond)->ArgNames({"threads", "free_per_mille"});
    for (double const share : shares)
      for (std::int64_t threads = 256; threads <= 1 << 20; threads *= 4)
        if (share * pages_of_pool > static_cast<double>(threads))
          b->Args({threads, static_cast<std::int64_t>(share * 1000 + 0.5)});
  }
}

template <class Space>
void add_all(Space const& space) {
  add<alloc::rw_pages<Space>>(space, "rw");
  add<alloc::rw_bm_pages<Space>>(space, "rw-bm");
  add<alloc::corw_pages<Space>>(space, "corw");
  add<alloc::corw_pages<Space, std::uint64_t, true>>(space, "corw-lock-map");
  add<alloc::crw_pages<Space>>(space, "crw");
  auto* const b = benchmark::RegisterBenchmark((std::string("get/") + Space::name + "/bump").c_str(),
                                               [space](benchmark::State& s) { time_bump(s, space); });
  b->UseManualTime()->Unit(benchmark::kMicrosecond)->ArgName("threads");
  for (std::int64_t threads = 256; threads <= 1 << 20; threads *= 4) b->Arg(threads);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([]<class Space>(Space const& space) { wyrm::bench::add_all(space); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
