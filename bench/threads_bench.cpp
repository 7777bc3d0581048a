// SPDX-License-Identifier: Apache-2.0
// What `malloc` and `free` of single threads cost beside the collectives of the same lanes. Every stride-th thread
// makes a request, as in the survey of dynamic memory managers for GPUs (PPoPP 2021): stride 1 is whole warps, 32 one
// lane of each warp; bytes 0 is 16 to 8192, drawn for each thread. "switch": each thread requests one of four sizes at
// one of four places of the code, so a warp makes four calls in turn. Pools have twice the memory that is requested.
// The times are medians, of blocks that are used again; each is verified.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

struct callers {
  std::size_t bytes;
  std::size_t stride;
  bool four_sizes;
  [[nodiscard]] WYRM_HD bool calls(std::size_t i) const { return i % stride == 0; }
  /// The place of the code where thread i calls.
  [[nodiscard]] WYRM_HD unsigned place(std::size_t i) const { return scramble(i) % 4; }
  WYRM_HD static std::size_t bytes_at(unsigned place) { return std::size_t{16} << 2 * place; }
  [[nodiscard]] WYRM_HD std::size_t of(std::size_t i) const {
    return four_sizes ? bytes_at(place(i)) : bytes_of_block(bytes, i);
  }
};

// Each block holds the number of its thread, and a thread that has none counts as damaged.
WYRM_HD inline void mark(std::uint64_t** blocks, std::size_t i, void* p, std::uint64_t* damaged) {
  blocks[i] = static_cast<std::uint64_t*>(p);
  if (p != nullptr)
    *blocks[i] = i;
  else
    exec::atomic_ref<std::uint64_t>(*damaged).fetch_add(1, exec::relaxed);
}

template <class Ref>
struct malloc_in_threads {
  Ref ref;
  callers who;
  std::uint64_t** blocks;
  std::uint64_t* damaged;
  WYRM_HD void operator()(std::size_t i) const {
    if (!who.calls(i)) return;
    void* p = nullptr;
    if (who.four_sizes) {
      switch (who.place(i)) {
        case 0: p = ref.malloc(who.bytes_at(0)); break;
        case 1: p = ref.malloc(who.bytes_at(1)); break;
        case 2: p = ref.malloc(who.bytes_at(2)); break;
        default: p = ref.malloc(who.bytes_at(3)); break;
      }
    } else {
      p = ref.malloc(who.of(i));
    }
    mark(blocks, i, p, damaged);
  }
};
template <class Ref>
struct free_in_threads {
  Ref ref;
  callers who;
  std::uint64_t** blocks;
  WYRM_HD void operator()(std::size_t i) const {
    if (who.calls(i)) ref.free(blocks[i]);
  }
};
template <class Ref>
struct allocate_in_tiles {
  Ref ref;
  callers who;
  std::uint64_t** blocks;
  std::uint64_t* damaged;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const calls = valid && who.calls(i);
    void* p = nullptr;
    if (who.four_sizes) {
      for (unsigned place = 0; place < 4; ++place) {
        bool const here = calls && who.place(i) == place;
        void* const got = ref.allocate(t, here ? who.bytes_at(place) : 0);
        if (here) p = got;
      }
    } else {
      p = ref.allocate(t, calls ? who.of(i) : 0);
    }
    if (calls) mark(blocks, i, p, damaged);
  }
};
template <class Ref>
struct deallocate_in_tiles {
  Ref ref;
  callers who;
  std::uint64_t** blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    ref.deallocate(t, valid && who.calls(i) ? blocks[i] : nullptr);
  }
};
struct count_damaged {
  callers who;
  std::uint64_t* const* blocks;
  std::uint64_t* damaged;
  WYRM_HD void operator()(std::size_t i) const {
    if (who.calls(i) && blocks[i] != nullptr && *blocks[i] != i)
      exec::atomic_ref<std::uint64_t>(*damaged).fetch_add(1, exec::relaxed);
  }
};

