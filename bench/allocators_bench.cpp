// SPDX-License-Identifier: Apache-2.0
// The cost of memory from each registered allocator, on the host and on the GPU: the cases of the survey of dynamic
// memory managers for GPUs (Winter, Mlakar, Parger, Steinberger, PPoPP 2021) and of the papers of the allocators.
// Each thread has one request unless a case says otherwise; bytes 0 means 16 to 8192, drawn for each thread. Every run
// also writes a pattern to each block and verifies all blocks, untimed. A run with overlapping blocks or failed
// requests is an error and has no time. Kernels that allocate have cases with pools in three states:
//   reuse_allocate   64 rounds of allocation and free have passed: requests get blocks that were freed
//   first_allocate   the pool was reset before each repetition: nothing to reuse, but its memory was used before
//   new_allocate     the pool was constructed before each repetition, untimed
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

/// The requests of all threads: every stride-th thread requests `bytes` bytes or, if 0, 16 to 8192 bytes.
struct request {
  std::size_t bytes;
  std::size_t stride;
  [[nodiscard]] WYRM_HD std::size_t of(std::size_t i) const {
    if (i % stride != 0) return 0;
    return bytes_of_block(bytes, i);
  }
};

template <class Ref>
struct allocate_all {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  request requests;
  std::uint64_t** blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const p = ref.allocate(t, valid ? requests.of(i) : 0);
    if (valid) blocks[i] = static_cast<std::uint64_t*>(p);
  }
};

template <class Ref>
struct free_all {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  std::uint64_t** blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    ref.deallocate(t, valid ? blocks[i] : nullptr);
  }
};

/// A tile writes one block cooperatively, so that neighbouring lanes write neighbouring words.
struct write_pattern {
  request requests;
  std::uint64_t* const* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    if (blocks[i] == nullptr) return;
    for (std::size_t k = t.rank(); k < requests.of(i) / 8; k += Tile::size()) blocks[i][k] = i * 31 + k;
  }
};
struct find_damage {
  request requests;
  std::uint64_t* const* blocks;
  std::uint64_t* damaged;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    bool bad = requests.of(i) > 0 && blocks[i] == nullptr;
    for (std::size_t k = t.rank(); !bad && k < requests.of(i) / 8; k += Tile::size()) bad = blocks[i][k] != i * 31 + k;
    if (t.any(bad) && t.rank() == 0) exec::atomic_ref<std::uint64_t>(*damaged).fetch_add(1, exec::relaxed);
  }
};

/// Each thread writes its own block, word by word: measures how well the blocks of neighbouring threads coalesce.
struct write_per_thread {
  request requests;
  std::uint64_t* const* blocks;
  WYRM_HD void operator()(std::size_t i) const {
    for (std::size_t k = 0; k < requests.of(i) / 8; ++k) blocks[i][k] = k;
  }
};

/// One round of growth: a random half of the threads replace their blocks by blocks of 1.5 times the size.
template <class Ref>
struct grow_half {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  std::uint64_t** blocks;
  std::uint32_t* bytes;
  std::uint64_t round;
  std::uint64_t* failed;
  std::uint64_t* damaged;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const grows = valid && scramble(i * 977 + round) % 2 == 0;
    std::uint32_t const now = valid ? bytes[i] : 0;
    std::uint32_t const grown = grows ? (now + now / 2 + 7) / 8 * 8 : 0;
    auto* const larger = static_cast<std::uint64_t*>(ref.allocate(t, grown));
    if (grows && larger == nullptr) exec::atomic_ref<std::uint64_t>(*failed).fetch_add(1, exec::relaxed);
    bool const moves = larger != nullptr;
    for (std::uint32_t k = 0; moves && k < now / 8; ++k)
      if (blocks[i][k] != i * 31 + k) exec::atomic_ref<std::uint64_t>(*damaged).fetch_add(1, exec::relaxed);
    ref.deallocate(t, moves ? blocks[i] : nullptr);
    if (!moves) return;
    blocks[i] = larger;
    bytes[i] = grown;
    for (std::uint32_t k = 0; k < grown / 8; ++k) larger[k] = i * 31 + k;
  }
};

enum class operation { reuse_allocate, reuse_free, first_allocate, first_free, write };

