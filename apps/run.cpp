// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "../algorithms/pagerank.hpp"
#include "../algorithms/triangles.hpp"
#include "progress.hpp"

namespace wyrm::apps {

namespace {

algorithm_results run_algorithms(run_options const& o, loaded_graph const& loaded, vertex_values& values) {
  algorithm_results results;
  if (loaded.pagerank) {
    algorithms::pagerank_result r;
    pagerank_summary s;
    algorithms::pagerank_options const options{.tolerance = o.tolerance, .weighted = o.weighted};
    s.ms = timed([&] { r = algorithms::pagerank(loaded.g, options); });
    static_cast<rank_summary&>(s) = summarize_ranks(r.rank, o.top);
    s.iterations = r.iterations;
    s.converged = r.converged;
    s.change = r.change;
    results.pagerank = std::move(s);
    values.rank = std::move(r.rank);
  }
  if (loaded.triangles) {
    triangles_summary s;
    s.ms = timed([&] { s.total = algorithms::triangles(loaded.g).total; });
    if (o.needs_vertex_triangles()) {
      values.triangles = algorithms::triangles(loaded.g, {.clustering = true});
      s.vertices = summarize_triangles(*values.triangles, o.top);
    }
    results.triangles = std::move(s);
  }
  return results;
}

// The position of an arc in a CSR, if it is there.
std::optional<std::size_t> find_arc(graph::csr const& g, graph::edge e) {
  auto const row = [&](graph::vertex_id v) { return g.targets.begin() + static_cast<std::ptrdiff_t>(g.offsets[v]); };
  auto const at = std::lower_bound(row(e.source), row(e.source + 1), e.target);
  if (at == row(e.source + 1) || *at != e.target) return std::nullopt;
  return static_cast<std::size_t>(at - g.targets.begin());
}

// The weights of a batch that leave those of the loaded graph unchanged; new edges have the weight 1.
std::vector<double> weights_of(std::vector<graph::edge> const& batch, loaded_graph const& loaded) {
  std::vector<double> weights;
  weights.reserve(batch.size());
  for (graph::edge const e : batch) {
    auto const at = find_arc(loaded.rows, e);
    weights.push_back(at ? loaded.weights[*at] : 1);
  }
  return weights;
}

// Inserts all batches, and then erases the same edges except those that the loaded graph has. A batch is drawn when it
// is needed, twice from the same seed: the memory for edges is that of one batch.
void stream_updates(run_options const& o, loaded_graph& loaded, run_result& r) {
  graph::any_graph& g = loaded.g;
  auto const batch = [&](std::size_t i) {
    return datasets::update_batch(o.updates, g.vertices(), o.batch, o.seed + i);
  };
  graph::update_report one;
  {
    progress_bar bar("inserting");
    for (std::size_t i = 0; i < o.rounds; ++i) {
      std::vector<graph::edge> const edges = batch(i);
      std::vector<double> const weights = o.weighted ? weights_of(edges, loaded) : std::vector<double>();
      auto const values = o.weighted ? graph::host_numbers(weights) : graph::host_numbers();
      double const ms = timed([&] { one = g.insert(edges, values); });
      r.insert.add(one, ms);
      bar(i + 1, o.rounds);
    }
  }
  progress_bar bar("erasing");
  for (std::size_t i = 0; i < o.rounds; ++i) {
    std::vector<graph::edge> edges = batch(o.rounds - 1 - i);
    std::erase_if(edges, [&](graph::edge e) { return find_arc(loaded.rows, e).has_value(); });
    double const ms = timed([&] { one = g.erase(edges); });
    r.erase.add(one, ms);
    bar(i + 1, o.rounds);
  }
}

}  // namespace

void add(graph::update_report& sum, graph::update_report const& one) {
  sum.requested += one.requested;
  sum.inserted += one.inserted;
  sum.updated += one.updated;
  sum.unchanged += one.unchanged;
  sum.erased += one.erased;
  sum.duplicates += one.duplicates;
  sum.missing += one.missing;
  sum.self_loops += one.self_loops;
}

void update_result::add(graph::update_report const& batch, double ms) {
  batch_ms.push_back(ms);
  batch_edges.push_back(batch.requested);
  apps::add(sum, batch);
}

namespace {
void run_updates(run_options const& o, loaded_graph& loaded, run_result& r) {
  graph::any_graph& g = loaded.g;
  stream_updates(o, loaded, r);
  r.memory_after = g.memory();
  r.restored = g.to_csr() == loaded.rows && (!o.weighted || g.values<double>() == loaded.weights);
  if (!r.restored)
    throw error(error_code::corrupt,
                "after insertion and erasure of the same edges the graph differs from the loaded one");
  if (o.check) g.check();
  r.after = run_algorithms(o, loaded, r.values);
}
}  // namespace

run_result run(run_options const& o) {
  loaded_graph loaded = load_graph(o);
  run_result r;
  r.loaded = std::move(loaded.summary);
  r.memory_after = r.loaded.memory;
  r.before = run_algorithms(o, loaded, r.values);
  if (o.rounds > 0 && loaded.g.vertices() >= 2) run_updates(o, loaded, r);
  r.residency = loaded.residency();
  return r;
}

}  // namespace wyrm::apps
