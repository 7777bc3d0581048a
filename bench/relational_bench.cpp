// SPDX-License-Identifier: Apache-2.0
// The case studies of "Dynamic Buffer Management in Massively Parallel Systems" (ACM TOPC 2025), section 6
// (examples/relational), in a pool that is full of pages, of which free_percent were freed at random:
//   join             hash join of two tables of so many tuples; each tuple of S has one partner in R (Fig. 17)
//   group_by         group-by of so many keys of the normal distribution, deviation 2^29 (Fig. 18)
//   group_by_narrow  the same with deviation 2^20: keys have several tuples
// They are compared with `two-pass`, the join that counts its pairs before it writes them, and `sort`, the radix sort
// of the primitives of exec (on a GPU: CUB), which sorts the tuples by key. Times are wall-clock times of all stages.
// Sizes: 16 K to 64 M tuples and 16 K to 10 M keys, on a CPU up to 256 K, or those of the command line:
//   --tuples LIST   of each table, separated by commas, 1 to 134217728
//   --keys LIST     1 to 134217728
// The first run of each case is not timed; a case in which it has a wrong result, or a later run a wrong number of
// results, is an error and has no time.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../examples/relational/group_by.hpp"
#include "../examples/relational/hash_join.hpp"
#include "../examples/relational/reference.hpp"
#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "defaults.hpp"
#include "relational_cases.hpp"

namespace wyrm::bench {

namespace {

constexpr std::size_t join_page = 1024;
constexpr std::size_t group_page = 512;

/// Frees each page with probability limit / 2^32.
template <class Ref>
struct free_some {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  void* const* pages;
  std::uint64_t limit;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    ref.deallocate(t, valid && scramble(i * 977 + 5) >> 32 < limit ? pages[i] : nullptr);
  }
};
template <class Ref>
struct allocate_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  std::size_t bytes;
  void** pages;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const p = ref.allocate(t, valid ? bytes : 0);
    if (valid) pages[i] = p;
  }
};

template <class Space>
constexpr bool is_host = std::is_same_v<Space, exec::host_space>;

std::shared_ptr<void> pool_of_last_case;

/// A pool full of pages of one size, each of which was freed with a probability. Kept for consecutive cases; one pool
/// at a time, because it takes a third of the memory of a device. Users must free what they allocate.
template <class Allocator>
Allocator& occupied(typename Allocator::space_type const& space, std::size_t page_bytes, std::size_t free_percent) {
  using space_type = typename Allocator::space_type;
  using view = typename Allocator::view_type;
  static std::pair<std::size_t, std::size_t> last;
  static std::weak_ptr<Allocator> pool;
  static_assert(Allocator::family.reclaims);
  std::shared_ptr<Allocator> kept = pool.lock();
  if (kept != nullptr && last == std::pair(page_bytes, free_percent)) return *kept;
  kept.reset();
  pool_of_last_case.reset();
  std::size_t const bytes = std::size_t{is_host<space_type> ? 1u : 24u} << 30;
  kept =
      std::make_shared<Allocator>(space, alloc::options{.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false});
  constexpr double never_filled = 0.002;  // searches for the last pages would take very long
  auto const pages = static_cast<std::size_t>((1 - never_filled) * static_cast<double>(bytes / page_bytes));
  exec::buffer<void*, space_type> all(space, pages);
  exec::for_each_lane<32>(space, pages, allocate_pages<view>{kept->view(), page_bytes, all.data()});
  auto const limit = static_cast<std::uint64_t>((static_cast<double>(free_percent) / 100 - never_filled) * 0x1p32);
  exec::for_each_lane<32>(space, pages, free_some<view>{kept->view(), all.data(), limit});
  space.synchronize();
  pool_of_last_case = kept;
  pool = kept;
  last = {page_bytes, free_percent};
  return *kept;
}

// --- join ---

/// The keys of R are distinct. Tuple i of S has the key of tuple partner(i) of R. Values are numbers of tuples.
struct make_tables {
  relational::tuple* r;
  relational::tuple* s;
  std::size_t n;
  WYRM_HD static std::uint32_t key(std::uint64_t i) { return static_cast<std::uint32_t>(i) * 0x9e3779b1u + 12345u; }
  WYRM_HD static std::uint64_t partner(std::size_t i, std::size_t n) { return scramble(i * 2654435761u + 77) % n; }
  WYRM_HD void operator()(std::size_t i) const {
    auto const number = static_cast<std::uint32_t>(i);
    r[i] = {key(i), number};
    s[i] = {key(partner(i, n)), number};
  }
};
/// Counts the pairs that are not of partners, and those that are there twice.
struct check_pairs {
  relational::joined const* pairs;
  std::size_t n;
  std::uint32_t* seen;
  std::uint64_t* wrong;
  WYRM_HD void operator()(std::size_t i) const {
    auto const [r, s] = pairs[i];
    bool const is_right = s < n && r == make_tables::partner(s, n) &&
                          exec::atomic_ref<std::uint32_t>(seen[s]).fetch_add(1, exec::relaxed) == 0;
    if (!is_right) exec::atomic_ref<std::uint64_t>(*wrong).fetch_add(1, exec::relaxed);
  }
};

