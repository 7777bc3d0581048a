// SPDX-License-Identifier: Apache-2.0
// Page pools with random searches ("Dynamic Buffer Management in Massively Parallel Systems", ACM TOPC 2025, section
// 5.2.1). A given fraction of the pages of a pool is free when the kernel begins. Measured are:
//   get        allocation of one page per thread (Fig. 11)
//   get_some   allocation of one page for some lanes of each warp (Fig. 12 and 13)
//   put        freeing these pages (Fig. 16)
//   found      the number of free pages that a warp finds in one step (Fig. 6)
// The counters are the average number of steps (per thread: tas, per warp: was) and their theoretical values. `get` is
// compared with `bump` (one atomic addition per warp, the minimum cost of any allocation), `queue` (one atomic addition
// and one ring entry per thread), and allocators, among them Ouroboros with pages that were freed before. A run that
// allocates a page twice, or too few pages, is an error.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../alloc/ouroboros/ouroboros.hpp"
#include "../alloc/random_walk/page_pool.hpp"
#include "../alloc/random_walk/random_walk.hpp"
#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

constexpr std::uint32_t no_page = 0xffffffff;  // the result of a page_pool without a free page, in 32 bits

template <class Ref>
struct get_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  std::uint64_t seed;
  std::uint32_t asking;  // number of lanes of each warp that request a page
  std::uint32_t* pages;
  std::uint32_t* steps;  // nullptr: not recorded
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    alloc::walk w(seed, i);
    std::uint64_t const page = ref.allocate(t, w, valid && i % 32 < asking);
    if (!valid) return;
    pages[i] = static_cast<std::uint32_t>(page);
    if (steps != nullptr) steps[i] = static_cast<std::uint32_t>(w.steps);
  }
};
template <class Ref>
struct return_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  std::uint32_t const* pages;
  WYRM_HD void operator()(std::size_t i) const {
    if (pages[i] != no_page) ref.free(pages[i]);
  }
};
/// A histogram of the number of free pages that a warp finds when each lane reads a random word.
template <class Used>
struct count_found {
  Used used;
  std::uint64_t* histogram;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool) const {
    alloc::walk w(1, i);
    auto const mine = static_cast<unsigned>(cuda::std::popcount(used.read(w.draw(used.words()))));
    unsigned const all = exec::sum(t, mine);
    if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(histogram[all]).fetch_add(1, exec::relaxed);
  }
};
struct queue_pages {
  alloc::queue_ends* ends;
  alloc::index_ring ring;
  std::uint32_t* pages;
  WYRM_HD void operator()(std::size_t i) const {
    if (ends->take_one()) pages[i] = static_cast<std::uint32_t>(ring.read(ends->claim_front(1)));
  }
};
struct refill_queue {
  alloc::queue_ends* ends;
  alloc::index_ring ring;
  std::uint32_t* pages;
  WYRM_HD void operator()(std::size_t i) const { ring.write(ends->claim_back(1), pages[i]); }
};
template <class Ref>
struct allocate_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  void** pages;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const p = ref.allocate(t, valid ? 256 : 0);
    if (valid) pages[i] = p;
  }
};
template <class Ref>
struct free_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  void* const* pages;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    ref.deallocate(t, valid ? pages[i] : nullptr);
  }
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

constexpr std::size_t pages_of_pool = std::size_t{1} << 27;  // 32 GiB in pages of 256 bytes; 1 % serve 2^20 threads
constexpr double fractions[] = {0.5, 0.1, 0.05, 0.01, 0.008, 0.005};

enum class operation { allocate, free };

/// A pool in which each page is free with probability fraction. Kept for consecutive cases; users must free what they
/// allocate.
template <class Pool>
struct occupied {
  Pool pool;
  double fraction;
  std::uint64_t free;
  std::vector<bool> used;

  static occupied& get(typename Pool::space_type const& space, double fraction) {
    static std::unique_ptr<occupied> last;
    if (last == nullptr || last->fraction != fraction) {
      last.reset();
      last.reset(new occupied{Pool(space, pages_of_pool, 1e-4), fraction, 0, {}});
      last->free = last->pool.scatter(fraction, 1);
      last->used = last->pool.used();
    }
    return *last;
  }
};