template <class Allocator>
class allocator_runs {
 public:
  using space_type = typename Allocator::space_type;
  using view_type = typename Allocator::view_type;

  allocator_runs(space_type const& space, std::size_t threads, std::size_t pool_bytes)
      : space_(space),
        pool_(space, {.pool_bytes = pool_bytes, .reserve_bytes = pool_bytes, .checked = false}),
        threads_(threads),
        blocks_(space, threads),
        damaged_(space, 1),
        watch_(space) {
    space_.fill(damaged_.data(), 0, sizeof(std::uint64_t));
  }

  [[nodiscard]] Allocator& pool() { return pool_; }
  double allocate(request const& r) {
    return timed([&] {
      exec::for_each_lane<32>(space_, threads_, allocate_all<view_type>{pool_.view(), r, blocks_.data()});
    });
  }
  double free() {
    return timed([&] { exec::for_each_lane<32>(space_, threads_, free_all<view_type>{pool_.view(), blocks_.data()}); });
  }
  double write(request const& r) {
    return timed([&] { exec::for_each(space_, threads_, write_per_thread{r, blocks_.data()}); });
  }
  void verify(request const& r) {
    exec::for_each_tile<32>(space_, threads_, write_pattern{r, blocks_.data()});
    exec::for_each_tile<32>(space_, threads_, find_damage{r, blocks_.data(), damaged_.data()});
  }
  [[nodiscard]] std::uint64_t damaged() const { return exec::read(space_, damaged_.data()); }
  /// The blocks of all successful requests.
  [[nodiscard]] std::vector<std::uint64_t*> blocks() const {
    std::vector<std::uint64_t*> all = exec::copy_out(space_, blocks_.data(), threads_);
    std::erase(all, nullptr);
    return all;
  }

 private:
  template <class F>
  double timed(F const& f) {
    space_.synchronize();
    watch_.start();
    f();
    return watch_.stop();
  }

  space_type space_;
  Allocator pool_;
  std::size_t threads_;
  exec::buffer<std::uint64_t*, space_type> blocks_;
  exec::buffer<std::uint64_t, space_type> damaged_;
  typename space_type::stopwatch watch_;
};

constexpr std::size_t gib = std::size_t{1} << 30;
// The size of the pool: 2 GiB, as in the papers, or more where the requests, rounded up by a family, need more.
std::size_t pool_for(std::size_t threads, request const& r) {
  std::size_t const need = threads / r.stride * (r.bytes != 0 ? r.bytes : 4104) * 2;
  return std::max(2 * gib, need * 5 / 4);
}

template <class Allocator>
void time_one(benchmark::State& state, typename Allocator::space_type const& space, operation timed,
              std::size_t stride) {
  auto const threads = static_cast<std::size_t>(state.range(0)) * stride;
  request const r{static_cast<std::size_t>(state.range(1)), stride};
  allocator_runs<Allocator> b(space, threads, pool_for(threads, r));
  bool const first =
      timed == operation::first_allocate || timed == operation::first_free || !Allocator::family.reclaims;
  if (first && !Allocator::family.resets) {
    state.SkipWithError("the family cannot be reset");
    return;
  }
  b.allocate(r);  // untimed, to verify the blocks
  b.verify(r);
  b.free();
  constexpr int rounds = 64;  // warm-up, until queues and windows of the pool are in a steady state
  for (int round = 0; round < rounds && !first; ++round) {
    b.allocate(r);
    b.free();
  }
  for (auto _ : state) {
    if (first) b.pool().reset();
    double const allocating = b.allocate(r);
    double const writing = timed == operation::write ? b.write(r) : 0;
    b.verify(r);
    double const freeing = b.free();
    state.SetIterationTime(timed == operation::write                                                  ? writing
                           : timed == operation::reuse_allocate || timed == operation::first_allocate ? allocating
                                                                                                      : freeing);
  }
  if (b.damaged() > 0) state.SkipWithError("requests failed, or blocks overlap");
  state.SetItemsProcessed(state.iterations() * state.range(0));
  using view_type = typename Allocator::view_type;
  state.counters["registers"] = timed == operation::reuse_free || timed == operation::first_free
                                    ? exec::registers<32, free_all<view_type>>(space)
                                    : exec::registers<32, allocate_all<view_type>>(space);
}