template <class Allocator>
void compare(benchmark::State& state, typename Allocator::space_type const& space, callers const& who) {
  using space_type = typename Allocator::space_type;
  using ref_type = typename Allocator::ref_type;
  constexpr int warm_up = 16;
  constexpr int timed = 25;
  std::size_t const n = static_cast<std::size_t>(state.range(0)) * who.stride;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < n; i += who.stride) asked += who.of(i);
  exec::buffer<std::uint64_t*, space_type> blocks(space, n);
  exec::buffer<std::uint64_t, space_type> damaged(space, 1);
  typename space_type::stopwatch watch(space);
  space.fill(damaged.data(), 0, damaged.bytes());
  auto const run = [&](auto const& allocate, auto const& free, ref_type const& ref) {
    std::pair<std::vector<double>, std::vector<double>> times;
    for (int k = 0; k < warm_up + timed; ++k) {
      watch.start();
      allocate(ref);
      double const allocating = watch.stop();
      exec::for_each(space, n, count_damaged{who, blocks.data(), damaged.data()});
      space.synchronize();
      watch.start();
      free(ref);
      double const freeing = watch.stop();
      if (k < warm_up) continue;
      times.first.push_back(allocating);
      times.second.push_back(freeing);
    }
    return std::pair(median(times.first) * 1e6, median(times.second) * 1e6);
  };
  alloc::options const pool_options{.pool_bytes = 2 * asked, .reserve_bytes = 2 * asked, .checked = false};
  for (auto _ : state) {
    Allocator const of_tiles(space, pool_options);
    auto const [allocate, deallocate] = run(
        [&](ref_type const& ref) {
          exec::for_each_lane<32>(space, n, allocate_in_tiles<ref_type>{ref, who, blocks.data(), damaged.data()});
        },
        [&](ref_type const& ref) {
          exec::for_each_lane<32>(space, n, deallocate_in_tiles<ref_type>{ref, who, blocks.data()});
        },
        of_tiles.ref());
    Allocator const of_threads(space, pool_options);
    auto const [malloc, free] = run(
        [&](ref_type const& ref) {
          exec::for_each(space, n, malloc_in_threads<ref_type>{ref, who, blocks.data(), damaged.data()});
        },
        [&](ref_type const& ref) {
          exec::for_each(space, n, free_in_threads<ref_type>{ref, who, blocks.data()});
        },
        of_threads.ref());
    state.SetIterationTime(malloc * 1e-6);
    state.counters["malloc_us"] = malloc;
    state.counters["allocate_us"] = allocate;
    state.counters["free_us"] = free;
    state.counters["deallocate_us"] = deallocate;
  }
  if (exec::read(space, damaged.data()) > 0) state.SkipWithError("requests failed, or blocks overlap");
}

template <class Allocator, class Space>
void add_all(Space const& space) {
  if (!Allocator::family.resets || !Allocator::family.reclaims) return;
  auto const add_case = [&](std::string const& subject, callers const& who, std::vector<std::int64_t> const& threads) {
    std::string const full = subject + "/" + Space::name + "/" + Allocator::name +
                             "/stride:" + std::to_string(who.stride) + "/bytes:" + std::to_string(who.bytes);
    benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& s) { compare<Allocator>(s, space, who); })
        ->ArgsProduct({threads})
        ->ArgName("threads")
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(1);
  };
  std::vector<std::int64_t> const threads{10'000, 100'000, 1'000'000};
  for (std::int64_t const bytes : block_sizes)
    for (std::size_t const stride : {std::size_t{1}, std::size_t{2}, std::size_t{32}}) {
      if (bytes > 1024)
        add_case("malloc", {static_cast<std::size_t>(bytes), stride, false}, {10'000, 100'000});
      else
        add_case("malloc", {static_cast<std::size_t>(bytes), stride, false}, threads);
    }
  add_case("switch", {0, 1, true}, threads);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_allocator([&]<class A>(auto const& space) { wyrm::bench::add_all<A>(space); });
  return wyrm::bench::run_registered(argc, argv);
}
