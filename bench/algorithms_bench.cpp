// SPDX-License-Identifier: Apache-2.0
// Algorithms on the dynamic graph, and the same kernels on the rows of a static CSR. Cases, and what their time is:
//
//   pagerank/SPACE/STORAGE/GRAPH/STATE/PRECISION     one iteration of many, without start and end of the call
//   pagerank_weighted/... (the same)                 the same with weights of arcs (values of type float, not on
//                                                    csr); the counter before_us of both is the time until the first
//                                                    iteration, with scratch kept
//   triangles/SPACE/STORAGE/GRAPH/STATE              the total, from call to result; scratch is kept
//   walks/SPACE/STORAGE/GRAPH/KIND                   a walk of 80 steps from each vertex: uniform, node2vec (p = 1/2,
//                                                    q = 2) or weighted (values of type float, not on csr)
//   components, core_numbers/SPACE/STORAGE/GRAPH     from call to result, the copy to the host included
//   edge_support/SPACE/ALLOCATOR/GRAPH               the same
//   bfs, bfs_push/SPACE/STORAGE/GRAPH                from call to the distances on the device, scratch kept; the mean
//                                                    over 16 random sources that have neighbours; bfs_push: no pulls
//   clustering/SPACE/STORAGE/GRAPH                   from call to the labels on the host, default options, scratch kept
//   triangles_change/SPACE/ALLOCATOR/GRAPH/edges:N   insertion and erasure of random edges, maintained triangles
//   clustering_change/SPACE/ALLOCATOR/GRAPH/edges:N  insertion and erasure of random edges, maintained clustering
//   pagerank_change/SPACE/ALLOCATOR/GRAPH/share:S/tolerance:T
//                                                    the same with maintained PageRank; the batch has the fraction S of
//                                                    all edges (0: one edge)
//
// STORAGE is an allocator, or csr. STATE is built (from a CSR) or churned (built, and then 100 rounds that insert
// 100,000 edges and erase the edges of the round before the last one).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "../algorithms/bfs.hpp"
#include "../algorithms/clustering.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/core_numbers.hpp"
#include "../algorithms/edge_support.hpp"
#include "../algorithms/incremental_clustering.hpp"
#include "../algorithms/incremental_pagerank.hpp"
#include "../algorithms/incremental_triangles.hpp"
#include "../algorithms/pagerank.hpp"
#include "../algorithms/random_walks.hpp"
#include "../algorithms/triangles.hpp"
#include "../alloc/registry.hpp"
#include "../datasets/updates.hpp"
#include "../graph/any_graph.hpp"
#include "defaults.hpp"
#include "graph_under_test.hpp"
#include "graphs.hpp"

