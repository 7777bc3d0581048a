// SPDX-License-Identifier: Apache-2.0
// A graph whose pool is in memory of the device, in managed memory, or in memory of the host, in one run:
//
//   updates/SPACE/ALLOCATOR/KIND/GRAPH/edges:N    insertions of N random edges, from pinned memory of the host
//   pagerank/SPACE/ALLOCATOR/KIND/GRAPH           an iteration of PageRank: the difference between two runs, divided
//
// KIND is device, managed or host. The table of vertices is in memory of the device for all kinds, so what a kernel
// takes over the bus is rows. Counters:
//
//   of_device    the time relative to that of KIND device, if the same run has measured that before
//   requests     (updates) the least number of lines of 128 bytes that cross the bus: those of the rows to which the
//   batch
//                adds edges, once; requests_per_s, and of_bus: the time relative to that of 48 million requests a
//                second
//   bytes        (pagerank) of the lines of all rows; bytes_per_s, and of_bus: the time relative to 51 GB/s
//
// 48 million requests and 51 GB a second are what the bus of an H200 allows. of_bus says nothing of memory of the
// device. WYRM_DATA is the folder of the real graphs. Managed memory is warm: it is on the device when the time begins.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../algorithms/pagerank.hpp"
#include "../datasets/updates.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "defaults.hpp"
#include "graphs.hpp"

namespace wyrm::bench {

namespace {

constexpr double bus_requests = 48e6;  // a second
constexpr double bus_bytes = 51e9;
constexpr std::uint64_t line = 128;

std::uint64_t lines_of(std::uint64_t degree) { return (degree * sizeof(graph::vertex_id) + line - 1) / line; }
std::uint64_t degree_of(graph::csr const& rows, graph::vertex_id v) { return rows.offsets[v + 1] - rows.offsets[v]; }

/// Reports a time of a case, with its counters.
class case_report {
 public:
  case_report(benchmark::State& state, std::string const& subject, exec::memory_kind kind)
      : state_(state), subject_(subject), kind_(kind) {}
  /// `bus`: the seconds that the bus takes for what crosses it.
  void finish(std::vector<double> const& times, double bus) {
    static std::map<std::string, double> on_device;  // by subject
    double const time = median(times);
    if (kind_ == exec::memory_kind::device) on_device[subject_] = time;
    if (auto const at = on_device.find(subject_); at != on_device.end())
      state_.counters["of_device"] = time / at->second;
    state_.counters["of_bus"] = time / bus;
  }
  void per_second(char const* what, double amount, std::vector<double> const& times) {
    state_.counters[what] = amount;
    state_.counters[std::string(what) + "_per_s"] = amount / median(times);
  }

