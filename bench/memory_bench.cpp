// SPDX-License-Identifier: Apache-2.0
// The memory of a graph, without scratch, relative to a CSR with offsets of 8 bytes: after build(), after one insertion
// of all edges, and after 100 rounds of churn. A round inserts random edges, a share of those of the graph, and erases
// the edges that were inserted two rounds earlier. The time is that of the construction and of the rounds, by the
// clock.
//
//   memory/SPACE/GRAPH/built|inserted|churn:1%|churn:10%
//
// Counters: times_csr; largest, the same after the round in which it was largest; and the parts of the memory in bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../alloc/ouroboros/ouroboros.hpp"
#include "../datasets/updates.hpp"
#include "../graph/dynamic_graph.hpp"
#include "defaults.hpp"
#include "graphs.hpp"

namespace wyrm::bench {

namespace {

constexpr std::uint64_t rounds = 100;

template <class Graph>
double times_csr(Graph const& g) {
  graph::memory_report const m = g.memory();
  auto const csr = static_cast<double>(8 * (std::size_t{g.vertices()} + 1) + 4 * g.arcs());
  return static_cast<double>(m.total() - m.scratch) / csr;
}

/// percent = 0: without churn.
template <class Space>
void run_memory(benchmark::State& state, Space const& space, std::string const& name, bool built, unsigned percent) {
  using graph_type = graph::dynamic_graph<Space, alloc::ouroboros_va_p<Space>>;
  graph::csr const& rows = rows_of(name);
  std::size_t const n = rows.offsets.size() - 1;
  std::size_t const edges = rows.targets.size() / 2;
  graph::options o;
  o.pool.pool_bytes = std::size_t{1} << 20;
  for (auto _ : state) {
    graph_type g(space, n, o);
    double largest = 0;
    double time = seconds(space, [&] {
      if (built)
        g.build(rows);
      else
        (void)g.insert(arcs_of(name).edges);
    });
    for (std::uint64_t round = 0; percent > 0 && round < rounds; ++round) {
      auto const batch_of = [&](std::uint64_t i) {
        return datasets::update_batch(datasets::update_kind::random, n, edges * percent / 100, i);
      };
      std::vector<graph::edge> const inserted = batch_of(round);
      std::vector<graph::edge> const erased = round < 2 ? std::vector<graph::edge>() : batch_of(round - 2);
      time += seconds(space, [&] {
        (void)g.insert(inserted);
        if (!erased.empty()) (void)g.erase(erased);
      });
      largest = std::max(largest, times_csr(g));
    }
    state.SetIterationTime(time);
    graph::memory_report const m = g.memory();
    state.counters["times_csr"] = times_csr(g);
    state.counters["largest"] = std::max(largest, times_csr(g));
    state.counters["arcs"] = static_cast<double>(g.arcs());
    state.counters["table"] = static_cast<double>(m.vertex_table);
    state.counters["neighbours"] = static_cast<double>(m.neighbours);
    state.counters["slack"] = static_cast<double>(m.slack);
    state.counters["pool_free"] = static_cast<double>(m.pool_free);
    state.counters["overhead"] = static_cast<double>(m.allocator_overhead);
  }
}

template <class Space>
void add_memory(Space const& space) {
  for (std::string const name : {"coAuthorsDBLP", "rgg-20", "rmat-20"}) {
    if (!sources().contains(name)) continue;
    auto const add_case = [&](std::string const& how, bool built, unsigned percent) {
      add("memory/" + std::string(Space::name) + "/" + name + "/" + how, [=](benchmark::State& s) {
        run_memory(s, space, name, built, percent);
      })->Iterations(1);
    };
    add_case("built", true, 0);
    add_case("inserted", false, 0);
    add_case("churn:1%", true, 1);
    add_case("churn:10%", true, 10);
  }
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([](auto const& space) { wyrm::bench::add_memory(space); });
  return wyrm::bench::run_registered(argc, argv);
}
