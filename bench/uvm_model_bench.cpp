// SPDX-License-Identifier: Apache-2.0
// The experiments of "AlignMalloc" (TPDS 2025, sections III and VII) about page faults and migration, played by the
// model of UVM in uvm_model.hpp. It runs on the CPU; counters are the results, and times mean nothing. `plain`: the
// memory of a thread is contiguous, and that of threads is consecutive; `intra`, `inter`, `both`: with these
// rearrangements; `both-even-earlier`: with the memory pattern order of the paper. Cases (docs/uvm_model.md has the
// tables):
//   padding           Fig. 3(b): 1,000 threads, 50 accesses each to 512 nodes that are `bytes` apart, lanes
//   independently reach             Fig. 12, 13: 128 threads, 100 accesses each to `kib`, in batches of `batch` faults,
//   lanes in step independent       the same, lanes independently oversubscription  Fig. 14: 1,024 threads, `accesses`
//   each to 120 MiB, 24 GiB of memory few, bets         1,024 threads, `accesses` each to 2 MiB: at random; to blocks
//   0, 1, 2, 4, 8, 16 idle              2,048 threads with `kib` each: every second warp makes 20 accesses, the others
//   none threshold         reach with 16 MiB, by the percentage of its blocks above which a node pulls in the others
#include <cstdint>
#include <string>
#include <vector>

#include "defaults.hpp"
#include "uvm_traces.hpp"

