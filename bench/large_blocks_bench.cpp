// SPDX-License-Identifier: Apache-2.0
// Large requests, as the AlignMalloc paper measures them (TPDS 2025, section VII, B to D):
//
//   single/SPACE/ALLOCATOR/n:N                   16,384 threads request 2^n to 2^(n+1) bytes each (Fig. 10 a)
//   random/SPACE/ALLOCATOR                       16,384 threads; each has 12 places for blocks of 1 to 256 KiB, draws
//                                                one, and frees its block, or allocates one there (Fig. 10 b)
//   scaling/SPACE/ALLOCATOR/threads:T/bytes:B    T threads request B bytes each (Fig. 11)
//
// The time is that of the kernel that allocates (for `random`: that does both). Counters: free_us, the kernel that
// frees; empty_us, an empty kernel of as many threads; first_us and last_us, the medians of the first and of the last
// tenth of the kernels of `random`; live, its blocks at the end. On a CPU there are 512 threads at most, and smaller
// requests.
//
// All allocators of the registry that free memory; one with a lock for all requests takes seconds a kernel, so select
// some. Each block is marked at both ends, untimed, and the marks are verified before it is freed: a run in which a
// thread got no block, or blocks overlap, is an error and has no time.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

constexpr std::uint32_t places = 12;  // of `random`, per thread
constexpr std::size_t random_least = std::size_t{1} << 10;
constexpr std::size_t random_most = std::size_t{256} << 10;

/// A size in [least, most], drawn for `key`.
WYRM_HD std::size_t size_between(std::size_t least, std::size_t most, std::uint64_t key) {
  return least + scramble(scramble(key) + 7) % (most - least + 1);
}

struct nothing {
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t, bool) const {}
};

struct block {
  std::uint64_t* at;
  std::size_t bytes;
  WYRM_HD std::uint64_t* last() const { return at + (bytes / sizeof(std::uint64_t) - 1); }
};

template <class Ref>
struct allocate_each {
  Ref ref;
  std::size_t least;
  std::size_t most;
  block* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::size_t const bytes = valid ? size_between(least, most, i) : 0;
    void* const p = ref.allocate(t, bytes);
    if (valid) blocks[i] = {static_cast<std::uint64_t*>(p), bytes};
  }
};
template <class Ref>
struct free_each {
  Ref ref;
  block* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    ref.deallocate(t, valid ? blocks[i].at : nullptr);
    if (valid) blocks[i].at = nullptr;
  }
};
/// Thread i frees the block in a place that it draws for this round, or allocates one there.
template <class Ref>
struct exchange_one {
  Ref ref;
  std::uint64_t round;
  std::size_t threads;
  block* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    block* const mine = blocks + (scramble(round * 7919 + scramble(i)) % places * threads + i);
    bool const frees = valid && mine->at != nullptr;
    ref.deallocate(t, frees ? mine->at : nullptr);
    std::size_t const bytes =
        valid && !frees ? size_between(random_least, random_most, round * threads + i) : std::size_t{0};
    void* const p = ref.allocate(t, bytes);
    if (valid) *mine = {static_cast<std::uint64_t*>(p), bytes};
  }
};

/// Writes the number of each block at its ends.
struct mark {
  block const* blocks;
  WYRM_HD void operator()(std::size_t i) const {
    if (blocks[i].at != nullptr) *blocks[i].at = *blocks[i].last() = i;
  }
};
/// Counts blocks whose marks are not intact, and blocks that a thread did not get.
struct verify {
  block const* blocks;
  std::uint32_t* damaged;
  WYRM_HD void operator()(std::size_t i) const {
    bool const is_good = blocks[i].at != nullptr ? *blocks[i].at == i && *blocks[i].last() == i : blocks[i].bytes == 0;
    if (!is_good) exec::atomic_ref<std::uint32_t>(*damaged).fetch_add(1, exec::relaxed);
  }
};

template <class Allocator>
class experiment {
 public:
  using space_type = typename Allocator::space_type;
  using view_type = typename Allocator::view_type;

  experiment(space_type const& space, std::size_t threads, std::size_t blocks, std::size_t pool_bytes)
      : space_(space),
        pool_(space, in_pool(pool_bytes)),
        threads_(threads),
        blocks_(space, blocks),
        damaged_(space, 1),
        watch_(space) {
    space.fill(blocks_.data(), 0, blocks_.bytes());
    space.fill(damaged_.data(), 0, damaged_.bytes());
  }

