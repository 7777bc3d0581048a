// SPDX-License-Identifier: Apache-2.0
// Updates of dynamic graphs with the parameters of the measurements of faimGraph and OuroGraph: batches of random edges
// are inserted into real and generated graphs and erased again, with one arc per edge. The time is wall-clock time from
// the call to its report. The edges are in pinned host memory or in device memory. The alternative, to rebuild a CSR by
// merging the sorted batch into it (rebuild.hpp), is measured as well.
//
//   insert|erase/SPACE/ALLOCATOR/GRAPH/KIND/from:host|device/edges:N
//                                                     KIND: random, pressure, rmat, or diagonal (fgraph.py)
//   build/SPACE/ALLOCATOR/GRAPH/from:host|device      a graph from a CSR
//   memory/SPACE/ALLOCATOR/GRAPH                      its memory after that, relative to the CSR
//   churn/SPACE/ALLOCATOR/GRAPH                       the same after 50 and 100 rounds, which insert and erase 100,000
//                                                     edges each
//   scale/SPACE/ALLOCATOR/rmat:N                      R-MAT with 2^N vertices and 15 arcs per vertex (2^26: 10^9 arcs);
//                                                     then 10^7 more edges, and PageRank
//   star/SPACE/ALLOCATOR                              a vertex with 10^8 neighbours, and erasure of half of them
//   rebuild/SPACE/GRAPH/from:host|device/edges:N      the CSR is rebuilt
//   scaling/SPACE/ALLOCATOR/vertices:2^N/edges:N      whether the time depends on the number of vertices
//
// WYRM_DATA is the folder of the real graphs.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>

#include "../algorithms/pagerank.hpp"
#include "../alloc/registry.hpp"
#include "../datasets/generators.hpp"
#include "../datasets/random.hpp"
#include "../datasets/updates.hpp"
#include "../exec/bulk.hpp"
#include "../exec/host_space.hpp"
#include "../graph/any_graph.hpp"
#include "defaults.hpp"
#include "graphs.hpp"
#include "rebuild.hpp"

namespace wyrm::bench {

namespace {

// An arc as the benchmark of F-Graph draws it: by an R-MAT without permutation, with 2^scale vertices. (Its parameters
// are .5, .1 and .1, but its random numbers are in [0, 2).) Takes `scale` random numbers.
graph::edge draw_diagonal(unsigned scale, datasets::random_numbers random) {
  graph::edge e{0, 0};
  for (unsigned level = 0; level < scale; ++level) {
    std::uint32_t const draw = random.below(20);
    e.source = e.source * 2 + static_cast<graph::vertex_id>(draw >= 6);  // .25 and .05; .05 and .65
    e.target = e.target * 2 + static_cast<graph::vertex_id>(draw >= 7 || draw == 5);
  }
  return e;
}

std::vector<graph::edge> batch_of(std::string const& kind, std::size_t vertices, std::size_t size, std::uint64_t seed) {
  if (kind == "diagonal") {
    auto const scale = static_cast<unsigned>(std::bit_width(vertices - 1)) - 1;
    std::vector<graph::edge> edges(size);
    // On all threads, as F-Graph does, so that few of them sleep when the update begins.
    exec::host_space().run(size, [&](std::size_t i) {
      datasets::random_numbers random(seed << 40);
      random.skip(i * scale);
      edges[i] = draw_diagonal(scale, random);
    });
    return edges;
  }
  if (kind != "rmat")
    return datasets::update_batch(kind == "random" ? datasets::update_kind::random : datasets::update_kind::pressure,
                                  vertices, size, seed);
  std::vector<graph::edge> edges;
  datasets::rmat_edges const edge{static_cast<unsigned>(std::bit_width(vertices - 1)), 1};  // as in the graph
  for (std::uint64_t i = seed << 40; edges.size() < size; ++i)
    if (graph::edge const e = edge(i); e.source < vertices && e.target < vertices) edges.push_back(e);
  return edges;
}

/// The edges of a batch, in pinned host memory and in device memory.
template <class Space>
class batch_memory {
 public:
  batch_memory(Space const& space, std::size_t size) : space_(space), host_(space, size), device_(space, size) {}
  void fill(std::vector<graph::edge> const& edges) {
    std::copy(edges.begin(), edges.end(), host_.data());
    exec::copy_in<graph::edge>(space_, device_.data(), edges);
  }
  [[nodiscard]] std::span<graph::edge const> host() const { return host_.span(); }
  [[nodiscard]] graph::resident_edges device() const { return graph::resident_edges(device_.data(), device_.size()); }

