// SPDX-License-Identifier: Apache-2.0
// What it costs to keep results up to date. A case is RESULT/SPACE/ALLOCATOR/GRAPH/edges:N. A batch of N edges whose
// ends are two steps apart is inserted and erased again. The time is half of that of both updates with the result
// attached, less that of the same updates without it. The counters are: with_us, alone_us, the two times; full_us, a
// full run on the graph with its memory kept (labels, core numbers and personal_ranks request it anew); share, the time
// as a fraction of it.
//
// ranks, personal_ranks and weighted_ranks are PageRank with a tolerance of 10^-6. A full run of ranks and
// weighted_ranks begins with the ranks before the batch; personal_ranks have 16 sources, and their full run begins anew
// and ends with the ranks on the host. distances and lengths are those of BFS and SSSP from the first vertex that has
// neighbours. weighted_ranks and lengths have values of type float from 1 to 255.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../algorithms/bfs.hpp"
#include "../algorithms/core_numbers.hpp"
#include "../algorithms/incremental_bfs.hpp"
#include "../algorithms/incremental_core_numbers.hpp"
#include "../algorithms/incremental_label_propagation.hpp"
#include "../algorithms/incremental_pagerank.hpp"
#include "../algorithms/incremental_sssp.hpp"
#include "../algorithms/incremental_triangles.hpp"
#include "../algorithms/pagerank.hpp"
#include "../algorithms/personalised_pagerank.hpp"
#include "../algorithms/sssp.hpp"
#include "../algorithms/triangles.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "defaults.hpp"
#include "graph_under_test.hpp"
#include "graphs.hpp"

namespace wyrm::bench {

namespace {

constexpr double tolerance = 1e-6;

// Different edges (u, w) that are not in the graph, where u, v, w is a path.
std::vector<graph::edge> local_edges(graph::csr const& c, std::size_t size) {
  auto const row = [&](graph::vertex_id v) {
    return std::span(c.targets).subspan(c.offsets[v], c.offsets[v + std::size_t{1}] - c.offsets[v]);
  };
  std::vector<graph::edge> batch;
  for (std::uint64_t i = 1; batch.size() < size; ++i) {
    auto const u = static_cast<graph::vertex_id>(scramble(3 * i) % (c.offsets.size() - 1));
    if (row(u).empty()) continue;
    graph::vertex_id const v = row(u)[scramble(3 * i + 1) % row(u).size()];
    graph::vertex_id const w = row(v)[scramble(3 * i + 2) % row(v).size()];
    graph::edge const e{std::min(u, w), std::max(u, w)};
    if (u == w || std::binary_search(row(u).begin(), row(u).end(), w) ||
        std::find(batch.begin(), batch.end(), e) != batch.end())
      continue;
    batch.push_back(e);
  }
  return batch;
}

// The median of the times that f() returns.
template <class F>
double median_of(int calls, F const& f) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) times.push_back(f());
  return median(times);
}

// A graph, and a batch that is inserted and erased again.
template <class Space>
struct subject {
  subject(Space const& space_of_graph, std::string const& allocator, std::string const& name, std::size_t size,
          bool weighted)
      : space(space_of_graph),
        g(graph_under_test<Space>::make(space, allocator, name, false, weighted)),
        batch(local_edges(rows_of(name), size)) {
    if (weighted)
      for (auto const& [u, w] : batch) weights.push_back(weight_of(u, w));
    while (rows_of(name).offsets[source + std::size_t{1}] == rows_of(name).offsets[source]) ++source;
  }
  void insert() { g.insert(batch, weights.empty() ? graph::host_numbers() : graph::host_numbers(weights)); }
  /// Half the time of both updates, in seconds: the median of several.
  double change() {
    return median_of(9, [&] {
      return 0.5 * seconds(space, [&] {
               insert();
               g.erase(batch);
             });
    });
  }

  Space space;
  graph::any_graph g;
  std::vector<graph::edge> batch;
  std::vector<float> weights;
  graph::vertex_id source = 0;
};

// make(subject) returns a maintained result; full(subject) does a full run when it is called, and returns its time.
template <class Space, class Make, class Full>
void add_case(Space const& space, std::string const& label, std::string const& allocator, std::string const& name,
              std::size_t size, bool weighted, Make const& make, Full const& full) {
  add(label, [=](benchmark::State& state) {
    subject<Space> s(space, allocator, name, size, weighted);
    (void)s.change();
    double const alone = s.change();
    auto result = make(s);
    s.g.attach(*result);
    (void)s.change();
    double with = 0;
    for (auto _ : state) {
      with = s.change();
      state.SetIterationTime(std::max(1e-9, with - alone));
    }
    s.g.detach(*result);
    result.reset();
    double const whole = full(s);
    state.counters["with_us"] = 1e6 * with;
    state.counters["alone_us"] = 1e6 * alone;
    state.counters["full_us"] = 1e6 * whole;
    state.counters["share"] = (with - alone) / whole;
  });
}

