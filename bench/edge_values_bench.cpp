// SPDX-License-Identifier: Apache-2.0
// What values of edges, mixed batches and in-neighbours cost: batches of random edges are inserted into a graph of
// 2^20 vertices and erased again, with one arc per edge, as in updates_bench; or a batch of which every second entry
// erases an edge of the batch before. The time is wall-clock time from the call to its report.
//
//   insert|erase|mixed/SPACE/GRAPH/value:BYTES/in:0|1/from:host|device/edges:N
//   insert_shared|erase_shared/...      a snapshot has all pages, so those that the batch changes are replaced
//   give_back_shared/...                an update without changes, which frees the pages that a batch of erasures has
//                                       replaced, after the end of their snapshot
//   snapshot/SPACE/vertices:2^N         a snapshot of a graph with 2^N vertices, of which every 16th has an edge
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../alloc/registry.hpp"
#include "../datasets/generators.hpp"
#include "../datasets/updates.hpp"
#include "../graph/dynamic_graph.hpp"
#include "defaults.hpp"

namespace wyrm::bench {

namespace {

struct sixteen_bytes {
  std::uint64_t low;
  std::uint64_t high;
};

enum class update { insert, erase, mixed, give_back };

struct value_bench_case {
  std::string graph;
  update what;
  bool in_neighbours;
  bool from_host;
  std::size_t edges;
  bool shared = false;
};

std::vector<graph::edge> const& arcs_of(std::string const& name) {
  static std::map<std::string, std::vector<graph::edge>> made;
  auto const [at, is_new] = made.try_emplace(name);
  std::vector<graph::edge>& edges = at->second;
  if (!is_new) return edges;
  edges = (name == "rmat-20" ? datasets::rmat(20, 16, 1) : datasets::random_geometric(std::size_t{1} << 20, 1)).edges;
  for (std::size_t i = 0, n = edges.size(); i < n; ++i) edges.push_back({edges[i].target, edges[i].source});
  return edges;
}

/// An array in pinned host memory, and in memory of the space.
template <class T, class Space>
struct both_memories {
  both_memories(Space const& space, std::size_t n) : space(space), host(space, n), device(space, n) {}
  void fill(std::vector<T> const& values) {
    std::copy(values.begin(), values.end(), host.data());
    exec::copy_in<T>(space, device.data(), values);
  }
  [[nodiscard]] std::span<T const> span() const { return host.span(); }
  Space space;
  exec::staging_buffer<T, Space> host;
  exec::buffer<T, Space> device;
};

template <class Space, class Value>
void run(benchmark::State& state, Space const& space, value_bench_case const& c) {
  constexpr unsigned width = graph::width_of<Value>;
  constexpr bool has_values = width > 0;
  using graph_type = graph::dynamic_graph<Space, alloc::ouroboros_s_p<Space>, Value>;
  graph::options o{.directed = true, .in_neighbours = c.in_neighbours};
  o.pool.pool_bytes = std::size_t{2} << 30;
  std::size_t const n = std::size_t{1} << 20;
  graph_type g(space, n, o);
  {
    std::vector<graph::edge> const& all = arcs_of(c.graph);
    if constexpr (has_values)
      g.insert(all, std::vector<Value>(all.size()));
    else
      g.insert(all);
  }
  both_memories<graph::edge, Space> edges(space, c.edges);
  both_memories<graph::operation, Space> operations(space, c.edges);
  both_memories<Value, Space> values(space, has_values ? c.edges : 1);
  if constexpr (has_values) values.fill(std::vector<Value>(c.edges, Value{}));
  std::vector<graph::operation> alternating(c.edges, graph::operation::insert);
  for (std::size_t i = 0; i < c.edges; i += 2) alternating[i] = graph::operation::erase;
  operations.fill(alternating);
  graph::resident_edges const there(edges.device.data(), c.edges);
  auto const insert = [&] {
    if constexpr (has_values)
      c.from_host ? g.insert(edges.span(), values.span()) : g.insert(there, values.device.data());
    else
      c.from_host ? g.insert(edges.span()) : g.insert(there);
  };
  auto const erase = [&] { c.from_host ? g.erase(edges.span()) : g.erase(there); };
  auto const mix = [&] {
    if constexpr (has_values)
      c.from_host ? g.apply(edges.span(), operations.span(), values.span())
                  : g.apply(there, operations.device.data(), values.device.data());
    else
      c.from_host ? g.apply(edges.span(), operations.span()) : g.apply(there, operations.device.data());
  };
  std::uint64_t seed = 2;
  std::vector<graph::edge> last(c.edges, graph::edge{0, 1});
  auto const round = [&] {
    std::vector<graph::edge> batch = datasets::update_batch(datasets::update_kind::random, n, c.edges, seed++);
    if (c.what == update::mixed) {
      std::vector<graph::edge> const inserted = batch;
      for (std::size_t i = 0; i + 1 < c.edges; i += 2) batch[i] = last[i + 1];
      last = inserted;
      edges.fill(batch);
      return seconds(space, mix);
    }
    edges.fill(batch);
    std::optional<graph::snapshot> kept;
    // The update that begins next is not to free the pages of the snapshot before.
    auto const share = [&] {
      if (c.shared) kept = g.snapshot();
      return seconds(space, [&] { g.erase({{0, 0}}); });
    };
    (void)share();
    double const inserting = seconds(space, insert);
    (void)share();
    double const erasing = seconds(space, erase);
    double const giving_back = share();
    return c.what == update::insert ? inserting : c.what == update::erase ? erasing : giving_back;
  };
  for (int i = 0; i < 3; ++i) (void)round();  // warm-up: scratch and pool reach their sizes
  for (auto _ : state) state.SetIterationTime(round());
}

template <class Space>
void take_snapshots(benchmark::State& state, Space const& space, unsigned log2) {
  std::size_t const n = std::size_t{1} << log2;
  graph::dynamic_graph<Space, alloc::ouroboros_s_p<Space>> g(space, n, {.directed = true, .in_neighbours = false});
  std::vector<graph::edge> edges;
  for (std::size_t v = 0; v + 1 < n; v += 16)
    edges.push_back({static_cast<graph::vertex_id>(v), static_cast<graph::vertex_id>(v + 1)});
  g.insert(edges);
  for (int i = 0; i < 2; ++i) (void)g.snapshot();  // the memory of an ended snapshot is used again
  for (auto _ : state) {
    std::optional<graph::snapshot> taken;
    state.SetIterationTime(seconds(space, [&] { taken = g.snapshot(); }));
    taken.reset();
    g.erase({{1, 0}});  // frees its pages
  }
}

template <class Space>
void add_cases(Space const& space) {
  for (unsigned const log2 : {20u, 24u})
    add(std::string("snapshot/") + space.name + "/vertices:2^" + std::to_string(log2),
        [=](benchmark::State& s) { take_snapshots(s, space, log2); });
  for (std::string const graph : {"rgg-20", "rmat-20"})
    for (std::size_t const size : {10'000u, 100'000u, 1'000'000u})
      for (bool const in : {false, true})
        for (bool const from_host : {false, true})
          for (update const what : {update::insert, update::erase, update::mixed, update::give_back}) {
            value_bench_case const c{graph, what, in, from_host, size};
            auto const name = [&](unsigned bytes) {
              std::string const kind = what == update::insert  ? "insert"
                                       : what == update::erase ? "erase"
                                       : what == update::mixed ? "mixed"
                                                               : "give_back";
              return kind + "/" + space.name + "/" + graph + "/value:" + std::to_string(bytes) +
                     "/in:" + std::to_string(in) + "/from:" + (from_host ? "host" : "device") +
                     "/edges:" + std::to_string(size);
            };
            if (what != update::mixed && !in && !from_host) {
              value_bench_case shared = c;
              shared.shared = true;
              auto const named = [&](unsigned bytes) { return name(bytes).insert(name(bytes).find('/'), "_shared"); };
              add(named(0), [=](benchmark::State& s) { run<Space, graph::no_value>(s, space, shared); });
              add(named(4), [=](benchmark::State& s) { run<Space, float>(s, space, shared); });
            }
            if (what == update::give_back) continue;
            add(name(0), [=](benchmark::State& s) { run<Space, graph::no_value>(s, space, c); });
            add(name(4), [=](benchmark::State& s) { run<Space, float>(s, space, c); });
            add(name(8), [=](benchmark::State& s) { run<Space, double>(s, space, c); });
            add(name(16), [=](benchmark::State& s) { run<Space, sixteen_bytes>(s, space, c); });
          }
}

}  // namespace
}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([](auto const& space) { wyrm::bench::add_cases(space); });
  return wyrm::bench::run_registered(argc, argv);
}