 private:
  Space space_;
  exec::staging_buffer<graph::edge, Space> host_;
  exec::buffer<graph::edge, Space> device_;
};

struct update_case {
  std::string allocator;
  std::string kind;
  bool from_host;
  bool erases;
  std::size_t edges;
};

template <class Space>
void run_updates(benchmark::State& state, Space const& space, update_case const& c, graph::any_graph& g) {
  batch_memory<Space> memory(space, c.edges);
  std::uint64_t seed = 2;
  auto const round = [&](bool erases) {
    memory.fill(batch_of(c.kind, g.vertices(), c.edges, seed++));
    double const inserting = seconds(space, [&] { c.from_host ? g.insert(memory.host()) : g.insert(memory.device()); });
    double const erasing = seconds(space, [&] { c.from_host ? g.erase(memory.host()) : g.erase(memory.device()); });
    return erases ? erasing : inserting;
  };
  for (int i = 0; i < 3; ++i) (void)round(false);  // warm-up: scratch and pool reach their sizes
  for (auto _ : state) state.SetIterationTime(round(c.erases));
  state.counters["edges_per_s"] =
      benchmark::Counter(static_cast<double>(c.edges), benchmark::Counter::kIsIterationInvariantRate);
}

// One arc per edge, and the pool size of the measurements of the other systems.
graph::options settings() {
  graph::options o{.directed = true, .in_neighbours = false};
  o.pool.pool_bytes = std::size_t{2} << 30;
  return o;
}

template <class Space>
void updates(benchmark::State& state, Space const& space, std::string const& name, update_case const& c) {
  graph::edge_list const& list = arcs_of(name);
  graph::any_graph g(space, c.allocator, list.vertices, settings());
  g.insert(list.edges);
  run_updates(state, space, c, g);
}

// A graph of 2^20 edges for each number of vertices.
template <class Space>
void scaling(benchmark::State& state, Space const& space, update_case const& c, unsigned vertices_log2) {
  std::size_t const n = std::size_t{1} << vertices_log2;
  graph::any_graph g(space, c.allocator, n, settings());
  g.insert(datasets::update_batch(datasets::update_kind::random, n, std::size_t{1} << 20, 1));
  run_updates(state, space, c, g);
}

// The same CSR in pinned host memory and in device memory.
template <class Space>
struct rows_memory {
  rows_memory(Space const& space, graph::csr const& c)
      : host_offsets(space, c.offsets.size()),
        host_targets(space, c.targets.size()),
        offsets(space, c.offsets.size()),
        targets(space, c.targets.size()) {
    std::copy(c.offsets.begin(), c.offsets.end(), host_offsets.data());
    std::copy(c.targets.begin(), c.targets.end(), host_targets.data());
    exec::copy_in<std::uint64_t>(space, offsets.data(), c.offsets);
    exec::copy_in<graph::vertex_id>(space, targets.data(), c.targets);
  }
  [[nodiscard]] graph::csr_view host() const { return {host_offsets.span(), host_targets.span()}; }
  [[nodiscard]] graph::resident_csr device() const { return {offsets.data(), targets.data(), targets.size()}; }

