// SPDX-License-Identifier: Apache-2.0
// Queries of entries in device memory. Times are wall-clock times from the call until the result is in device memory;
// scratch is kept.
//
//   contains/SPACE/GRAPH/scale:S/entries:N            N pairs, of which every other one is an edge; kept result
//   contains_new/SPACE/GRAPH/scale:S/entries:N        the same with an array that is allocated for the result
//   neighbours/SPACE/GRAPH/scale:S/entries:N          of N random vertices
//   common_neighbours/SPACE/GRAPH/scale:S/entries:N   the numbers of common neighbours of both ends of N edges
//   sample/SPACE/GRAPH/scale:S/entries:N              15 and 10 neighbours, without replacement, from N random seeds
//
// GRAPH is a random geometric graph (rgg) or an R-MAT graph with 16 edges per vertex (rmat), of 2^S vertices. A scale
// of 14 is for a quick look: --benchmark_filter=scale:14/
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../datasets/generators.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/queries.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

/// A graph, and edges of it in a random order. get() keeps the last one.
template <class Space>
struct queried_graph {
  graph::any_graph g;
  std::vector<graph::edge> edges;

  static queried_graph const& get(Space const& space, std::string const& kind, unsigned scale) {
    static std::string last;
    static std::unique_ptr<queried_graph> kept;
    std::string const key = kind + std::to_string(scale);
    if (key != last) {
      last.clear();
      kept.reset();
      graph::edge_list list =
          kind == "rgg" ? datasets::random_geometric(std::size_t{1} << scale, 1) : datasets::rmat(scale, 16, 1);
      kept.reset(new queried_graph{graph::build(space, "ouroboros-s-p", list), {}});
      std::erase_if(list.edges, [](graph::edge e) { return e.source == e.target; });
      for (std::size_t i = list.edges.size() - 1; i > 0; --i)
        std::swap(list.edges[i], list.edges[scramble(i) % (i + 1)]);
      kept->edges = std::move(list.edges);
      last = key;
    }
    return *kept;
  }
};

template <class Space, class T>
exec::buffer<T, Space> upload(Space const& space, std::vector<T> const& entries) {
  exec::buffer<T, Space> copy(space, entries.size());
  exec::copy_in<T>(space, copy.data(), entries);
  return copy;
}

/// Times run(scratch, graph, entries), after a first call that is not timed.
template <class Space, class Run>
void time_query(benchmark::State& state, Space const& space, std::string const& kind, Run const& run) {
  auto const& [g, edges] = queried_graph<Space>::get(space, kind, static_cast<unsigned>(state.range(0)));
  auto const n = static_cast<std::size_t>(state.range(1));
  graph::query_scratch<Space> scratch(space);
  run(state, scratch, g.view(), edges, n);
  state.counters["entries_per_s"] =
      benchmark::Counter(static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate);
}

template <class Space, class F>
void repeat(benchmark::State& state, Space const& space, F const& f) {
  f();
  for (auto _ : state) state.SetIterationTime(seconds(space, f));
}

std::vector<graph::vertex_id> random_vertices(graph::graph_view const& g, std::size_t n) {
  std::vector<graph::vertex_id> vertices(n);
  for (std::size_t i = 0; i < n; ++i) vertices[i] = static_cast<graph::vertex_id>(scramble(i * 977 + 5) % g.vertices());
  return vertices;
}

/// Every other pair is an edge.
std::vector<graph::edge> some_pairs(graph::graph_view const& g, std::vector<graph::edge> const& edges, std::size_t n) {
  std::vector<graph::vertex_id> const ends = random_vertices(g, 2 * n);
  std::vector<graph::edge> pairs(n);
  for (std::size_t i = 0; i < n; ++i)
    pairs[i] = i % 2 == 0 ? edges[i % edges.size()] : graph::edge{ends[2 * i], ends[2 * i + 1]};
  return pairs;
}