template <class Space>
struct tables {
  Space space;
  std::size_t n;
  exec::buffer<relational::tuple, Space> r;
  exec::buffer<relational::tuple, Space> s;
  tables(Space const& on, std::size_t count) : space(on), n(count), r(on, count), s(on, count) {
    exec::for_each(space, n, make_tables{r.data(), s.data(), n});
  }
  [[nodiscard]] bool are_joined(relational::joined const* pairs, std::size_t count) const {
    exec::buffer<std::uint32_t, Space> seen(space, n);
    exec::buffer<std::uint64_t, Space> wrong(space, 1);
    space.fill(seen.data(), 0, seen.bytes());
    space.fill(wrong.data(), 0, wrong.bytes());
    exec::for_each(space, count, check_pairs{pairs, n, seen.data(), wrong.data()});
    return count == n && exec::read(space, wrong.data()) == 0;
  }
};

void report(benchmark::State& state, bool good) {
  auto const n = static_cast<double>(state.range(0));
  state.counters["tuples_per_second"] = benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate);
  if (!good) state.SkipWithError("the result is wrong, or memory was missing");
}

template <class Allocator>
void time_join(benchmark::State& state, typename Allocator::space_type const& space) {
  using space_type = typename Allocator::space_type;
  tables<space_type> const t(space, static_cast<std::size_t>(state.range(0)));
  Allocator& pool = occupied<Allocator>(space, join_page, static_cast<std::size_t>(state.range(1)));
  relational::join_memory memory(space, t.n, t.n);
  relational::result_lists<relational::joined, space_type> results(space, memory.tiles(), join_page);
  auto const join = [&] { relational::hash_join(memory, t.r.data(), t.n, t.s.data(), t.n, pool, results); };
  join();
  bool good = results.lost() == 0;
  if (good) {
    auto const pairs = results.gather();
    good = t.are_joined(pairs.data(), pairs.size());
  }
  results.free(pool);
  for (auto _ : state) {
    state.SetIterationTime(seconds(space, join));
    good = good && results.lost() == 0 && results.count() == t.n;
    results.free(pool);
  }
  report(state, good);
}

template <class Space>
void time_two_pass(benchmark::State& state, Space const& space) {
  tables<Space> const t(space, static_cast<std::size_t>(state.range(0)));
  relational::join_memory memory(space, t.n, t.n);
  exec::buffer<relational::joined, Space> pairs(space);
  std::size_t count = 0;
  auto const join = [&] { count = relational::two_pass_join(memory, t.r.data(), t.n, t.s.data(), t.n, pairs); };
  join();  // allocates the array, which is not timed
  bool good = t.are_joined(pairs.data(), count);
  for (auto _ : state) {
    state.SetIterationTime(seconds(space, join));
    good = good && count == t.n;
  }
  report(state, good);
}

// --- group-by ---

/// Tuples, and the groups that are expected; kept for later cases.
struct grouped {
  std::vector<relational::tuple> tuples;
  std::vector<relational::group> groups;
  static grouped const& get(std::size_t n, double deviation) {
    static std::map<std::pair<std::size_t, double>, grouped> made;
    auto const [at, is_new] = made.try_emplace({n, deviation});
    if (is_new) {
      at->second.tuples = relational::normal_tuples(n, deviation, 1);
      at->second.groups = relational::serial_group_by(at->second.tuples);
    }
    return at->second;
  }
};

template <class Space>
exec::buffer<relational::tuple, Space> upload(Space const& space, std::vector<relational::tuple> const& tuples) {
  exec::buffer<relational::tuple, Space> copy(space, tuples.size());
  exec::copy_in<relational::tuple>(space, copy.data(), tuples);
  return copy;
}

template <class Allocator>
void time_group_by(benchmark::State& state, typename Allocator::space_type const& space, double deviation) {
  using space_type = typename Allocator::space_type;
  auto const n = static_cast<std::size_t>(state.range(0));
  grouped const& expected = grouped::get(n, deviation);
  auto const tuples = upload(space, expected.tuples);
  Allocator& pool = occupied<Allocator>(space, group_page, static_cast<std::size_t>(state.range(1)));
  relational::grouping by_key(space, n, group_page);
  relational::result_lists<relational::group, space_type> results(space, by_key.tiles(), group_page);
  std::uint64_t lost = 0;
  auto const run = [&] { lost = by_key.run(tuples.data(), n, pool, results); };
  run();
  auto const groups = results.gather();
  bool good = lost == 0 && results.lost() == 0 &&
              relational::same_groups(exec::copy_out(space, groups.data(), groups.size()), expected.groups);
  results.free(pool);
  for (auto _ : state) {
    state.SetIterationTime(seconds(space, run));
    good = good && lost == 0 && results.lost() == 0 && results.count() == expected.groups.size();
    results.free(pool);
  }
  state.counters["groups"] = static_cast<double>(expected.groups.size());
  report(state, good);
}