namespace wyrm::bench {

namespace {

struct subject {
  std::string storage;
  std::string name;
  bool churned;
};

// The time of an iteration is computed from the difference of two runs that differ in the number of iterations only.
template <class Space>
void pagerank(benchmark::State& state, Space const& space, subject const& s, algorithms::precision ranks,
              bool weighted) {
  constexpr unsigned few = 8;
  constexpr unsigned many = 48;
  graph::graph_view const g = graph_under_test<Space>::get(space, s.storage, s.name, s.churned, weighted).view();
  algorithms::pagerank_options o{.tolerance = 1e-15, .weighted = weighted, .ranks = ranks};
  auto const run = [&](unsigned iterations) {
    o.max_iterations = iterations;
    return seconds(space, [&] {
      algorithms::pagerank_result const r = algorithms::pagerank(space, g, o);
      if (r.iterations != iterations) state.SkipWithError("fewer iterations than requested");
    });
  };
  (void)run(few);
  for (auto _ : state) state.SetIterationTime((run(many) - run(few)) / (many - few));
  algorithms::pagerank_ranker<Space> ranker(space);
  o.max_iterations = 0;
  (void)ranker.run(g, o);
  state.counters["before_us"] = 1e6 * seconds(space, [&] { (void)ranker.run(g, o); });
  auto const bytes = static_cast<double>((weighted ? 8 : 4) * g.arcs() + 16 * std::uint64_t{g.vertices()});
  state.counters["bytes_per_s"] = benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
}

template <class Space>
void triangles(benchmark::State& state, Space const& space, subject const& s) {
  graph::graph_view const g = graph_under_test<Space>::get(space, s.storage, s.name, s.churned).view();
  algorithms::triangle_counter<Space> counter(space);
  std::uint64_t total = counter.count(g).total;
  for (auto _ : state) state.SetIterationTime(seconds(space, [&] { total = counter.count(g).total; }));
  state.counters["triangles"] = static_cast<double>(total);
}

// Random edges that are not in the graph.
std::vector<graph::edge> fresh_edges(graph::csr const& c, std::size_t size) {
  std::vector<graph::edge> batch = datasets::update_batch(datasets::update_kind::random, c.offsets.size() - 1, size, 1);
  std::erase_if(batch, [&](graph::edge e) {
    auto const row = c.targets.begin() + static_cast<std::ptrdiff_t>(c.offsets[e.source]);
    return std::binary_search(row, c.targets.begin() + static_cast<std::ptrdiff_t>(c.offsets[e.source + 1]), e.target);
  });
  return batch;
}

// Half the time of putting edges in and taking them out again, with an update of all attached results.
template <class Space>
double change(Space const& space, graph::any_graph& g, std::span<graph::edge const> batch) {
  return 0.5 * seconds(space, [&] {
           g.insert(batch);
           g.erase(batch);
         });
}

// The counters are the times of the updates without maintained result, and of a full count.
template <class Space>
void triangles_change(benchmark::State& state, Space const& space, std::string const& allocator,
                      std::string const& name, std::size_t size) {
  graph::csr const& c = rows_of(name);
  graph::any_graph g(space, allocator, c.offsets.size() - 1);
  g.build(c);
  std::vector<graph::edge> const batch = fresh_edges(c, size);
  algorithms::incremental_triangles<Space> count(space, g.view());
  std::uint64_t const before = count.total();
  g.attach(count);
  (void)change(space, g, batch);
  for (auto _ : state) state.SetIterationTime(change(space, g, batch));
  if (count.total() != before) state.SkipWithError("triangles were lost");
  g.detach(count);
  state.counters["update_alone_us"] = 1e6 * change(space, g, batch);
  algorithms::triangle_counter<Space> full(space);
  (void)full.count(g.view());
  state.counters["full_count_us"] = 1e6 * seconds(space, [&] { (void)full.count(g.view()); });
}

// The counters are: the time of the updates without maintained result; the time of a full run that starts with the
// ranks before the batch, with ranks and result on the device (full_run_us) or on the host (call_us); and the errors of
// ranks.
template <class Space>
void pagerank_change(benchmark::State& state, Space const& space, std::string const& allocator, std::string const& name,
                     double fraction, double tolerance) {
  graph::csr const& c = rows_of(name);
  graph::any_graph g(space, allocator, c.offsets.size() - 1);
  g.build(c);
  auto const edges = static_cast<double>(c.targets.size() / 2);
  std::vector<graph::edge> const batch = fresh_edges(c, static_cast<std::size_t>(std::max(1.0, fraction * edges)));
  algorithms::incremental_pagerank<Space> ranks(space, g.view(), {.tolerance = tolerance});
  g.attach(ranks);
  (void)change(space, g, batch);
  for (auto _ : state) state.SetIterationTime(change(space, g, batch));
  state.counters["edges"] = static_cast<double>(batch.size());

  std::vector<double> const before = ranks.rank();
  g.insert(batch);
  state.counters["iterations"] = ranks.iterations();
  state.counters["ranked"] = static_cast<double>(ranks.ranked());
  algorithms::pagerank_ranker<Space> full(space);
  algorithms::pagerank_run run;
  auto const rank = [&] {
    exec::copy_in<double>(space, full.rank(), before);
    return seconds(space, [&] { run = full.run(g.view(), {.tolerance = tolerance}, true); });
  };
  full.run(g.view(), {.tolerance = tolerance});
  (void)rank();
  state.counters["full_run_us"] = 1e6 * rank();
  state.counters["full_run_iterations"] = run.iterations;
  state.counters["call_us"] =
      1e6 * seconds(space, [&] {
        benchmark::DoNotOptimize(algorithms::pagerank(space, g.view(), {.tolerance = tolerance, .start = before}).rank);
      });
  std::vector<double> const exact = algorithms::pagerank(space, g.view(), {.tolerance = 1e-13, .start = before}).rank;
  auto const distance = [&](std::vector<double> const& r) {
    double sum = 0;
    for (std::size_t v = 0; v < r.size(); ++v) sum += std::abs(r[v] - exact[v]);
    return sum;
  };
  state.counters["error"] = distance(ranks.rank());
  state.counters["full_run_error"] = distance(exec::copy_out(space, full.rank(), g.vertices()));
  g.erase(batch);
  g.detach(ranks);
  state.counters["update_alone_us"] = 1e6 * change(space, g, batch);
}

// One walk of 80 steps from each vertex, from the call to the end of the last walk; export_us is the transfer of the
// paths to the host.
template <class Space>
void walks(benchmark::State& state, Space const& space, std::string const& storage, std::string const& name,
           std::string const& kind) {
  algorithms::random_walk_options o;
  o.weighted = kind == "weighted";
  graph::graph_view const g = graph_under_test<Space>::get(space, storage, name, false, o.weighted).view();
  if (kind == "node2vec") o.p = 0.5, o.q = 2;
  algorithms::random_walker<Space> walker(space);
  walker.walk(g, o);
  for (auto _ : state) state.SetIterationTime(seconds(space, [&] { walker.walk(g, o); }));
  algorithms::walk_paths paths;
  state.counters["export_us"] = 1e6 * seconds(space, [&] { paths = walker.paths(); });
  auto const steps = static_cast<double>(paths.vertices.size() - (paths.offsets.size() - 1));
  state.counters["steps_per_s"] = benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes_per_step"] = static_cast<double>(walker.pool().granted) / steps;
}

template <class Space>
void clustering(benchmark::State& state, Space const& space, std::string const& storage, std::string const& name) {
  graph::graph_view const g = graph_under_test<Space>::get(space, storage, name, false).view();
  algorithms::clusterer<Space> clusters(space);
  algorithms::clustering_result r;
  auto const run = [&] {
    return seconds(space, [&] {
      clusters.run(g);
      r = clusters.result();
    });
  };
  (void)run();
  for (auto _ : state) state.SetIterationTime(run());
  state.counters["clusters"] = static_cast<double>(r.count);
  state.counters["modularity"] = r.modularity;
  state.counters["iterations"] = r.iterations;
}

// The counters are the times of the updates without maintained result and of a full run, and both modularities, which
// should be similar.
template <class Space>
void clustering_change(benchmark::State& state, Space const& space, std::string const& allocator,
                       std::string const& name, std::size_t size) {
  graph::csr const& c = rows_of(name);
  graph::any_graph g(space, allocator, c.offsets.size() - 1);
  g.build(c);
  std::vector<graph::edge> const batch = fresh_edges(c, size);
  algorithms::incremental_clustering<Space> clusters(space, g.view());
  g.attach(clusters);
  (void)change(space, g, batch);
  for (auto _ : state) state.SetIterationTime(change(space, g, batch));
  state.counters["modularity"] = clusters.modularity();
  g.detach(clusters);
  state.counters["update_alone_us"] = 1e6 * change(space, g, batch);
  algorithms::clusterer<Space> full(space);
  full.run(g.view());
  state.counters["full_run_us"] = 1e6 * seconds(space, [&] { full.run(g.view()); });
  state.counters["full_run_modularity"] = full.modularity();
}

template <class Space>
void bfs(benchmark::State& state, Space const& space, subject const& s, bool pulls) {
  graph::graph_view const g = graph_under_test<Space>::get(space, s.storage, s.name, s.churned).view();
  std::vector<graph::vertex_id> const sources = search_sources(rows_of(s.name));
  algorithms::bfs_searcher<Space> searcher(space);
  (void)searcher.run(g, sources);  // its memory
  double least = 1e9;
  double most = 0;
  double reached = 0;
  for (auto _ : state) {
    double sum = 0;
    reached = 0;
    for (graph::vertex_id const v : sources) {
      algorithms::bfs_run r;
      double const time = seconds(space, [&] { r = searcher.run(g, std::span(&v, 1), {.pull = pulls}); });
      sum += time;
      least = std::min(least, time);
      most = std::max(most, time);
      reached += static_cast<double>(r.reached);
    }
    state.SetIterationTime(sum / static_cast<double>(sources.size()));
  }
  state.counters["least_us"] = 1e6 * least;
  state.counters["most_us"] = 1e6 * most;
  state.counters["reached"] = reached / static_cast<double>(sources.size());
}

template <class Space>
void add_cases(Space const& space) {
  std::string const on = std::string("/") + space.name + "/";
  for (auto const& [name, make] : sources()) {
    std::vector<std::string> storages = graph::any_graph::allocators();
    storages.insert(storages.begin(), "csr");
    for (std::string const& storage : storages)
      for (bool const churned : {false, true}) {
        subject const s{storage, name, churned};
        std::string const what = on + storage + "/" + name + (churned ? "/churned" : "/built");
        for (auto const ranks : {algorithms::precision::fp64, algorithms::precision::fp32})
          for (bool const weighted : {false, true})
            if (storage != "csr" || !weighted)
              add((weighted ? "pagerank_weighted" : "pagerank") + what +
                      (ranks == algorithms::precision::fp64 ? "/fp64" : "/fp32"),
                  [=](benchmark::State& state) { pagerank(state, space, s, ranks, weighted); });
        for (std::size_t const size : {std::size_t{1}, std::size_t{1'000}, std::size_t{100'000}})
          if (storage != "csr" && !churned)
            add("triangles_change" + on + storage + "/" + name + "/edges:" + std::to_string(size),
                [=](benchmark::State& state) { triangles_change(state, space, storage, s.name, size); });
        for (double const fraction : {0.0, 1e-4, 1e-2})
          for (double const tolerance : {1e-4, 1e-6, 1e-8})
            if (storage != "csr" && !churned) {
              std::ostringstream sizes;
              sizes << "/share:" << fraction << "/tolerance:" << tolerance;
              add("pagerank_change" + on + storage + "/" + name + sizes.str(), [=](benchmark::State& state) {
                pagerank_change(state, space, storage, s.name, fraction, tolerance);
              });
            }
        for (std::string const kind : {"uniform", "node2vec", "weighted"})
          if (!churned && (storage != "csr" || kind != "weighted"))
            add("walks" + on + storage + "/" + name + "/" + kind,
                [=](benchmark::State& state) { walks(state, space, storage, s.name, kind); });
        if (!churned)
          add("clustering" + on + storage + "/" + name,
              [=](benchmark::State& state) { clustering(state, space, storage, s.name); });
        for (std::size_t const size : {std::size_t{1}, std::size_t{1'000}, std::size_t{100'000}})
          if (storage != "csr" && !churned)
            add("clustering_change" + on + storage + "/" + name + "/edges:" + std::to_string(size),
                [=](benchmark::State& state) { clustering_change(state, space, storage, s.name, size); });
        auto const whole = [&](std::string const& algorithm, auto const& run) {
          if (!churned)
            add(algorithm + on + storage + "/" + name, [=](benchmark::State& state) {
              graph::graph_view const g = graph_under_test<Space>::get(space, storage, s.name, false).view();
              for (auto _ : state)
                state.SetIterationTime(seconds(space, [&] { benchmark::DoNotOptimize(run(space, g)); }));
            });
        };
        whole("components", [](auto const& there, auto const& g) { return algorithms::components(there, g).count; });
        whole("core_numbers",
              [](auto const& there, auto const& g) { return algorithms::core_numbers(there, g).degeneracy; });
        for (bool const pulls : {true, false})
          if (!churned || pulls)
            add((pulls ? "bfs" : "bfs_push") + on + storage + "/" + name,
                [=](benchmark::State& state) { bfs(state, space, s, pulls); });
        if (storage != "csr" && !churned)
          add("edge_support" + on + storage + "/" + name, [=](benchmark::State& state) {
            graph::graph_view const g = graph_under_test<Space>::get(space, storage, s.name, false).view();
            for (auto _ : state)
              state.SetIterationTime(
                  seconds(space, [&] { benchmark::DoNotOptimize(algorithms::edge_support(space, g)); }));
          });
        add("triangles" + what, [=](benchmark::State& state) { triangles(state, space, s); });
      }
  }
}

}  // namespace
}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([](auto const& space) { wyrm::bench::add_cases(space); });
  return wyrm::bench::run_registered(argc, argv);
}