template <class Pool>
void time_pool(benchmark::State& state, typename Pool::space_type const& space, operation timed) {
  auto const threads = static_cast<std::size_t>(state.range(0));
  double const fraction = static_cast<double>(state.range(1)) / 1000;
  auto const asking = static_cast<std::uint32_t>(state.range(2));
  std::size_t const wanted = threads / 32 * asking;
  auto const& [pool, unused, free, used] = occupied<Pool>::get(space, fraction);
  if (free <= wanted) return state.SkipWithError("fewer pages are free than wanted");
  using ref_type = typename Pool::ref_type;
  exec::buffer<std::uint32_t, typename Pool::space_type> pages(space, threads);
  exec::buffer<std::uint32_t, typename Pool::space_type> steps(space, threads);
  typename Pool::space_type::stopwatch watch(space);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    space.synchronize();
    if (timed == operation::allocate) watch.start();
    exec::for_each_lane<32>(space, threads, get_pages<ref_type>{pool.ref(), ++seed, asking, pages.data(), nullptr});
    if (timed == operation::allocate) state.SetIterationTime(watch.stop());
    if (timed == operation::free) watch.start();
    exec::for_each(space, threads, return_pages<ref_type>{pool.ref(), pages.data()});
    if (timed == operation::free) state.SetIterationTime(watch.stop());
  }
  if (timed == operation::free) return;
  exec::for_each_lane<32>(space, threads, get_pages<ref_type>{pool.ref(), ++seed, asking, pages.data(), steps.data()});
  auto all = exec::copy_out(space, pages.data(), threads);
  exec::for_each(space, threads, return_pages<ref_type>{pool.ref(), pages.data()});
  auto const taken = exec::copy_out(space, steps.data(), threads);
  std::sort(all.begin(), all.end());
  all.resize(static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), no_page) - all.begin()));
  bool good = all.size() == wanted && std::adjacent_find(all.begin(), all.end()) == all.end();
  for (std::uint32_t const page : all) good = good && page < pages_of_pool && !used[page];
  if (!good) return state.SkipWithError("a used page was allocated, or too few pages");
  double average = 0;
  double of_warp = 0;
  for (std::size_t i = 0; i < threads; ++i) average += i % 32 < asking ? taken[i] : 0;
  for (std::size_t i = 0; i < threads; i += 32)
    of_warp += *std::max_element(taken.data() + i, taken.data() + std::min(i + 32, threads));
  constexpr unsigned w = ref_type::used_type::bits;
  alloc::theory::search const s{pages_of_pool, static_cast<double>(free), static_cast<double>(wanted)};
  bool const per_warp = ref_type::how == alloc::page_search::per_warp;
  state.counters["tas"] = average / static_cast<double>(wanted);
  state.counters["was"] = of_warp / static_cast<double>((threads + 31) / 32);
  if (asking < 32) return;  // the theory is of warps all of whose lanes ask
  state.counters["tas_theory"] = per_warp ? alloc::theory::cooperative_bound(s, w) : alloc::theory::average(s, w);
  state.counters["was_bound"] = per_warp ? alloc::theory::cooperative_bound(s, w) : alloc::theory::warp_bound(s, w);
}

template <class Pool>
void measure_found(benchmark::State& state, typename Pool::space_type const& space) {
  using used = typename Pool::ref_type::used_type;
  constexpr std::size_t threads = std::size_t{1} << 22;
  auto const& [pool, fraction, free, unused] = occupied<Pool>::get(space, static_cast<double>(state.range(0)) / 1000);
  exec::buffer<std::uint64_t, typename Pool::space_type> histogram(space, 32 * used::bits + 1);
  typename Pool::space_type::stopwatch watch(space);
  for (auto _ : state) {
    space.fill(histogram.data(), 0, histogram.bytes());
    watch.start();
    exec::for_each_lane<32>(space, threads, count_found<used>{pool.ref().used(), histogram.data()});
    state.SetIterationTime(watch.stop());
  }
  auto const counts = exec::copy_out(space, histogram.data(), 32 * used::bits + 1);
  double tiles = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    auto const n = static_cast<double>(counts[k]);
    tiles += n;
    sum += n * static_cast<double>(k);
    squares += n * static_cast<double>(k * k);
    if (counts[k] > 0 && k < 100) state.counters["found_" + std::to_string(k)] = n;
  }
  auto const lanes = Pool::space_type::template tile_size<32>;  // 1 on a host
  auto const theory = alloc::theory::found_by_warp({pages_of_pool, static_cast<double>(free), 0}, used::bits);
  state.counters["mean"] = sum / tiles;
  state.counters["deviation"] = std::sqrt(squares / tiles - sum / tiles * (sum / tiles));
  state.counters["mean_theory"] = theory.mean * lanes / 32;
  state.counters["deviation_theory"] = theory.deviation * std::sqrt(lanes / 32.0);
}

template <class Space>
void time_queue(benchmark::State& state, Space const& space) {
  auto const threads = static_cast<std::size_t>(state.range(0));
  constexpr std::uint32_t slots = 1 << 21;
  exec::buffer<std::uint32_t, Space> entries(space, slots);
  exec::buffer<std::uint32_t, Space> pages(space, threads);
  exec::buffer<alloc::queue_ends, Space> ends(space, 1);
  std::vector<std::uint32_t> numbers(threads);
  std::iota(numbers.begin(), numbers.end(), 0u);
  exec::copy_in<std::uint32_t>(space, pages.data(), numbers);
  space.fill(entries.data(), 0, entries.bytes());
  exec::write(space, ends.data(), alloc::queue_ends{});
  alloc::index_ring const ring(entries.data(), slots, false);
  typename Space::stopwatch watch(space);
  for (auto _ : state) {
    exec::for_each(space, threads, refill_queue{ends.data(), ring, pages.data()});
    space.synchronize();
    watch.start();
    exec::for_each(space, threads, queue_pages{ends.data(), ring, pages.data()});
    state.SetIterationTime(watch.stop());
  }
  std::vector<std::uint32_t> all = exec::copy_out(space, pages.data(), threads);
  std::sort(all.begin(), all.end());
  if (all != numbers) state.SkipWithError("a page was allocated twice, or too few pages");
}

