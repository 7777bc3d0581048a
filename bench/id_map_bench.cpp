// SPDX-License-Identifier: Apache-2.0
// Maps from keys to ids. Keys are random: numbers of 64 bits (u64), or strings of 8 to 16 bytes (string). Keys and
// results are in device memory. Times are wall-clock times from the call until the result is complete; memory is kept
// from call to call, except for that of results.
//
//   insert/KEYS/SPACE/n:N           N new keys into a map that is empty, and has had room for as many before
//   insert_known/KEYS/SPACE/n:N     N keys, all of which are in a map of N keys
//   insert_repeated/KEYS/SPACE/n:N  N keys of N/16 different ones into an empty map
//   grow/KEYS/SPACE/n:N             N new keys into a new map, which allocates all of its memory
//   find/KEYS/SPACE/n:N             N keys, of which every other one is in a map of N keys
//   keys/KEYS/SPACE/n:N             the keys of N random ids
//   erase/KEYS/SPACE/n:N            all keys of a map of N keys, in another order
//
// An n of 10000 is for a quick look: --benchmark_filter=n:10000/
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../exec/memory.hpp"
#include "../graph/ids/id_map.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

/// Key number i. Different numbers have different keys, except for a few strings.
template <class Space>
struct number_keys {
  static constexpr char const* name = "u64";
  using map = graph::id_map<Space>;
  using list = std::vector<std::uint64_t>;
  static void add(list& keys, std::uint64_t i) { keys.push_back(scramble(i + 1)); }
};

template <class Space>
struct string_keys {
  static constexpr char const* name = "string";
  using map = graph::string_id_map<Space>;
  using list = graph::packed_strings;
  static void add(list& keys, std::uint64_t i) {
    std::uint64_t const a = scramble(i + 1);
    std::uint64_t const b = scramble(a);
    char text[16];
    for (unsigned k = 0; k < 16; ++k) text[k] = static_cast<char>('a' + ((k < 8 ? a : b) >> (k % 8 * 8) & 15));
    keys.push_back({text, 8 + b % 9});
  }
};

/// The keys first + f(0) ... first + f(n - 1) in memory of a space.
template <class Keys, class Space, class F>
auto make_keys(Space const& space, std::size_t n, F const& f) {
  typename Keys::list list;
  for (std::size_t i = 0; i < n; ++i) Keys::add(list, f(i));
  if constexpr (std::is_same_v<typename Keys::list, graph::packed_strings>)
    return typename graph::detail::string_store<Space>::upload(space, list);
  else
    return typename graph::detail::number_store<Space>::upload(space, list);
}

std::uint64_t same(std::size_t i) { return i; }

/// Times run(map) in each iteration, after prepare(map); once before that without the clock.
template <class Space, class Map, class Prepare, class Run>
void repeat(benchmark::State& state, Space const& space, Map& map, Prepare const& prepare, Run const& run) {
  prepare(map);
  run(map);
  for (auto _ : state) {
    prepare(map);
    state.SetIterationTime(seconds(space, [&] { run(map); }));
  }
  state.counters["keys_per_s"] =
      benchmark::Counter(static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes_per_key"] = static_cast<double>(map.bytes()) / static_cast<double>(state.range(0));
}

constexpr auto no_preparation = [](auto&) {};

template <class Keys, class Space>
void add_all_of(Space const& space) {
  using map_type = typename Keys::map;
  auto const add_case = [&](char const* operation, auto const& run) {
    std::string const name = std::string(operation) + "/" + Keys::name + "/" + Space::name;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](benchmark::State& s) {
                                   map_type map(space);
                                   run(s, map, static_cast<std::size_t>(s.range(0)));
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->ArgName("n")
        ->Arg(10'000)
        ->Arg(1'000'000)
        ->Arg(10'000'000);
  };
  auto const clear = [](map_type& map) { map.clear(); };

  add_case("insert", [=](benchmark::State& s, map_type& map, std::size_t n) {
    auto const keys = make_keys<Keys>(space, n, same);
    repeat(s, space, map, clear, [&](map_type& m) { benchmark::DoNotOptimize(m.insert(keys.list()).data()); });
    if (map.size() < n - n / 1000) s.SkipWithError("keys are missing");
  });
  add_case("insert_known", [=](benchmark::State& s, map_type& map, std::size_t n) {
    auto const keys = make_keys<Keys>(space, n, same);
    map.insert(keys.list());
    repeat(s, space, map, no_preparation, [&](map_type& m) { benchmark::DoNotOptimize(m.insert(keys.list()).data()); });
  });
  add_case("insert_repeated", [=](benchmark::State& s, map_type& map, std::size_t n) {
    auto const keys = make_keys<Keys>(space, n, [=](std::size_t i) { return scramble(i) % (n / 16); });
    repeat(s, space, map, clear, [&](map_type& m) { benchmark::DoNotOptimize(m.insert(keys.list()).data()); });
  });
  add_case("grow", [=](benchmark::State& s, map_type& map, std::size_t n) {
    auto const keys = make_keys<Keys>(space, n, same);
    repeat(
        s, space, map, [&](map_type& m) { m = map_type(space); },
        [&](map_type& m) { benchmark::DoNotOptimize(m.insert(keys.list()).data()); });
  });
  add_case("find", [=](benchmark::State& s, map_type& map, std::size_t n) {
    map.insert(make_keys<Keys>(space, n, same).list());
    auto const keys = make_keys<Keys>(space, n, [=](std::size_t i) { return scramble(i) % (2 * n); });
    repeat(s, space, map, no_preparation, [&](map_type& m) { benchmark::DoNotOptimize(m.find(keys.list()).data()); });
    auto const ids = map.find(keys.list()).to_host();
    auto const absent = static_cast<std::size_t>(std::count(ids.begin(), ids.end(), graph::no_vertex));
    if (absent < n / 3 || absent > n - n / 3) s.SkipWithError("not every other key was found");
  });
  add_case("keys", [=](benchmark::State& s, map_type& map, std::size_t n) {
    map.insert(make_keys<Keys>(space, n, same).list());
    std::vector<graph::vertex_id> ids(n);
    for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<graph::vertex_id>(scramble(i) % map.size());
    exec::buffer<graph::vertex_id, Space> list(space, n);
    exec::copy_in<graph::vertex_id>(space, list.data(), ids);
    repeat(s, space, map, no_preparation,
           [&](map_type& m) { benchmark::DoNotOptimize(m.keys(graph::resident_vertices(list.data(), n))); });
  });
  add_case("erase", [=](benchmark::State& s, map_type& map, std::size_t n) {
    auto const keys = make_keys<Keys>(space, n, same);
    auto const other_order = make_keys<Keys>(space, n, [=](std::size_t i) { return (i * 7919 + 5) % n; });
    repeat(
        s, space, map,
        [&](map_type& m) {
          m.clear();
          m.insert(keys.list());
        },
        [&](map_type& m) { benchmark::DoNotOptimize(m.erase(other_order.list()).missing); });
    if (map.size() != 0) s.SkipWithError("keys were not erased");
  });
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([]<class Space>(Space const& space) {
    wyrm::bench::add_all_of<wyrm::bench::number_keys<Space>>(space);
    wyrm::bench::add_all_of<wyrm::bench::string_keys<Space>>(space);
  });
  return wyrm::bench::run_registered(argc, argv);
}