template <class Space>
void time_sort(benchmark::State& state, Space const& space, double deviation) {
  auto const n = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint64_t> words;
  for (relational::tuple const& one : grouped::get(n, deviation).tuples)
    words.push_back(std::uint64_t{one.value} << 32 | one.key);
  exec::buffer<std::uint64_t, Space> keys(space, n);
  exec::buffer<std::uint64_t, Space> spare(space, n);
  typename Space::bulk bulk(space);
  bulk.reserve(n);
  std::uint64_t* sorted = nullptr;
  auto const run = [&] { sorted = bulk.sort(keys.data(), spare.data(), n, 32); };
  auto const is_sorted = [&] {
    auto const result = exec::copy_out(space, sorted, n);
    constexpr std::uint64_t mask = is_host<Space> ? ~std::uint64_t{0} : 0xffffffffu;  // a host sorts by all bits
    return std::is_sorted(result.begin(), result.end(),
                          [](std::uint64_t a, std::uint64_t b) { return (a & mask) < (b & mask); });
  };
  exec::copy_in<std::uint64_t>(space, keys.data(), words);
  run();
  bool const good = is_sorted();
  for (auto _ : state) {
    exec::copy_in<std::uint64_t>(space, keys.data(), words);
    state.SetIterationTime(seconds(space, run));
  }
  report(state, good);
}

// --- cases ---

using benchmark_case = benchmark::internal::Benchmark;

template <class F>
benchmark_case* add_case(std::string const& name, F const& f) {
  return benchmark::RegisterBenchmark(name.c_str(), f)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(16);  // untimed work takes longer than timed work
}

std::vector<std::int64_t> const free_percents{50, 5};

struct distribution {
  char const* subject;
  double deviation;
};
constexpr distribution distributions[] = {{"group_by", 0x1p29}, {"group_by_narrow", 0x1p20}};

template <class Space>
void add_baselines(Space const& space, relational_settings const& settings) {
  std::string const on = std::string("/") + Space::name + "/";
  add_case("join" + on + "two-pass", [space](benchmark::State& s) { time_two_pass(s, space); })
      ->ArgName("tuples")
      ->ArgsProduct({settings.join_sizes(is_gpu<Space>)});
  for (distribution const& d : distributions)
    add_case(d.subject + on + "sort", [space, d](benchmark::State& s) { time_sort(s, space, d.deviation); })
        ->ArgName("keys")
        ->ArgsProduct({settings.group_sizes(is_gpu<Space>)});
}

template <class Allocator>
void add_join(typename Allocator::space_type const& space, relational_settings const& settings) {
  using space_type = typename Allocator::space_type;
  auto* const b = add_case(std::string("join/") + space_type::name + "/" + Allocator::name,
                           [space](benchmark::State& s) { time_join<Allocator>(s, space); });
  b->ArgNames({"tuples", "free_percent"});
  for (std::int64_t const percent : free_percents)  // in this order, so that cases of a pool are consecutive
    for (std::int64_t const n : settings.join_sizes(is_gpu<space_type>)) b->Args({n, percent});
}

template <class Allocator>
void add_group_by(typename Allocator::space_type const& space, relational_settings const& settings) {
  using space_type = typename Allocator::space_type;
  for (distribution const& d : distributions) {
    auto* const b = add_case(std::string(d.subject) + "/" + space_type::name + "/" + Allocator::name,
                             [space, d](benchmark::State& s) { time_group_by<Allocator>(s, space, d.deviation); });
    b->ArgNames({"keys", "free_percent"});
    for (std::int64_t const percent : free_percents)
      for (std::int64_t const n : settings.group_sizes(is_gpu<space_type>)) b->Args({n, percent});
  }
}

template <class Space>
void add_all(Space const& space, relational_settings const& settings) {
  add_baselines(space, settings);
  add_join<alloc::ouroboros_s_p<Space>>(space, settings);
  add_join<alloc::rw<Space>>(space, settings);
  add_join<alloc::corw<Space>>(space, settings);
  add_group_by<alloc::rw<Space>>(space, settings);
  add_group_by<alloc::corw<Space>>(space, settings);
  add_group_by<alloc::crw<Space>>(space, settings);
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  using namespace wyrm::bench;
  return exit_status("relational_bench", [&] {
    auto const settings = relational_settings::take(argc, argv);
    for_each_space([&](auto const& space) { add_all(space, settings); });
    return run_registered(argc, argv);
  });
}