struct run_contains {
  bool keeps_result;
  template <class Space>
  void operator()(benchmark::State& state, graph::query_scratch<Space>& scratch, graph::graph_view const& g,
                  std::vector<graph::edge> const& edges, std::size_t n) const {
    auto const pairs = upload(scratch.space(), some_pairs(g, edges, n));
    graph::resident_edges const entries(pairs.data(), n);
    exec::buffer<std::uint8_t, Space> found(scratch.space(), n);
    repeat(state, scratch.space(), [&] {
      if (keeps_result)
        graph::contains(scratch, g, entries, found.data());
      else
        benchmark::DoNotOptimize(graph::contains(scratch, g, entries).data());
    });
    auto const answers = graph::contains(scratch, g, entries).to_host();
    if (std::count(answers.begin(), answers.end(), 1) < static_cast<std::ptrdiff_t>(n / 2))
      state.SkipWithError("an edge was not found");
  }
};

struct run_neighbours {
  template <class Space>
  void operator()(benchmark::State& state, graph::query_scratch<Space>& scratch, graph::graph_view const& g,
                  std::vector<graph::edge> const&, std::size_t n) const {
    auto const vertices = upload(scratch.space(), random_vertices(g, n));
    std::size_t found = 0;
    repeat(state, scratch.space(),
           [&] { found = graph::neighbours(scratch, g, graph::resident_vertices(vertices.data(), n)).targets.size(); });
    state.counters["neighbours"] = static_cast<double>(found);
  }
};

struct run_common_neighbours {
  template <class Space>
  void operator()(benchmark::State& state, graph::query_scratch<Space>& scratch, graph::graph_view const& g,
                  std::vector<graph::edge> const& edges, std::size_t n) const {
    std::vector<graph::edge> pairs(n);
    for (std::size_t i = 0; i < n; ++i) pairs[i] = edges[i % edges.size()];
    auto const entries = upload(scratch.space(), pairs);
    exec::buffer<std::uint32_t, Space> counts(scratch.space(), n);
    repeat(state, scratch.space(), [&] {
      graph::common_neighbours_count(scratch, g, graph::resident_edges(entries.data(), n), counts.data());
    });
  }
};

struct run_sample {
  template <class Space>
  void operator()(benchmark::State& state, graph::query_scratch<Space>& scratch, graph::graph_view const& g,
                  std::vector<graph::edge> const&, std::size_t n) const {
    auto const seeds = upload(scratch.space(), random_vertices(g, n));
    graph::sample_options o{.fan_out = {15, 10}};
    std::size_t found = 0;
    repeat(state, scratch.space(), [&] {
      ++o.seed;
      auto const hops = graph::sample_neighbours(scratch, g, graph::resident_vertices(seeds.data(), n), o);
      found = hops[0].targets.size() + hops[1].targets.size();
    });
    state.counters["samples"] = static_cast<double>(found);
  }
};

template <class Space>
void add_all(Space const& space) {
  for (char const* const kind : {"rgg", "rmat"})
    for (std::int64_t const scale : {14, 20, 22}) {
      auto const add_case = [&](char const* query, std::int64_t entries, auto const& run) {
        std::string const name = std::string(query) + "/" + Space::name + "/" + kind;
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& s) { time_query(s, space, kind, run); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->ArgNames({"scale", "entries"})
            ->Args({scale, entries});
      };
      bool const quick = scale == 14;
      add_case("contains", quick ? 10'000 : 1'000'000, run_contains{true});
      add_case("contains_new", quick ? 10'000 : 1'000'000, run_contains{false});
      add_case("neighbours", quick ? 10'000 : 1'000'000, run_neighbours{});
      add_case("common_neighbours", quick ? 10'000 : 1'000'000, run_common_neighbours{});
      add_case("sample", quick ? 1'000 : 100'000, run_sample{});
    }
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([]<class Space>(Space const& space) { wyrm::bench::add_all(space); });
  return wyrm::bench::run_registered(argc, argv);
}
