// SPDX-License-Identifier: Apache-2.0
// Allocation of one block per thread from a pool that is nearly full of blocks of that size. The free blocks are drawn
// at random; free_per_mille is their fraction ("Dynamic Buffer Management in Massively Parallel Systems", ACM TOPC
// 2025, section 5.2.2, Fig. 14). bytes 0 means 16 to 8192, drawn for each block. In the case `at_once` the kernel also
// frees its blocks, which is the seventh scenario of the paper. A run in which a thread gets no block, or two threads
// get the same block, is an error and has no time.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

/// at_once: the kernel also frees the blocks.
template <class Ref, bool at_once = false>
struct allocate_blocks {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  std::size_t bytes;
  void** blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const p = ref.allocate(t, valid ? bytes_of_block(bytes, i) : 0);
    if (valid) blocks[i] = p;
    if constexpr (at_once) ref.deallocate(t, p);
  }
};
/// Frees each block with probability limit / 2^32. The addresses of the other blocks are dropped.
template <class Ref>
struct free_some {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  void** blocks;
  std::uint64_t limit;
  std::uint64_t* freed;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const frees = valid && blocks[i] != nullptr && scramble(i * 977 + 5) >> 32 < limit;
    ref.deallocate(t, frees ? blocks[i] : nullptr);
    std::uint32_t const all = t.ballot(frees);
    if (t.rank() == 0 && all != 0)
      exec::atomic_ref<std::uint64_t>(*freed).fetch_add(static_cast<std::uint64_t>(cuda::std::popcount(all)),
                                                        exec::relaxed);
  }
};

/// A pool full of blocks, each of which was freed with probability per_mille / 1000. Users must free what they
/// allocate.
template <class Allocator>
struct occupied {
  using space_type = typename Allocator::space_type;
  using view_type = typename Allocator::view_type;
  std::size_t bytes;
  std::int64_t per_mille;
  Allocator pool;
  std::uint64_t freed = 0;

  occupied(space_type const& space, std::size_t block_bytes, std::int64_t free_per_mille)
      : bytes(block_bytes),
        per_mille(free_per_mille),
        pool(space, {.pool_bytes = pool_bytes(), .reserve_bytes = pool_bytes(), .checked = false}) {
    std::size_t const blocks = blocks_of(bytes);
    exec::buffer<void*, space_type> all(space, blocks);
    exec::buffer<std::uint64_t, space_type> counter(space, 1);
    exec::write(space, counter.data(), std::uint64_t{0});
    exec::for_each_lane<32>(space, blocks, allocate_blocks<view_type>{pool.view(), bytes, all.data()});
    auto const limit = static_cast<std::uint64_t>((static_cast<double>(per_mille) / 1000 - never_filled) * 0x1p32);
    exec::for_each_lane<32>(space, blocks, free_some<view_type>{pool.view(), all.data(), limit, counter.data()});
    freed = exec::read(space, counter.data());
  }
  /// The number of blocks that fill a pool, except for the last ones, for which searches would take very long. For
  /// mixed sizes, blocks are counted with their mean size after rounding to powers of two.
  static std::size_t blocks_of(std::size_t bytes) {
    auto const pool = static_cast<double>(pool_bytes());
    return static_cast<std::size_t>((1 - never_filled) * pool / (bytes != 0 ? static_cast<double>(bytes) : 5600));
  }
  static constexpr double never_filled = 0.002;
  static std::size_t pool_bytes() {
    return std::size_t{std::is_same_v<space_type, exec::host_space> ? 64u : 4096u} << 20;
  }
  /// Keeps the pool for consecutive cases.
  static occupied& get(space_type const& space, std::size_t bytes, std::int64_t per_mille) {
    static std::unique_ptr<occupied> last;
    if (last == nullptr || last->bytes != bytes || last->per_mille != per_mille) {
      last.reset();
      last = std::make_unique<occupied>(space, bytes, per_mille);
    }
    return *last;
  }
};

template <class Allocator>
void time_one(benchmark::State& state, typename Allocator::space_type const& space, bool at_once) {
  using space_type = typename Allocator::space_type;
  using view_type = typename Allocator::view_type;
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const threads = static_cast<std::size_t>(state.range(2));
  auto& [unused, per_mille, pool, freed] = occupied<Allocator>::get(space, bytes, state.range(1));
  if (freed < threads) return state.SkipWithError("too few blocks were freed");
  exec::buffer<void*, space_type> blocks(space, threads);
  exec::buffer<std::uint64_t, space_type> counter(space, 1);
  typename space_type::stopwatch watch(space);
  constexpr std::uint64_t all = std::uint64_t{1} << 32;
  bool good = true;
  for (auto _ : state) {
    space.synchronize();
    watch.start();
    if (at_once)
      exec::for_each_lane<32>(space, threads, allocate_blocks<view_type, true>{pool.view(), bytes, blocks.data()});
    else
      exec::for_each_lane<32>(space, threads, allocate_blocks<view_type>{pool.view(), bytes, blocks.data()});
    state.SetIterationTime(watch.stop());
    std::vector<void*> got = exec::copy_out(space, blocks.data(), threads);
    std::sort(got.begin(), got.end());
    good = good && got.front() != nullptr;
    if (at_once) continue;
    good = good && std::adjacent_find(got.begin(), got.end()) == got.end();
    exec::for_each_lane<32>(space, threads, free_some<view_type>{pool.view(), blocks.data(), all, counter.data()});
  }
  if (!good) state.SkipWithError("a thread got no block, or the block of another thread");
}

template <class Allocator>
void add_all(typename Allocator::space_type const& space) {
  if (!Allocator::family.reclaims || !Allocator::family.resets) return;
  auto const add_case = [space](char const* subject, bool at_once) {
    std::string const full = std::string(subject) + "/" + Allocator::space_type::name + "/" + Allocator::name;
    auto* const b = benchmark::RegisterBenchmark(
        full.c_str(), [space, at_once](benchmark::State& s) { time_one<Allocator>(s, space, at_once); });
    return b->UseManualTime()->Unit(benchmark::kMicrosecond)->ArgNames({"bytes", "free_per_mille", "threads"});
  };
  std::vector<std::int64_t> const per_mille{500, 100, 10, 5};
  std::vector<std::int64_t> const threads{1 << 10, 1 << 14, 1 << 17, 1 << 20};
  // Adds cases individually, so that the cases of a pool are consecutive.
  auto* const nearly_full = add_case("nearly_full", false);
  auto* const at_once = add_case("at_once", true);
  for (std::int64_t const free : per_mille) {
    for (std::int64_t const bytes : {16, 256, 1024, 4096, 8192, 0})
      for (std::int64_t const n : threads) {
        auto const blocks = static_cast<double>(occupied<Allocator>::blocks_of(static_cast<std::size_t>(bytes)));
        if (blocks * static_cast<double>(free) / 1000 < 2.5 * static_cast<double>(n)) continue;
        nearly_full->Args({bytes, free, n});
        if (bytes == 4096) at_once->Args({bytes, free, n});
      }
  }
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_allocator([&]<class A>(auto const& space) { wyrm::bench::add_all<A>(space); });
  return wyrm::bench::run_registered(argc, argv);
}