template <class Allocator>
void time_allocator(benchmark::State& state, typename Allocator::space_type const& space) {
  using view_type = typename Allocator::view_type;
  auto const threads = static_cast<std::size_t>(state.range(0));
  Allocator pool(space, {.pool_bytes = std::size_t{1} << 30, .reserve_bytes = std::size_t{1} << 30, .checked = false});
  exec::buffer<void*, typename Allocator::space_type> pages(space, threads);
  typename Allocator::space_type::stopwatch watch(space);
  bool first = true;
  for (auto _ : state) {
    for (int k = first ? 0 : 1; k < 2; ++k) {
      space.synchronize();
      watch.start();
      exec::for_each_lane<32>(space, threads, allocate_pages<view_type>{pool.view(), pages.data()});
      if (k == 1) state.SetIterationTime(watch.stop());
      exec::for_each_lane<32>(space, threads, free_pages<view_type>{pool.view(), pages.data()});
    }
    first = false;
  }
  auto all = exec::copy_out(space, pages.data(), threads);
  std::sort(all.begin(), all.end());
  if (all.front() == nullptr || std::adjacent_find(all.begin(), all.end()) != all.end())
    state.SkipWithError("a page was allocated twice, or too few pages");
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

constexpr std::int64_t least_threads = 256;
constexpr std::int64_t most_threads = 1 << 20;

template <class Pool>
void add(typename Pool::space_type const& space, std::string const& name) {
  auto const add_case = [&](char const* subject, operation timed) {
    std::string const full = std::string(subject) + "/" + Pool::space_type::name + "/" + name;
    auto* const b = benchmark::RegisterBenchmark(
        full.c_str(), [space, timed](benchmark::State& s) { time_pool<Pool>(s, space, timed); });
    return b->UseManualTime()->Unit(benchmark::kMicrosecond)->ArgNames({"threads", "free_per_mille", "asking"});
  };
  auto* const get = add_case("get", operation::allocate);
  auto* const put = add_case("put", operation::free);
  auto* const some = add_case("get_some", operation::allocate);
  for (double const fraction : fractions) {
    auto const per_mille = static_cast<std::int64_t>(fraction * 1000 + 0.5);
    for (std::int64_t threads = least_threads; threads <= most_threads; threads *= 4) {
      if (fraction * pages_of_pool <= static_cast<double>(threads)) continue;
      get->Args({threads, per_mille, 32});
      put->Args({threads, per_mille, 32});
    }
    for (std::int64_t const asking : {1, 2, 4, 8, 16, 24, 32})
      if (fraction < 0.1) some->Args({most_threads / 4, per_mille, asking});
  }
}

template <class Space, class F>
void add_other(Space const& space, char const* name, F const& f) {
  std::string const full = std::string("get/") + Space::name + "/" + name;
  auto* const b = benchmark::RegisterBenchmark(full.c_str(), [space, f](benchmark::State& s) { f(s, space); });
  b->UseManualTime()->Unit(benchmark::kMicrosecond)->ArgName("threads");
  for (std::int64_t threads = least_threads; threads <= most_threads; threads *= 4) b->Arg(threads);
}

template <class Space>
void add_all(Space const& space) {
  add<alloc::rw_pages<Space>>(space, "rw");
  add<alloc::rw_bm_pages<Space>>(space, "rw-bm");
  add<alloc::corw_pages<Space>>(space, "corw");
  add<alloc::corw_pages<Space, std::uint64_t, true>>(space, "corw-lock-map");
  add<alloc::crw_pages<Space>>(space, "crw");
  add_other(space, "bump", [](auto& state, auto const& s) { time_bump(state, s); });
  add_other(space, "queue", [](auto& state, auto const& s) { time_queue(state, s); });
  add_other(space, "ouroboros-s-p",
            [](auto& state, Space const& s) { time_allocator<alloc::ouroboros_s_p<Space>>(state, s); });
  add_other(space, "corw-allocator", [](auto& state, Space const& s) { time_allocator<alloc::corw<Space>>(state, s); });
  auto* const found = benchmark::RegisterBenchmark(
      (std::string("found/") + Space::name + "/corw").c_str(),
      [space](auto& s) { measure_found<alloc::corw_pages<Space, std::uint32_t>>(s, space); });
  found->UseManualTime()->Unit(benchmark::kMicrosecond)->ArgName("free_per_mille");
  for (double const fraction : fractions) found->Arg(static_cast<std::int64_t>(fraction * 1000 + 0.5));
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([]<class Space>(Space const& space) { wyrm::bench::add_all(space); });
  return wyrm::bench::run_registered(argc, argv);
}