namespace wyrm::bench {

namespace {

using uvm::lanes_access;

constexpr std::uint64_t seed = 1;
constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

struct named_rearrangement {
  char const* name;
  uvm::rearrangement how;
};
constexpr named_rearrangement plain{"plain", {}};
constexpr named_rearrangement both{"both", {.intra = true, .inter = true}};
constexpr named_rearrangement all_rearrangements[] = {
    plain,
    {"inter", {.inter = true}},
    {"intra", {.intra = true}},
    both,
    {"both-even-earlier", {.intra = true, .inter = true, .order = alloc::lane_order::even_earlier}}};

void report(benchmark::State& state, uvm::counts const& c, std::uint32_t threads) {
  auto const set = [&](char const* name, double value) { state.counters[name] = value; };
  auto const of_blocks = [](std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(mib); };
  set("faults", static_cast<double>(c.served) / threads);
  set("raised", static_cast<double>(c.raised) / threads);
  set("batches", static_cast<double>(c.batches));
  set("in_mib", of_blocks(c.bytes_in()));
  set("out_mib", of_blocks(c.bytes_out()));
  set("prefetched_mib", of_blocks(c.prefetched * uvm::block_bytes));
  set("prefetch_use", c.prefetch_use());
  set("block_use", c.use());
  set("evictions", static_cast<double>(c.evictions));
}

/// Plays what trace(memory) returns.
template <class Trace>
void play(benchmark::State& state, uvm::rearrangement const& r, std::uint32_t threads, std::int64_t bytes,
          uvm::options const& o, Trace const& trace) {
  for (auto _ : state) {
    uvm::thread_memory const memory(r, threads, static_cast<std::uint64_t>(bytes));
    report(state, uvm::count(trace(memory), o), threads);
  }
}
auto random_accesses(std::int64_t steps, lanes_access how) {
  return [steps, how](uvm::thread_memory const& memory) {
    return uvm::random_trace(memory, static_cast<std::uint32_t>(steps), how, seed);
  };
}

/// A case f(state, rearrangement) with arguments of these names.
template <class F>
benchmark::internal::Benchmark* add_case(char const* subject, named_rearrangement const& r,
                                         std::vector<std::string> const& arguments, F const& f) {
  return benchmark::RegisterBenchmark((std::string(subject) + "/model/" + r.name).c_str(),
                                      [how = r.how, f](benchmark::State& state) { f(state, how); })
      ->ArgNames(arguments)
      ->Iterations(1);
}

void add_padding() {
  auto const run = [](benchmark::State& state, uvm::rearrangement const& r) {
    play(state, r, 1000, 512 * state.range(0), {}, random_accesses(50, lanes_access::independently));
  };
  add_case("padding", plain, {"bytes"}, run)->RangeMultiplier(2)->Range(32, 256 * kib);
}

void add_reach(named_rearrangement const& r, char const* subject, lanes_access how) {
  auto const run = [how](benchmark::State& state, uvm::rearrangement const& by) {
    uvm::options const o{.batch = static_cast<std::size_t>(state.range(1))};
    play(state, by, 128, state.range(0) * kib, o, random_accesses(100, how));
  };
  add_case(subject, r, {"kib", "batch"}, run)
      ->ArgsProduct({{4, 64, 256, 1024, 2048, 4096, 8192, 16384}, {1, 4, 14, 256}});
}

void add_driver(named_rearrangement const& r) {
  auto const run = [](benchmark::State& state, uvm::rearrangement const& by) {
    play(state, by, 128, state.range(0) * kib, {.cascade = false}, random_accesses(100, lanes_access::in_step));
  };
  add_case("driver", r, {"kib"}, run)->RangeMultiplier(2)->Range(256, 16384);
}

void add_oversubscription(named_rearrangement const& r) {
  auto const run = [](benchmark::State& state, uvm::rearrangement const& by) {
    uvm::options const o{.memory = static_cast<std::uint64_t>(24 * 1024 * mib)};
    play(state, by, 1024, 120 * mib, o, random_accesses(state.range(0), lanes_access::in_step));
  };
  add_case("oversubscription", r, {"accesses"}, run)->DenseRange(60, 420, 60);
}

void add_few(named_rearrangement const& r) {
  auto const few = [](benchmark::State& state, uvm::rearrangement const& by) {
    play(state, by, 1024, 2 * mib, {}, random_accesses(state.range(0), lanes_access::in_step));
  };
  add_case("few", r, {"accesses"}, few)->DenseRange(2, 24, 2);
  auto const bets = [](benchmark::State& state, uvm::rearrangement const& by) {
    play(state, by, 1024, 2 * mib, {}, [&](uvm::thread_memory const& memory) {
      return uvm::trace_of(memory, static_cast<std::uint32_t>(state.range(0)), lanes_access::in_step, seed,
                           [](std::uint32_t step, auto&) { return step == 0 ? 0 : uvm::block_bytes << (step - 1); });
    });
  };
  add_case("bets", r, {"accesses"}, bets)->DenseRange(1, 6, 1);
}

void add_idle(named_rearrangement const& r) {
  auto const run = [](benchmark::State& state, uvm::rearrangement const& by) {
    for (auto _ : state) {
      uvm::thread_memory const memory(by, 2048, static_cast<std::uint64_t>(state.range(0) * kib));
      uvm::active_half const found = uvm::play_active_half(memory, 20, seed);
      report(state, found.counted, 2048);
      state.counters["of_idle_warps"] = found.of_idle_warps;
      state.counters["of_nobody"] = found.of_nobody;
    }
  };
  auto* const b = add_case("idle", r, {"kib"}, run);
  for (std::int64_t const size : {4, 12, 16, 20, 36, 48, 100, 200, 2064}) b->Arg(size);
}

void add_threshold(named_rearrangement const& r) {
  auto const run = [](benchmark::State& state, uvm::rearrangement const& by) {
    uvm::options const o{.threshold = static_cast<unsigned>(state.range(0)), .batch = 4};
    play(state, by, 128, 16 * mib, o, random_accesses(100, lanes_access::in_step));
  };
  add_case("threshold", r, {"percent"}, run)->Arg(25)->Arg(50)->Arg(75)->Arg(90)->Arg(100);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  using namespace wyrm::bench;
  add_padding();
  for (auto const& r : all_rearrangements) {
    add_reach(r, "reach", lanes_access::in_step);
    add_driver(r);
    add_idle(r);
    add_threshold(r);
  }
  for (auto const& r : {plain, both}) {
    add_reach(r, "independent", lanes_access::independently);
    add_oversubscription(r);
    add_few(r);
  }
  return run_registered(argc, argv);
}