  /// The time of a kernel, in seconds.
  template <class F>
  double timed(F const& f) {
    space_.synchronize();
    watch_.start();
    exec::for_each_lane<32>(space_, threads_, f);
    return watch_.stop();
  }
  double allocate(std::size_t least, std::size_t most) {
    return timed(allocate_each<view_type>{pool_.view(), least, most, blocks_.data()});
  }
  double free() { return timed(free_each<view_type>{pool_.view(), blocks_.data()}); }
  double exchange(std::uint64_t round) {
    return timed(exchange_one<view_type>{pool_.view(), round, threads_, blocks_.data()});
  }
  [[nodiscard]] bool is_intact() {
    exec::for_each(space_, blocks_.size(), mark{blocks_.data()});
    exec::for_each(space_, blocks_.size(), verify{blocks_.data(), damaged_.data()});
    return exec::read(space_, damaged_.data()) == 0;
  }
  [[nodiscard]] std::size_t live() {
    std::vector<block> const all = exec::copy_out(space_, blocks_.data(), blocks_.size());
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](block b) { return b.at != nullptr; }));
  }
  void measure_empty(benchmark::State& state) { state.counters["empty_us"] = timed(nothing{}) * 1e6; }

 private:
  // Of which the blocks of one size can have so many bytes.
  static alloc::options in_pool(std::size_t bytes) {
    bytes = static_cast<std::size_t>(static_cast<double>(bytes) / Allocator::family.share);
    return {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false};
  }

  space_type space_;
  Allocator pool_;
  std::size_t threads_;
  exec::buffer<block, space_type> blocks_;
  exec::buffer<std::uint32_t, space_type> damaged_;
  typename space_type::stopwatch watch_;
};

/// A request may take a power of two of bytes, and all requests of a warp may be rounded up together.
constexpr std::size_t room_for(std::size_t threads, std::size_t most) {
  return threads * std::max<std::size_t>(2 * most, 8192) + (std::size_t{64} << 20);
}

template <class Allocator>
void time_requests(benchmark::State& state, typename Allocator::space_type const& space, std::size_t threads,
                   std::size_t least, std::size_t most) {
  experiment<Allocator> e(space, threads, threads, room_for(threads, most));
  std::vector<double> free_times;
  for (int warm = 0; warm < 2; ++warm) {
    (void)e.allocate(least, most);
    (void)e.free();
  }
  for (auto _ : state) {
    state.SetIterationTime(e.allocate(least, most));
    if (!e.is_intact()) return state.SkipWithError("a thread got no block, or blocks overlap");
    free_times.push_back(e.free());
  }
  state.counters["free_us"] = median(free_times) * 1e6;
  e.measure_empty(state);
}

template <class Allocator>
void time_random(benchmark::State& state, typename Allocator::space_type const& space, std::size_t threads,
                 std::size_t pool_bytes) {
  experiment<Allocator> e(space, threads, threads * places, pool_bytes);
  std::vector<double> times;
  for (auto _ : state) {
    times.push_back(e.exchange(times.size()));
    state.SetIterationTime(times.back());
    if (times.size() % 100 == 0 && !e.is_intact())
      return state.SkipWithError("a thread got no block, or blocks overlap");
  }
  auto const tenth = static_cast<std::ptrdiff_t>(times.size() / 10);
  state.counters["first_us"] = median({times.begin(), times.begin() + tenth}) * 1e6;
  state.counters["last_us"] = median({times.end() - tenth, times.end()}) * 1e6;
  state.counters["live"] = static_cast<double>(e.live());
  e.measure_empty(state);
}

/// A pool that the device has no room for, or that the allocator refuses, is an error of the case.
template <class F>
void reporting_errors(benchmark::State& state, F const& f) {
  try {
    f();
  } catch (error const& refused) {
    state.SkipWithError(refused.what());
  }
}

template <class Allocator, class Space>
void add_all(Space const& space) {
  constexpr bool gpu = is_gpu<Space>;
  auto const named = [](char const* subject) {
    return std::string(subject) + "/" + Space::name + "/" + Allocator::name;
  };
  add(named("random"), [space](benchmark::State& s) {
    reporting_errors(s,
                     [&] { time_random<Allocator>(s, space, gpu ? 16384 : 512, std::size_t{gpu ? 60u : 2u} << 30); });
  })->Iterations(1000);
  std::vector<std::int64_t> exponents(13);
  std::iota(exponents.begin(), exponents.end(), 9);
  if (!gpu) exponents.resize(6);
  add(named("single"),
      [space](benchmark::State& s) {
        std::size_t const least = std::size_t{1} << s.range(0);
        reporting_errors(s, [&] { time_requests<Allocator>(s, space, gpu ? 16384 : 512, least, 2 * least); });
      })
      ->ArgName("n")
      ->ArgsProduct({exponents})
      ->Iterations(20);
  std::vector<std::int64_t> threads{128, 512};
  if (gpu) threads.insert(threads.end(), {1 << 10, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18});
  add(named("scaling"),
      [space](benchmark::State& s) {
        auto const n = static_cast<std::size_t>(s.range(0));
        auto const bytes = static_cast<std::size_t>(s.range(1));
        reporting_errors(s, [&] { time_requests<Allocator>(s, space, n, bytes, bytes); });
      })
      ->ArgNames({"threads", "bytes"})
      ->ArgsProduct({threads, {1024, 8192}})
      ->Iterations(20);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  using namespace wyrm::bench;
  for_each_allocator([]<class A>(auto const& space) {
    if constexpr (A::family.reclaims) add_all<A>(space);
  });
  return run_registered(argc, argv);
}