/// Time of the first requests to a new pool.
template <class Allocator>
void time_new(benchmark::State& state, typename Allocator::space_type const& space) {
  auto const threads = static_cast<std::size_t>(state.range(0));
  request const r{static_cast<std::size_t>(state.range(1)), 1};
  std::uint64_t damaged = 0;
  auto const allocate = [&] {
    allocator_runs<Allocator> b(space, threads, pool_for(threads, r));
    double const time = b.allocate(r);
    b.verify(r);
    b.free();
    damaged += b.damaged();
    return time;
  };
  allocate();  // untimed: a driver may load kernels when they are launched for the first time
  for (auto _ : state) state.SetIterationTime(allocate());
  if (damaged > 0) state.SkipWithError("requests failed, or blocks overlap");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
/// Time to construct and destroy a pool.
template <class Allocator>
void time_construction(benchmark::State& state, typename Allocator::space_type const& space) {
  auto const bytes = static_cast<std::size_t>(state.range(0)) * (gib / 1024);
  for (auto _ : state)
    state.SetIterationTime(seconds(
        space, [&] { Allocator const pool(space, {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false}); }));
}
/// Time to reset a pool.
template <class Allocator>
void time_reset(benchmark::State& state, typename Allocator::space_type const& space) {
  auto const bytes = static_cast<std::size_t>(state.range(0)) * (gib / 1024);
  Allocator pool(space, {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false});
  for (auto _ : state) state.SetIterationTime(seconds(space, [&] { pool.reset(); }));
}

/// The address range of 100,000 blocks from a new pool, relative to the requested bytes.
template <class Allocator>
void measure_range(benchmark::State& state, typename Allocator::space_type const& space) {
  request const r{static_cast<std::size_t>(state.range(0)), 1};
  allocator_runs<Allocator> b(space, 100'000, 2 * gib);
  for (auto _ : state) {
    if (Allocator::family.resets) b.pool().reset();
    state.SetIterationTime(b.allocate(r));
    b.verify(r);
    auto const blocks = b.blocks();
    auto const [low, high] = std::minmax_element(blocks.begin(), blocks.end());
    state.counters["range_over_asked"] = static_cast<double>(reinterpret_cast<std::uintptr_t>(*high) + r.bytes -
                                                             reinterpret_cast<std::uintptr_t>(*low)) /
                                         static_cast<double>(r.bytes * 100'000);
    b.free();
  }
  if (b.damaged() > 0) state.SkipWithError("requests failed, or blocks overlap");
}

/// The fraction of a pool of 256 MiB, without and with the overhead of the allocator, that blocks of this size can
/// fill.
template <class Allocator>
void measure_utilisation(benchmark::State& state, typename Allocator::space_type const& space) {
  request const r{static_cast<std::size_t>(state.range(0)), 1};
  constexpr std::size_t pool_bytes = gib / 4;
  std::size_t const threads = pool_bytes / r.bytes + 4096;
  allocator_runs<Allocator> b(space, threads, pool_bytes);
  for (auto _ : state) {
    state.SetIterationTime(b.allocate(r));
    auto const served = static_cast<double>(b.blocks().size() * r.bytes);
    auto const s = b.pool().stats();
    state.counters["of_pool"] = served / static_cast<double>(s.committed);
    state.counters["of_pool_and_overhead"] = served / static_cast<double>(s.committed + s.overhead);
    b.pool().check();
    b.free();
    b.pool().check();
  }
}

/// 100,000 blocks of 16 bytes grow: in each round a random half of them, by half of their size, until a request fails.
/// Measures the fraction of a pool of 256 MiB that live blocks fill then.
template <class Allocator>
void measure_growth(benchmark::State& state, typename Allocator::space_type const& space) {
  constexpr std::size_t pool_bytes = gib / 4;
  constexpr std::size_t threads = 100'000;
  using view_type = typename Allocator::view_type;
  Allocator pool(space, {.pool_bytes = pool_bytes, .reserve_bytes = pool_bytes, .checked = false});
  exec::buffer<std::uint64_t*, typename Allocator::space_type> blocks(space, threads);
  exec::buffer<std::uint32_t, typename Allocator::space_type> bytes(space, threads);
  exec::buffer<std::uint64_t, typename Allocator::space_type> counters(space, 2);
  typename Allocator::space_type::stopwatch watch(space);
  request const first{16, 1};
  for (auto _ : state) {
    pool.reset();
    space.fill(counters.data(), 0, counters.bytes());
    exec::for_each_lane<32>(space, threads, allocate_all<view_type>{pool.view(), first, blocks.data()});
    exec::for_each_tile<32>(space, threads, write_pattern{first, blocks.data()});
    exec::copy_in<std::uint32_t>(space, bytes.data(), std::vector<std::uint32_t>(threads, 16));
    double time = 0;
    std::uint64_t round = 0;
    for (; exec::read(space, counters.data()) == 0; ++round) {
      watch.start();
      exec::for_each_lane<32>(
          space, threads,
          grow_half<view_type>{pool.view(), blocks.data(), bytes.data(), round, counters.data(), counters.data() + 1});
      time += watch.stop();
    }
    double live = 0;
    for (std::uint32_t const b : exec::copy_out(space, bytes.data(), threads)) live += b;
    state.SetIterationTime(time);
    state.counters["rounds"] = static_cast<double>(round);
    state.counters["of_pool"] = live / static_cast<double>(pool_bytes);
    pool.check();
  }
  if (exec::read(space, counters.data() + 1) > 0) state.SkipWithError("blocks overlap");
}

template <class Allocator, class Space>
void add_all(Space const& space) {
  auto const name = [](std::string const& subject) { return subject + "/" + Space::name + "/" + Allocator::name; };
  auto const add_case = [](std::string const& full, auto const& f) {
    return benchmark::RegisterBenchmark(full.c_str(), f)->UseManualTime()->Unit(benchmark::kMicrosecond);
  };
  struct {
    char const* subject;
    operation timed;
  } const cases[] = {{"reuse_allocate", operation::reuse_allocate},
                     {"reuse_free", operation::reuse_free},
                     {"first_allocate", operation::first_allocate},
                     {"first_free", operation::first_free},
                     {"write", operation::write}};
  for (auto const& [subject, timed] : cases) {
    add_case(name(subject), [space, timed = timed](benchmark::State& s) { time_one<Allocator>(s, space, timed, 1); })
        ->ArgsProduct({thread_counts, block_sizes})
        ->ArgNames({"threads", "bytes"});
    if (timed == operation::write) continue;
    add_case(name(std::string(subject) + "_warps"),
             [space, timed = timed](benchmark::State& s) { time_one<Allocator>(s, space, timed, 32); })
        ->ArgsProduct({{10'000}, block_sizes})
        ->ArgNames({"warps", "bytes"});
  }
  if (!Allocator::family.resets) return;  // its pools are one heap of the process
  add_case(name("new_allocate"), [space](benchmark::State& s) { time_new<Allocator>(s, space); })
      ->ArgsProduct({{100'000}, {16, 256, 4096}})
      ->ArgNames({"threads", "bytes"})
      ->Iterations(16);
  add_case(name("make"), [space](benchmark::State& s) { time_construction<Allocator>(s, space); })
      ->ArgName("MiB")
      ->ArgsProduct({pool_sizes});
  add_case(name("reset"), [space](benchmark::State& s) { time_reset<Allocator>(s, space); })
      ->ArgName("MiB")
      ->ArgsProduct({pool_sizes});
  add_case(name("range"), [space](benchmark::State& s) { measure_range<Allocator>(s, space); })
      ->ArgName("bytes")
      ->ArgsProduct({page_sizes})
      ->Iterations(1);
  add_case(name("utilisation"), [space](benchmark::State& s) { measure_utilisation<Allocator>(s, space); })
      ->ArgName("bytes")
      ->ArgsProduct({page_sizes})
      ->ArgsProduct({odd_sizes})
      ->Iterations(1);
  add_case(name("growth"), [space](benchmark::State& s) { measure_growth<Allocator>(s, space); })->Iterations(1);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_allocator([&]<class A>(auto const& space) { wyrm::bench::add_all<A>(space); });
  return wyrm::bench::run_registered(argc, argv);
}
