// SPDX-License-Identifier: Apache-2.0
// The load tests of ScatterAlloc (InPar 2012, section 7). Kernel after kernel, each thread frees one of its blocks with
// probability p_free, if it has some, and else allocates one with probability p_alloc (both in percent). The size is
// drawn for each block. Counters, in cycles of the multiprocessor on a GPU and in nanoseconds on a host:
//  - malloc_cycles, free_cycles: the mean of the calls of a kernel, each by a single thread; malloc_cv, free_cv: their
//    coefficients of variation; in medians over the timed kernels.
//  - access_cycles: for each of the dependent loads with which threads read their last block from begin to end.
//  - internal, external, blowup: the fragmentation at the end, in a pool of its own in checked mode; used: bytes
//    requested by live blocks, as a fraction of the pool.
// Cases: `fill` (Fig. 2), the kernels until the pool is used up; `load` (Fig. 3), against the number of threads;
// `spread` (Fig. 4), against the difference between the largest and the smallest size. With one of these options, there
// are cases `chosen` instead, for all combinations of their values (LIST: values separated by commas):
//   --p-alloc LIST   percent, 1 to 100; default 75
//   --p-free LIST    percent, 0 to 100; default 75
//   --sizes LIST     of SMALLEST:LARGEST, or one size; bytes, 4 to 8192; default 16:128
//   --threads LIST   1 to 4194304; default 4096
//   --kernels LIST   kernels, of which the last 5 are timed, 5 to 10000; default 15
//   --pool MIB       1 to 65536; default: four blocks of the largest size per thread, and at least 16 MiB
// A thread has 16 blocks at most. If threads allocate more often than they free, they may need a larger pool.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"
#include "load_cases.hpp"

namespace wyrm::bench {

namespace {

/// Cycles of the multiprocessor; on a host nanoseconds.
WYRM_HD inline std::uint64_t now() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<std::uint64_t>(clock64());),
                    (return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());))
}

// A block is a list of the numbers 1, 2, ... in words of 4 bytes: word k names the word that is read after it.
struct thread_blocks {
  static constexpr std::uint32_t most = 16;
  std::uint32_t* last[most];
  std::uint32_t words[most];
  std::uint32_t count;
};
/// The number of loads; 0 if the block does not hold what was written.
WYRM_HD inline std::uint32_t read_through(std::uint32_t const* block, std::uint32_t words) {
  std::uint32_t at = 0;
  std::uint32_t loads = 0;
  for (; at < words && loads < words; ++loads) at = block[at];
  return at == words && loads == words ? loads : 0;
}

/// What a thread has done in a kernel. Times of 0: nothing.
struct one_turn {
  std::uint64_t allocating;
  std::uint64_t freeing;
  std::uint64_t reading;
  std::uint32_t loads;
  bool failed;
  bool damaged;
};

template <class Ref>
struct one_kernel {
  Ref ref;
  load_case what;
  std::uint64_t kernel;
  thread_blocks* all;
  one_turn* turns;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint64_t const random = scramble(scramble(i + 1) + kernel);
    thread_blocks& mine = all[i];
    one_turn turn{};
    if (mine.count > 0 && random % 100 < what.p_free) {
      --mine.count;
      turn.damaged = read_through(mine.last[mine.count], mine.words[mine.count]) == 0;
      std::uint64_t const start = now();
      ref.free(mine.last[mine.count]);
      turn.freeing = now() - start;
    } else if (mine.count < thread_blocks::most && (random >> 20) % 100 < what.p_alloc) {
      std::size_t const bytes = what.smallest + (random >> 40) % (what.largest - what.smallest + 1);
      std::uint64_t const start = now();
      auto* const block = static_cast<std::uint32_t*>(ref.malloc(bytes));
      turn.allocating = now() - start;
      turn.failed = block == nullptr;
      auto const words = static_cast<std::uint32_t>(bytes / 4);
      for (std::uint32_t k = 0; k < words && block != nullptr; ++k) block[k] = k + 1;
      if (block != nullptr) {
        mine.last[mine.count] = block;
        mine.words[mine.count] = words;
        ++mine.count;
      }
    }
    turns[i] = turn;
  }
};
/// Each thread reads its last block.
struct read_blocks {
  thread_blocks const* all;
  one_turn* turns;
  WYRM_HD void operator()(std::size_t i) const {
    thread_blocks const& mine = all[i];
    one_turn turn{};
    if (mine.count > 0) {
      std::uint64_t const start = now();
      turn.loads = read_through(mine.last[mine.count - 1], mine.words[mine.count - 1]);
      turn.reading = now() - start;
      turn.damaged = turn.loads == 0;
    }
    turns[i] = turn;
  }
};

/// Mean and coefficient of variation of the times that are not 0.
struct spread_of_times {
  double mean = 0;
  double variation = 0;
  template <class Time>
  spread_of_times(std::vector<one_turn> const& turns, Time const& time) {
    double n = 0;
    double sum = 0;
    double squares = 0;
    for (one_turn const& turn : turns) {
      auto const t = static_cast<double>(time(turn));
      n += t > 0;
      sum += t;
      squares += t * t;
    }
    if (n == 0) return;
    mean = sum / n;
    variation = std::sqrt(std::max(squares / n - mean * mean, 0.0)) / mean;
  }
};