 private:
  benchmark::State& state_;
  std::string subject_;
  exec::memory_kind kind_;
};

template <class Space>
graph::any_graph graph_in(Space const& space, std::string const& allocator, exec::memory_kind kind,
                          graph::csr const& rows, bool in_neighbours) {
  graph::options o{.directed = true, .in_neighbours = in_neighbours};
  o.pool.memory = kind;
  o.pool.pool_bytes = 4 * rows.targets.size() * sizeof(graph::vertex_id) + (std::size_t{64} << 20);
  if (allocator == "align-malloc+small") o.pool.pool_bytes *= 2;  // half of it is for pages below 4 KiB
  o.pool.reserve_bytes = 2 * o.pool.pool_bytes;
  graph::any_graph g(space, allocator, rows.offsets.size() - 1, o);
  g.build(rows);
  return g;
}

template <class Space>
void updates(benchmark::State& state, Space const& space, std::string const& allocator, exec::memory_kind kind,
             std::string const& name) {
  try {
    graph::csr const& rows = rows_of(name);
    auto const edges = static_cast<std::size_t>(state.range(0));
    std::size_t const n = rows.offsets.size() - 1;
    graph::any_graph g = graph_in(space, allocator, kind, rows, false);
    exec::staging_buffer<graph::edge, Space> batch(space, edges);
    std::vector<double> times;
    std::vector<double> requests;
    std::uint64_t seed = 1;
    auto const round = [&] {
      std::vector<graph::edge> const drawn = datasets::update_batch(datasets::update_kind::random, n, edges, seed++);
      std::copy(drawn.begin(), drawn.end(), batch.data());
      std::vector<graph::vertex_id> sources(edges);
      std::transform(drawn.begin(), drawn.end(), sources.begin(), [](graph::edge const& e) { return e.source; });
      std::sort(sources.begin(), sources.end());
      sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
      std::uint64_t lines = 0;
      for (graph::vertex_id const v : sources) lines += std::max<std::uint64_t>(lines_of(degree_of(rows, v)), 1);
      double const time = seconds(space, [&] { g.insert(batch.span()); });
      g.erase(batch.span());  // so that the rows stay as they are, but for edges that were there before
      times.push_back(time);
      requests.push_back(static_cast<double>(lines));
      return time;
    };
    for (int i = 0; i < 2; ++i) (void)round();  // scratch and pool reach their sizes
    times.clear();
    requests.clear();
    for (auto _ : state) state.SetIterationTime(round());
    case_report r(state, "updates/" + allocator + "/" + name + "/" + std::to_string(edges), kind);
    r.finish(times, median(requests) / bus_requests);
    r.per_second("requests", median(requests), times);
    state.counters["edges_per_s"] = static_cast<double>(edges) / median(times);
  } catch (error const& refused) {
    state.SkipWithError(refused.what());
  }
}

template <class Space>
void pagerank(benchmark::State& state, Space const& space, std::string const& allocator, exec::memory_kind kind,
              std::string const& name) {
  constexpr unsigned few = 2;
  constexpr unsigned many = 12;
  try {
    graph::csr const& rows = rows_of(name);
    graph::any_graph g = graph_in(space, allocator, kind, rows, true);  // ranks are pulled from in-neighbours
    algorithms::pagerank_options p{.tolerance = 1e-300};
    p.hubs_first_from = ~std::uint64_t{0};  // else iterations would read a copy of the arcs in memory of the device
    std::vector<double> ranks;
    auto const run = [&](unsigned iterations) {
      p.max_iterations = iterations;
      return seconds(space, [&] { ranks = algorithms::pagerank(g, p).rank; });
    };
    (void)run(few);
    std::vector<double> times;
    for (auto _ : state) {
      double const start_and_few = run(few);
      times.push_back(std::max((run(many) - start_and_few) / (many - few), 1e-9));
      state.SetIterationTime(times.back());
    }
    static std::map<std::string, std::vector<double>> known;  // of the first kind
    if (known.try_emplace(allocator + name, ranks).first->second.size() != ranks.size())
      return state.SkipWithError("the ranks of another kind of memory differ");
    double worst = 0;
    for (std::size_t v = 0; v < ranks.size(); ++v)
      worst = std::max(worst, std::abs(ranks[v] - known[allocator + name][v]));
    if (worst > 1e-12) return state.SkipWithError("the ranks of another kind of memory differ");
    std::vector<std::uint64_t> degrees(rows.offsets.size() - 1);
    for (graph::vertex_id const v : rows.targets) ++degrees[v];
    std::uint64_t lines = 0;
    for (std::uint64_t const degree : degrees) lines += lines_of(degree);
    case_report r(state, "pagerank/" + allocator + "/" + name, kind);
    r.finish(times, static_cast<double>(lines * line) / bus_bytes);
    r.per_second("bytes", static_cast<double>(lines * line), times);
  } catch (error const& refused) {
    state.SkipWithError(refused.what());
  }
}

template <class Space>
void add_space(Space const& space) {
  for (auto const& [name, make] : sources())
    for (std::string const allocator : {"ouroboros-s-p", "ouroboros-va-p", "align-malloc+small"})
      for (exec::memory_kind const kind : exec::memory_kinds) {
        std::string const where =
            std::string("/") + Space::name + "/" + allocator + "/" + exec::to_string(kind) + "/" + name;
        add("updates" + where, [=, graph = name](benchmark::State& s) { updates(s, space, allocator, kind, graph); })
            ->ArgName("edges")
            ->ArgsProduct({{10'000, 100'000, 1'000'000}})
            ->Iterations(5);
        add("pagerank" + where, [=, graph = name](benchmark::State& s) {
          pagerank(s, space, allocator, kind, graph);
        })->Iterations(5);
      }
}

}  // namespace

}  // namespace wyrm::bench

int main(int argc, char** argv) {
  wyrm::bench::for_each_space([](auto const& space) { wyrm::bench::add_space(space); });
  return wyrm::bench::run_registered(argc, argv);
}
