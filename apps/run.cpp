// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "../algorithms/pagerank.hpp"
#include "../algorithms/triangles.hpp"
#include "../exec/device.hpp"
#include "../graph/any_graph.hpp"
#include "progress.hpp"

namespace wyrm::apps {

namespace {

// Milliseconds that f() takes. What it calls hands its result to the host, so device work is over when it returns.
template <class F>
double timed(F const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

bool asked_for(run_options const& o, char const* algorithm) {
  return !o.algorithms || std::find(o.algorithms->begin(), o.algorithms->end(), algorithm) != o.algorithms->end();
}

algorithm_results run_algorithms(run_options const& o, graph::any_graph const& g) {
  algorithm_results results;
  if (asked_for(o, "pagerank")) {
    algorithms::pagerank_result r;
    pagerank_summary s;
    s.ms = timed([&] { r = algorithms::pagerank(g, {.tolerance = o.tolerance}); });
    auto const largest = std::max_element(r.rank.begin(), r.rank.end());
    if (largest != r.rank.end()) {
      s.max = *largest;
      s.argmax = static_cast<std::size_t>(largest - r.rank.begin());
    }
    s.l2 = std::sqrt(std::inner_product(r.rank.begin(), r.rank.end(), r.rank.begin(), 0.0));
    s.sum = std::accumulate(r.rank.begin(), r.rank.end(), 0.0);
    s.iterations = r.iterations;
    s.converged = r.converged;
    s.change = r.change;
    results.pagerank = s;
  }
  if (asked_for(o, "triangles") && !(g.settings().directed && !o.algorithms)) {
    triangles_summary s;
    s.ms = timed([&] { s.total = algorithms::triangles(g).total; });
    results.triangles = s;
  }
  return results;
}

bool has_edge(graph::csr const& g, graph::edge e) {
  auto const row = [&](graph::vertex_id v) { return g.targets.begin() + static_cast<std::ptrdiff_t>(g.offsets[v]); };
  return std::binary_search(row(e.source), row(e.source + 1), e.target);
}

void add(update_result& all, graph::update_report const& one, double ms) {
  all.batch_ms.push_back(ms);
  all.batch_edges.push_back(one.requested);
  all.sum.requested += one.requested;
  all.sum.inserted += one.inserted;
  all.sum.erased += one.erased;
  all.sum.duplicates += one.duplicates;
  all.sum.missing += one.missing;
  all.sum.self_loops += one.self_loops;
}

// Inserts all batches, then erases the same edges, but for those that were there before.
void stream_updates(run_options const& o, graph::any_graph& g, graph::csr const& before, run_result& r) {
  std::vector<std::vector<graph::edge>> batches(o.rounds);
  for (std::size_t i = 0; i < o.rounds; ++i)
    batches[i] = datasets::update_batch(o.updates, g.vertices(), o.batch, o.seed + i);
  {
    progress_bar bar("inserting");
    for (std::size_t i = 0; i < o.rounds; ++i) {
      graph::update_report one;
      double const ms = timed([&] { one = g.insert(batches[i]); });
      add(r.insert, one, ms);
      bar(i + 1, o.rounds);
    }
  }
  for (auto& batch : batches) std::erase_if(batch, [&](graph::edge e) { return has_edge(before, e); });
  progress_bar bar("erasing");
  for (std::size_t i = 0; i < o.rounds; ++i) {
    graph::update_report one;
    double const ms = timed([&] { one = g.erase(batches[o.rounds - 1 - i]); });
    add(r.erase, one, ms);
    bar(i + 1, o.rounds);
  }
}

}  // namespace

std::vector<double> update_result::rates() const {
  std::vector<double> rates;
  for (std::size_t i = 0; i < batch_ms.size(); ++i)
    rates.push_back(static_cast<double>(batch_edges[i]) / batch_ms[i] * 1000);
  std::sort(rates.begin(), rates.end());
  return rates;
}

run_result run(run_options const& o) {
  run_result r;
  exec::any_space const space = exec::make_space(o.device);
  r.device = exec::describe(space);
  graph::edge_list list;
  r.load_ms = timed([&] { list = load_file(o.file); });
  if (list.directed && o.algorithms && asked_for(o, "triangles"))
    throw error(error_code::bad_argument,
                "triangles are counted in undirected graphs, and this one is directed; add --undirected");

  graph::any_graph g(space, o.allocator, list.vertices, {.directed = list.directed});
  r.build_ms = timed([&] { r.build = g.insert(list.edges); });
  list.edges = {};
  if (o.check) g.check();
  r.directed = g.settings().directed;
  r.vertices = g.vertices();
  r.edges = g.edges();
  r.arcs = g.arcs();
  r.memory_built = r.memory_after = g.memory();
  graph::csr const before = g.to_csr();
  r.degrees = summarize_degrees(before);
  r.before = run_algorithms(o, g);
  if (o.rounds == 0 || g.vertices() < 2) return r;

  stream_updates(o, g, before, r);
  r.memory_after = g.memory();
  r.restored = g.to_csr() == before;
  if (!r.restored)
    throw error(error_code::corrupt, "after inserting and erasing the same edges the graph is not what it was");
  if (o.check) g.check();
  r.after = run_algorithms(o, g);
  return r;
}

}  // namespace wyrm::apps