/// A pool, and the threads that use it.
template <class Allocator>
class load {
 public:
  using space_type = typename Allocator::space_type;
  using ref_type = typename Allocator::ref_type;
  load(space_type const& space, load_case const& what, std::size_t threads, std::size_t pool_bytes, bool checked)
      : space_(space),
        what_(what),
        pool_(space, {.pool_bytes = pool_bytes, .reserve_bytes = pool_bytes, .checked = checked, .guards = false}),
        blocks_(space, threads),
        turns_(space, threads) {
    space_.fill(blocks_.data(), 0, blocks_.bytes());
  }
  /// One kernel.
  std::vector<one_turn> run() {
    exec::for_each(space_, turns_.size(),
                   one_kernel<ref_type>{pool_.ref(), what_, ++kernel_, blocks_.data(), turns_.data()});
    return look();
  }
  std::vector<one_turn> read() {
    exec::for_each(space_, turns_.size(), read_blocks{blocks_.data(), turns_.data()});
    return look();
  }
  [[nodiscard]] bool has_failed() const { return failed_; }
  [[nodiscard]] bool is_damaged() const { return damaged_; }
  [[nodiscard]] alloc::statistics stats() const { return pool_.stats(); }

 private:
  std::vector<one_turn> look() {
    std::vector<one_turn> turns = exec::copy_out(space_, turns_.data(), turns_.size());
    for (one_turn const& turn : turns) {
      failed_ = failed_ || turn.failed;
      damaged_ = damaged_ || turn.damaged;
    }
    return turns;
  }

  space_type space_;
  load_case what_;
  Allocator pool_;
  exec::buffer<thread_blocks, space_type> blocks_;
  exec::buffer<one_turn, space_type> turns_;
  std::uint64_t kernel_ = 0;
  bool failed_ = false;
  bool damaged_ = false;
};

template <class Allocator>
void measure(benchmark::State& state, typename Allocator::space_type const& space, load_run const& r) {
  int const warm_up = r.kernels - timed_kernels;
  for (auto _ : state) {
    std::vector<double> allocating;
    std::vector<double> allocating_cv;
    std::vector<double> freeing;
    std::vector<double> freeing_cv;
    load<Allocator> timed_load(space, r.what, r.threads, r.pool_bytes, false);
    for (int k = 0; k < r.kernels; ++k) {
      std::vector<one_turn> const turns = timed_load.run();
      if (k < warm_up) continue;
      spread_of_times const a(turns, [](one_turn const& turn) { return turn.allocating; });
      spread_of_times const f(turns, [](one_turn const& turn) { return turn.freeing; });
      allocating.push_back(a.mean);
      allocating_cv.push_back(a.variation);
      freeing.push_back(f.mean);
      freeing_cv.push_back(f.variation);
    }
    std::uint64_t loads = 0;
    std::uint64_t reading = 0;
    for (one_turn const& turn : timed_load.read()) {
      loads += turn.loads;
      reading += turn.reading;
    }
    load<Allocator> checked_load(space, r.what, r.threads, r.pool_bytes, true);
    for (int k = 0; k < r.kernels; ++k) (void)checked_load.run();
    alloc::statistics const s = checked_load.stats();
    if (timed_load.is_damaged() || checked_load.is_damaged()) return state.SkipWithError("blocks overlap");
    if (timed_load.has_failed()) return state.SkipWithError("the pool is used up");
    state.SetIterationTime(median(allocating) * 1e-9);
    state.counters["malloc_cycles"] = median(allocating);
    state.counters["malloc_cv"] = median(allocating_cv);
    state.counters["free_cycles"] = median(freeing);
    state.counters["free_cv"] = median(freeing_cv);
    state.counters["access_cycles"] =
        static_cast<double>(reading) / static_cast<double>(std::max<std::uint64_t>(loads, 1));
    if (!s.fragmentation) continue;
    state.counters["internal"] = s.fragmentation->internal;
    state.counters["external"] = s.fragmentation->external;
    state.counters["blowup"] = s.fragmentation->blowup;
    state.counters["used"] = static_cast<double>(s.fragmentation->requested) / static_cast<double>(s.committed);
  }
}

/// The cases of these settings; without settings those of the paper.
template <class Allocator, class Space>
void add_all(Space const& space, std::optional<load_settings> const& settings) {
  if (!Allocator::family.reclaims || !Allocator::family.resets) return;
  // A list takes a lock for each request, and a host has few threads.
  bool const is_list = std::string_view(Allocator::name).starts_with("list");
  std::size_t const most = is_list ? 1 << 14 : is_gpu<Space> ? 1 << 20 : 1 << 16;
  for (load_run const& r : settings ? cases_of(*settings) : cases_of_paper(most))
    benchmark::RegisterBenchmark((r.subject + "/" + Space::name + "/" + Allocator::name + "/" + r.arguments).c_str(),
                                 [=](benchmark::State& s) {
                                   try {
                                     measure<Allocator>(s, space, r);
                                   } catch (error const& failed) {  // without memory; other cases go on
                                     s.SkipWithError(failed.what());
                                   }
                                 })
        ->UseManualTime()
        ->Iterations(1);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  using namespace wyrm::bench;
  return exit_status("load_bench", [&] {
    auto const settings = load_settings::take(argc, argv);
    for_each_allocator([&]<class A>(auto const& space) { add_all<A>(space, settings); });
    return run_registered(argc, argv);
  });
}