// The median time of f(), which is called once before.
template <class Space, class F>
double time_of(subject<Space>& s, F const& f) {
  f();
  return median_of(5, [&] { return seconds(s.space, f); });
}

template <class Space>
void add_cases(Space const& space, std::string const& allocator, std::string const& name, std::size_t size) {
  using namespace algorithms;
  auto const add = [&](std::string const& result, bool weighted, auto const& make, auto const& full) {
    add_case(space, result + "/" + space.name + "/" + allocator + "/" + name + "/edges:" + std::to_string(size),
             allocator, name, size, weighted, make, full);
  };
  auto const ranks = [&](std::string const& result, bool weighted, bool personal) {
    auto const jumps = [=] {
      std::vector<weighted_source> to;
      if (personal)
        for (graph::vertex_id const v : search_sources(rows_of(name))) to.push_back({v, 1.0});
      return to;
    };
    add(
        result, weighted,
        [=](subject<Space> const& s) {
          return std::make_unique<incremental_pagerank<Space>>(
              s.space, s.g.view(),
              incremental_pagerank_options{.tolerance = tolerance, .weighted = weighted, .sources = jumps()});
        },
        [=](subject<Space>& s) {
          if (personal) {
            auto const to = jumps();
            return time_of(s, [&] { (void)personalised_pagerank(s.space, s.g.view(), to, {.tolerance = tolerance}); });
          }
          pagerank_ranker<Space> ranker(s.space);
          pagerank_options const o{.tolerance = tolerance, .weighted = weighted};
          (void)ranker.run(s.g.view(), o);
          std::vector<double> const before = exec::copy_out(s.space, ranker.rank(), s.g.view().vertices());
          s.insert();
          double const time = median_of(5, [&] {
            exec::copy_in<double>(s.space, ranker.rank(), before);
            return seconds(s.space, [&] { (void)ranker.run(s.g.view(), o, true); });
          });
          s.g.erase(s.batch);
          return time;
        });
  };
  ranks("ranks", false, false);
  ranks("weighted_ranks", true, false);
  ranks("personal_ranks", false, true);
  add(
      "distances", false,
      [](subject<Space> const& s) {
        return std::make_unique<incremental_bfs<Space>>(s.space, s.g.view(),
                                                        incremental_bfs_options{.source = s.source});
      },
      [](subject<Space>& s) {
        bfs_searcher<Space> searcher(s.space);
        return time_of(s, [&] { (void)searcher.run(s.g.view(), std::span(&s.source, 1)); });
      });
  add(
      "lengths", true,
      [](subject<Space> const& s) {
        return std::make_unique<incremental_sssp<Space>>(s.space, s.g.view(),
                                                         incremental_sssp_options{.source = s.source});
      },
      [](subject<Space>& s) {
        sssp_searcher<Space> searcher(s.space);
        return time_of(s, [&] { (void)searcher.run(s.g.view(), s.source); });
      });
  add(
      "core_numbers", false,
      [](subject<Space> const& s) { return std::make_unique<incremental_core_numbers<Space>>(s.space, s.g.view()); },
      [](subject<Space>& s) { return time_of(s, [&] { (void)core_numbers(s.space, s.g.view()); }); });
  add(
      "labels", false,
      [](subject<Space> const& s) {
        return std::make_unique<incremental_label_propagation<Space>>(s.space, s.g.view());
      },
      [](subject<Space>& s) {
        return time_of(s, [&] { incremental_label_propagation<Space> const again(s.space, s.g.view()); });
      });
  add(
      "triangles", false,
      [](subject<Space> const& s) { return std::make_unique<incremental_triangles<Space>>(s.space, s.g.view()); },
      [](subject<Space>& s) {
        triangle_counter<Space> counter(s.space);
        return time_of(s, [&] { (void)counter.count(s.g.view()); });
      });
}

}  // namespace
}  // namespace wyrm::bench

int main(int argc, char** argv) {
  using namespace wyrm;
  bench::for_each_space([](auto const& space) {
    for (auto const& [name, make] : bench::sources())
      for (std::string const& allocator : graph::any_graph::allocators())
        for (std::size_t const size : {1u, 10u, 100u}) bench::add_cases(space, allocator, name, size);
  });
  return bench::run_registered(argc, argv);
}
