// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "generate.hpp"
#include "progress.hpp"

namespace wyrm::apps {

namespace {

std::vector<named_result> run_algorithms(run_options const& o, loaded_graph const& loaded, run_result& r) {
  std::vector<named_result> results;
  r.values.clear();
  algorithm_input const in{.g = loaded.g,
                           .rows = loaded.rows,
                           .weights = loaded.weights,
                           .source = r.source,
                           .weighted = o.weighted,
                           .tolerance = o.tolerance,
                           .top = o.top,
                           .per_vertex = o.needs_vertex_triangles(),
                           .sources = o.sources,
                           .seed = o.seed};
  for (algorithm const* const a : o.selected()) {
    if (a->undirected && loaded.g.settings().directed) continue;
    results.push_back({a, a->run(in)});
    value_table values = std::exchange(results.back().result.values, {});
    if (!o.output.empty()) r.values.push_back({a->name, std::move(values)});
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
  r.after = run_algorithms(o, loaded, r);
}

run_result run_once(run_options const& o) {
  loaded_graph loaded = load_graph(o);
  run_result r;
  r.loaded = std::move(loaded.summary);
  r.memory_after = r.loaded.memory;
  r.source = find_source(o, loaded.rows, r.loaded.ids);
  for (algorithm const* const a : o.selected())
    if (a->undirected && r.loaded.directed) r.left_out.push_back(a);
  r.before = run_algorithms(o, loaded, r);
  if (o.rounds > 0 && loaded.g.vertices() >= 2) run_updates(o, loaded, r);
  r.residency = loaded.residency();
  return r;
}

// How many bytes of --device-memory are enough for a run that has failed with less, as the run itself shows with a
// budget that grows. With a larger budget blocks and scratch are larger, too, so the budget is enough only when it need
// not grow any more. Nothing if that is never the case, if the device has less, or if the graph cannot be read again.
std::optional<std::size_t> enough_device_memory(run_options o) {
  if (!is_generated(o.file.name) && !std::filesystem::is_regular_file(o.file.name)) return std::nullopt;
  std::fputs("wyrm: the run does not fit; it is repeated with more memory to find out how much it needs\n", stderr);
  try {
    for (int trials = 0; trials < 4; ++trials) {
      o.trial = std::make_shared<alloc::residency::growing_budget>(o.device_memory);
      (void)run_once(o);
      std::size_t const most = o.trial->limit();
      if (most == std::exchange(o.device_memory, most)) return most;
    }
  } catch (error const& e) {
    if (e.code() != error_code::out_of_memory && e.code() != error_code::device) throw;
  } catch (std::bad_alloc const&) {
  }
  return std::nullopt;
}

}  // namespace

run_result run(run_options const& o) {
  if (o.sources && !o.asks_for("betweenness"))
    throw error(error_code::bad_argument, "--sources: betweenness is not selected; leave it out");
  try {
    return run_once(o);
  } catch (error const& e) {
    if (e.code() != error_code::out_of_memory || o.device_memory == 0) throw;
    if (auto const enough = enough_device_memory(o))
      throw error(e.code(), std::string(e.what()) + "; this run needs --device-memory " + std::to_string(*enough));
    throw;
  }
}

}  // namespace wyrm::apps