  exec::staging_buffer<std::uint64_t, Space> host_offsets;
  exec::staging_buffer<graph::vertex_id, Space> host_targets;
  exec::buffer<std::uint64_t, Space> offsets;
  exec::buffer<graph::vertex_id, Space> targets;
};

template <class Space>
void build(benchmark::State& state, Space const& space, std::string const& allocator, std::string const& name,
           bool from_host) {
  graph::csr const& c = rows_of(name);
  rows_memory<Space> const rows(space, c);
  graph::any_graph g(space, allocator, c.offsets.size() - 1, settings());
  auto const once = [&] {
    g.clear();
    return seconds(space, [&] { from_host ? g.build(rows.host()) : g.build(rows.device()); });
  };
  (void)once();
  for (auto _ : state) state.SetIterationTime(once());
  state.counters["bytes_per_s"] = benchmark::Counter(static_cast<double>(c.targets.size() * sizeof(graph::vertex_id)),
                                                     benchmark::Counter::kIsIterationInvariantRate);
}

void count_memory(benchmark::State& state, graph::any_graph const& g, std::string const& when) {
  graph::memory_report const m = g.memory();
  auto const csr = static_cast<double>((std::size_t{g.vertices()} + 1) * sizeof(std::uint64_t) + m.neighbours);
  state.counters["of_csr" + when] = static_cast<double>(m.total()) / csr;
  state.counters["bytes_per_arc" + when] = static_cast<double>(m.total()) / static_cast<double>(g.arcs());
  auto const part = [&](char const* what, std::size_t bytes) {
    state.counters[what + when] = static_cast<double>(bytes) / csr;
  };
  part("table", m.vertex_table);
  part("pages", m.neighbours + m.slack);
  part("free", m.pool_free);
  part("queues", m.allocator_overhead);
  part("scratch", m.scratch);
}

graph::options small_pool() {
  graph::options o = settings();
  o.pool.pool_bytes = std::size_t{1} << 20;
  return o;
}

template <class Space>
void memory(benchmark::State& state, Space const& space, std::string const& allocator, std::string const& name) {
  graph::csr const& c = rows_of(name);
  rows_memory<Space> const rows(space, c);
  for (auto _ : state) {
    graph::any_graph g(space, allocator, c.offsets.size() - 1, small_pool());
    state.SetIterationTime(seconds(space, [&] { g.build(rows.device()); }));
    count_memory(state, g, "");
  }
}

// Each round inserts edges, and erases those of the round before the last one.
template <class Space>
void churn(benchmark::State& state, Space const& space, std::string const& allocator, std::string const& name) {
  graph::csr const& c = rows_of(name);
  std::size_t const n = c.offsets.size() - 1;
  for (auto _ : state) {
    graph::any_graph g(space, allocator, n, small_pool());
    g.build(c);
    double time = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
      if (round == 50) count_memory(state, g, "_50");
      auto const in = batch_of("random", n, 100'000, round);
      auto const out = batch_of("random", n, 100'000, round - 2);
      time += seconds(space, [&] {
        g.insert(in);
        if (round >= 2) g.erase(out);
      });
    }
    count_memory(state, g, "_100");
    state.SetIterationTime(time);
  }
}

// Each round merges a batch into the same CSR. The first result is compared with a dynamic graph.
template <class Space>
void rebuild(benchmark::State& state, Space const& space, std::string const& name, bool from_host, std::size_t size) {
  graph::csr const& rows = rows_of(name);
  std::size_t const n = rows.offsets.size() - 1;
  batch_memory<Space> memory(space, size);
  rebuilt_csr<Space> csr(space, rows, size);
  std::uint64_t seed = 2;
  auto const round = [&] {
    memory.fill(batch_of("random", n, size, seed++));
    return seconds(space, [&] {
      if (from_host) space.enqueue_copy_in(csr.edges(), memory.host().data(), memory.host().size_bytes());
      csr.insert(from_host ? csr.edges() : memory.device().data, size);
    });
  };
  (void)round();
  graph::options o = small_pool();
  o.self_loops = true;  // like the rebuilt CSR, which keeps them
  graph::any_graph g(space, alloc::default_name, n, o);
  g.build(rows);
  g.insert(memory.host());
  if (csr.result() != g.to_csr()) state.SkipWithError("the CSR is wrong");
  for (auto _ : state) state.SetIterationTime(round());
  state.counters["edges_per_s"] =
      benchmark::Counter(static_cast<double>(size), benchmark::Counter::kIsIterationInvariantRate);
}

struct draw_rmat {
  datasets::rmat_edges edge;
  std::uint64_t first;
  graph::edge* edges;
  WYRM_HD void operator()(std::size_t i) const { edges[i] = edge(first + i); }
};

struct draw_star {
  graph::edge* edges;
  std::uint32_t first;
  std::uint32_t step;
  WYRM_HD void operator()(std::size_t i) const { edges[i] = {first + step * static_cast<std::uint32_t>(i), 0}; }
};

// The time is that of all insertions of edges in device memory.
template <class Space>
void scale(benchmark::State& state, Space const& space, std::string const& allocator, unsigned log2) {
  std::size_t const part = std::size_t{100'000'000} >> (26 - log2);
  constexpr std::size_t more = 10'000'000;
  datasets::rmat_edges const edge{log2, 1};
  for (auto _ : state) {
    graph::any_graph g(space, allocator, std::size_t{1} << log2);
    exec::buffer<graph::edge, Space> edges(space, part);
    double time = 0;
    std::uint64_t drawn = 0;
    while (g.arcs() < std::uint64_t{1'000'000'000} >> (26 - log2)) {
      exec::for_each(space, part, draw_rmat{edge, drawn, edges.data()});
      time += seconds(space, [&] { g.insert(graph::resident_edges(edges.data(), part)); });
      drawn += part;
    }
    state.counters["arcs"] = static_cast<double>(g.arcs());
    exec::staging_buffer<graph::edge, Space> batch(space, more);
    edges.reserve(more);
    exec::for_each(space, more, draw_rmat{edge, drawn, edges.data()});
    space.copy_out(batch.data(), edges.data(), batch.bytes());
    state.counters["insert_10M_ms"] = 1e3 * seconds(space, [&] { g.insert(batch.span()); });
    state.counters["erase_10M_ms"] = 1e3 * seconds(space, [&] { g.erase(batch.span()); });
    algorithms::pagerank_result r;
    state.counters["pagerank_ms"] = 1e3 * seconds(space, [&] { r = algorithms::pagerank(g, {.tolerance = 1e-6}); });
    state.counters["iterations"] = static_cast<double>(r.iterations);
    count_memory(state, g, "");
    if (g.memory().neighbours != g.arcs() * sizeof(graph::vertex_id)) state.SkipWithError("arcs are lost");
    state.SetIterationTime(time);
  }
}

template <class Space>
void star(benchmark::State& state, Space const& space, std::string const& allocator) {
  constexpr std::size_t leaves = 100'000'000;
  for (auto _ : state) {
    graph::any_graph g(space, allocator, leaves + 1);
    exec::buffer<graph::edge, Space> edges(space, leaves);
    exec::for_each(space, leaves, draw_star{edges.data(), 1, 1});
    state.SetIterationTime(seconds(space, [&] { g.insert(graph::resident_edges(edges.data(), leaves)); }));
    exec::for_each(space, leaves / 2, draw_star{edges.data(), 1, 2});
    state.counters["erase_ms"] = 1e3 * seconds(space, [&] {
                                   state.counters["erased"] = static_cast<double>(
                                       g.erase(graph::resident_edges(edges.data(), leaves / 2)).erased);
                                 });
    graph::edge const one{0, 1};
    state.counters["insert_one_ms"] = 1e3 * seconds(space, [&] { g.insert(std::span(&one, 1)); });
    if (g.memory().neighbours != g.arcs() * sizeof(graph::vertex_id)) state.SkipWithError("arcs are lost");
    state.counters["edges"] = static_cast<double>(g.edges());
  }
}

template <class Space>
void add_builds(Space const& space) {
  std::string const on = std::string("/") + space.name + "/";
  for (std::string const& allocator : graph::any_graph::allocators()) {
    for (unsigned log2 : {22u, 26u})
      add("scale" + on + allocator + "/rmat:" + std::to_string(log2),
          [=](benchmark::State& s) { scale(s, space, allocator, log2); });
    add("star" + on + allocator, [=](benchmark::State& s) { star(s, space, allocator); });
    for (auto const& [name, make] : sources()) {
      for (bool const from_host : {true, false})
        add("build" + on + allocator + "/" + name + "/from:" + (from_host ? "host" : "device"),
            [=, graph = name](benchmark::State& s) { build(s, space, allocator, graph, from_host); });
      add("memory" + on + allocator + "/" + name,
          [=, graph = name](benchmark::State& s) { memory(s, space, allocator, graph); });
      add("churn" + on + allocator + "/" + name,
          [=, graph = name](benchmark::State& s) { churn(s, space, allocator, graph); });
    }
  }
}

std::vector<std::size_t> const sizes{1, 1'000, 10'000, 100'000, 1'000'000, 10'000'000};

template <class Space>
void add_cases(Space const& space) {
  std::string const on = std::string("/") + space.name + "/";
  auto const where = [](bool from_host) { return std::string("/from:") + (from_host ? "host" : "device"); };
  for (std::size_t const size : sizes) {
    std::string const edges = "/edges:" + std::to_string(size);
    for (bool const from_host : {true, false}) {
      for (auto const& [name, make] : sources()) {
        for (std::string const& allocator : graph::any_graph::allocators())
          for (std::string const kind : {"random", "pressure", "rmat", "diagonal"})
            for (bool const erases : {false, true})
              add((erases ? "erase" : "insert") + on + allocator + "/" + name + "/" + kind + where(from_host) + edges,
                  [=, graph = name](benchmark::State& s) {
                    updates(s, space, graph, {allocator, kind, from_host, erases, size});
                  });
        add("rebuild" + on + name + where(from_host) + edges,
            [=, graph = name](benchmark::State& s) { rebuild(s, space, graph, from_host, size); });
      }
    }
    for (std::string const& allocator : graph::any_graph::allocators())
      for (unsigned log2 = 16; log2 <= 26; log2 += 2)
        add("scaling" + on + allocator + "/vertices:2^" + std::to_string(log2) + edges, [=](benchmark::State& s) {
          scaling(s, space, {allocator, "random", true, false, size}, log2);
        });
  }
}

}  // namespace
}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([](auto const& space) {
    wyrm::bench::add_cases(space);
    wyrm::bench::add_builds(space);
  });
  return wyrm::bench::run_registered(argc, argv);
}
