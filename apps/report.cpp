// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <ostream>
#include <string_view>
#include <variant>

#include "json_output.hpp"

namespace wyrm::apps {

namespace {

void write_memory(json& j, char const* name, graph::memory_report const& m) {
  j.object(name, [&] {
    j.field("vertex_table", m.vertex_table);
    j.field("neighbours", m.neighbours);
    j.field("slack", m.slack);
    j.field("pool_free", m.pool_free);
    j.field("pool_committed", m.pool_committed);
    j.field("pool_reserved", m.pool_reserved);
    j.field("allocator_overhead", m.allocator_overhead);
    j.field("scratch", m.scratch);
    j.field("total", m.total());
  });
}

// `counts` writes the counts that only some kinds of updates have.
template <class F>
void write_updates(json& j, char const* name, update_result const& u, F const& counts) {
  std::vector<double> const rates = u.rates();
  j.object(name, [&] {
    j.field("batches", std::uint64_t{u.batch_ms.size()});
    j.field("edges", u.sum.requested);
    j.field("edges_per_second", rates.empty() ? 0.0 : rates[rates.size() / 2]);
    j.field("edges_per_second_min", rates.empty() ? 0.0 : rates.front());
    j.field("edges_per_second_max", rates.empty() ? 0.0 : rates.back());
    counts();
    j.field("duplicates", u.sum.duplicates + u.sum.unchanged);
    j.field("self_loops", u.sum.self_loops);
    j.list("batch_edges", u.batch_edges, write_number);
    j.list("batch_ms", u.batch_ms, write_number);
  });
}

template <class T>
void write_top(json& j, vertex_ids const& ids, std::vector<vertex_value<T>> const& top, char const* name) {
  j.objects("top", top, [&](vertex_value<T> const& one) {
    j.field("vertex", one.vertex);
    write_id(j, "id", ids, one.vertex);
    j.field(name, one.value);
  });
}

void write_ranks(json& j, vertex_ids const& ids, rank_summary const& r) {
  j.field("max", r.max);
  if (r.argmax) {
    j.field("argmax", std::uint64_t{*r.argmax});
    write_id(j, "argmax_id", ids, *r.argmax);
  } else {
    j.null("argmax");
    j.null("argmax_id");
  }
  j.field("l2", r.l2);
  j.field("sum", r.sum);
  write_top(j, ids, r.top, "rank");
}

void write_maintained_ranks(json& j, vertex_ids const& ids, maintained_ranks const& p) {
  write_ranks(j, ids, p);
  j.field("iterations", p.iterations);
  j.field("ranked", p.ranked);
  j.field("converged", p.converged);
  j.field("ms", p.ms);
}

void write_triangles(json& j, vertex_ids const& ids, triangles_summary const& t) {
  j.field("total", t.total);
  if (t.vertices) {
    j.field("average_clustering", t.vertices->average_clustering);
    j.field("global_clustering", t.vertices->global_clustering);
  } else {
    j.null("average_clustering");
    j.null("global_clustering");
  }
  write_top(j, ids, t.vertices ? t.vertices->top : std::vector<vertex_value<std::uint64_t>>(), "triangles");
  j.field("ms", t.ms);
}

// Writes null for a result that was not computed.
template <class T, class F>
void write_result(json& j, char const* name, vertex_ids const& ids, std::optional<T> const& result, F const& write) {
  if (!result) return j.null(name);
  j.object(name, [&] { write(j, ids, *result); });
}

template <class Json>
void write_figure(Json& j, vertex_ids const& ids, figure const& f) {
  struct visitor {
    Json& j;
    vertex_ids const& ids;
    std::string const& name;
    void operator()(std::monostate) const { j.null(name.c_str()); }
    void operator()(bool value) const { j.field(name.c_str(), value); }
    void operator()(std::uint64_t value) const { j.field(name.c_str(), value); }
    void operator()(double value) const { j.field(name.c_str(), value); }
    void operator()(figure::vertex v) const {
      j.field(name.c_str(), std::uint64_t{v.number});
      write_id(j, (name + "_id").c_str(), ids, v.number);
    }
  };
  std::visit(visitor{j, ids, f.name}, f.value);
}

void write_figures(json& j, vertex_ids const& ids, algorithm_result const& r) {
  for (figure const& f : r.figures) write_figure(j, ids, f);
  for (figure const& f : r.detail_figures) write_figure(j, ids, f);
  if (*r.top.title != '\0')
    j.objects("top", r.top.entries, [&](ranking::entry const& one) {
      j.field("vertex", one.vertex);
      write_id(j, "id", ids, one.vertex);
      std::visit([&](auto value) { j.field(r.top.name, value); }, one.value);
    });
  j.field("ms", r.ms);
}

void write_source(json& j, algorithm const& a, std::optional<graph::vertex_id> source, vertex_ids const& ids) {
  if (!a.source || !source) return;
  j.field("source", std::uint64_t{*source});
  write_id(j, "source_id", ids, *source);
}

// Writes the results on the graph as loaded, each with the result after the updates as a member; null for one that was
// left out. PageRank and triangles are in all reports.
void write_results(json& j, run_options const& o, run_result const& r) {
  auto const find = [](std::vector<named_result> const& results, algorithm const& a) -> algorithm_result const* {
    for (named_result const& one : results)
      if (one.of == &a) return &one.result;
    return nullptr;
  };
  for (algorithm const& a : all_algorithms()) {
    algorithm_result const* const before = find(r.before, a);
    if (before == nullptr) {
      if (graph_options{}.asks_for(a.name) || o.asks_for(a.name)) j.null(a.name);
      continue;
    }
    j.object(a.name, [&] {
      write_source(j, a, r.source, r.loaded.ids);
      write_figures(j, r.loaded.ids, *before);
      algorithm_result const* const after = find(r.after, a);
      if (after == nullptr) return j.null("after_updates");
      j.object("after_updates", [&] { write_figures(j, r.loaded.ids, *after); });
    });
  }
}

// Writes the common parameters of `run` and `stream`; `others` writes those of one command only.
template <class F>
void write_parameters(json& j, graph_options const& o, F const& others) {
  j.object("parameters", [&] {
    write_file_parameters(j, o.file, o);
    j.field("allocator", o.allocator);
    others();
    if (o.algorithms)
      j.list("algorithms", *o.algorithms, write_string);
    else
      j.null("algorithms");
    j.field("tolerance", o.tolerance);
    j.field("top", std::uint64_t{o.top});
  });
}

void write_distribution(json& j, char const* name, degree_summary const& d) {
  j.object(name, [&] {
    j.field("min", d.min);
    j.field("median", d.median);
    j.field("mean", d.mean);
    j.field("p99", d.p99);
    j.field("max", d.max);
    j.field("zero", d.zero);
    j.list("histogram", d.histogram, write_number);
  });
}

void write_devices(json& j, std::string const& device, std::string const& generated_on) {
  j.field("device", device);
  if (generated_on.empty())
    j.null("generated_on");
  else
    j.field("generated_on", generated_on);
}

void write_loaded(json& j, graph_summary const& g) {
  write_devices(j, g.device, g.generated_on);
  j.object("graph", [&] {
    j.field("vertices", g.vertices);
    j.field("edges", g.edges);
    j.field("arcs", g.arcs);
    j.field("directed", g.directed);
    j.field("duplicates_dropped", g.build.duplicates + g.build.unchanged);
    j.field("self_loops_dropped", g.build.self_loops);
    write_distribution(j, "degrees", g.degrees);
  });
  j.object("timings_ms", [&] {
    j.field("load", g.load_ms);
    j.field("build", g.build_ms);
  });
}

void write_memories(json& j, graph::memory_report const& built, graph::memory_report const& after) {
  j.object("memory", [&] {
    write_memory(j, "built", built);
    write_memory(j, "after_updates", after);
  });
}

void write_residency(json& j, std::optional<alloc::residency::statistics> const& residency) {
  if (!residency) return j.null("residency");
  j.object("residency", [&] {
    j.field("resident_bytes", std::uint64_t{residency->resident_bytes});
    j.field("staged_bytes", std::uint64_t{residency->staged_bytes});
    j.field("moved_in_bytes", residency->moved_in_bytes);
    j.field("moved_out_bytes", residency->moved_out_bytes);
    j.field("clean_evictions", residency->clean_evictions);
    j.field("dirty_evictions", residency->dirty_evictions);
  });
}

}  // namespace

std::string json_report(run_options const& o, run_result const& r, bool lost) {
  json j;
  write_surroundings(j, "run", lost);
  write_parameters(j, o, [&] {
    j.field("updates", o.updates == datasets::update_kind::random ? "random" : "pressure");
    j.field("batch", std::uint64_t{o.batch});
    j.field("rounds", std::uint64_t{o.rounds});
    j.field("seed", o.seed);
    j.field("weighted", o.weighted);
  });
  write_loaded(j, r.loaded);
  write_memories(j, r.loaded.memory, r.memory_after);
  write_residency(j, r.residency);
  j.object("updates", [&] {
    write_updates(j, "insert", r.insert, [&] { j.field("inserted", r.insert.sum.inserted); });
    write_updates(j, "erase", r.erase, [&] {
      j.field("erased", r.erase.sum.erased);
      j.field("missing", r.erase.sum.missing);
    });
    j.field("restored", r.restored);
  });
  j.object("algorithms", [&] { write_results(j, o, r); });
  return std::string(j.finish()) + '\n';
}

std::string json_report(stream_options const& o, stream_result const& r, bool lost) {
  json j;
  write_surroundings(j, "stream", lost);
  j.field("interrupted", r.interrupted);
  if (r.failure)
    j.field("error", to_utf8(r.failed));
  else
    j.null("error");
  write_parameters(j, o, [&] {
    j.field("updates", to_utf8(o.updates.name));
    j.field("batch", std::uint64_t{o.batch});
    j.field("window", o.window);
    j.field("slide", o.slide);
    j.field("late", o.updates.late);
    j.field("every", std::uint64_t{o.every});
    j.field("weighted", o.weighted);
    j.field("decay", o.half_life);
    j.field("forget", o.forget);
    j.field("no_edges", o.no_edges);
    j.field("add_vertices", o.updates.add_vertices);
  });
  write_loaded(j, r.loaded);
  write_memories(j, r.loaded.memory, r.memory_after);
  write_residency(j, r.residency);
  write_updates(j, "updates", r.updates, [&] {
    j.field("inserted", r.updates.sum.inserted);
    j.field("erased", r.updates.sum.erased);
    j.field("missing", r.updates.sum.missing);
    j.field("graph_edges", r.edges);
    j.field("graph_vertices", r.vertices);
    j.field("vertices_added", r.added);
    j.field("vertices_removed", r.removed);
    j.field("expired", r.expired);
    j.field("forgotten", r.forgotten);
    j.field("refused_lines", r.refused);
    latencies const l = summarize(r.updates.batch_ms);
    j.object("latency_ms", [&] {
      j.field("p50", l.p50);
      j.field("p95", l.p95);
      j.field("p99", l.p99);
      j.field("max", l.max);
    });
  });
  j.object("algorithms", [&] {
    write_result(j, "pagerank", r.loaded.ids, r.pagerank, write_maintained_ranks);
    write_result(j, "triangles", r.loaded.ids, r.triangles, write_triangles);
    for (auto const& [a, result] : r.further)
      j.object(a->name, [&, a = a, &result = result] {
        write_source(j, *a, r.source, r.loaded.ids);
        write_figures(j, r.loaded.ids, result);
      });
  });
  return std::string(j.finish()) + '\n';
}

void print_json(std::ostream& out, batch_result const& b, stream_options const& o, vertex_ids const& ids) {
  json_line j;
  j.field("batch", std::uint64_t{b.number});
  if (b.end)
    j.field("end", *b.end);
  else
    j.null("end");
  j.field("updates", b.changes.requested);
  j.field("inserted", b.changes.inserted);
  j.field("erased", b.changes.erased);
  j.field("expired", b.expired);
  j.field("forgotten", b.forgotten);
  j.field("vertices_added", b.added);
  j.field("vertices_removed", b.removed);
  j.field("vertices", b.vertices);
  j.field("edges", b.edges);
  if (b.triangles)
    j.field("triangles", *b.triangles);
  else
    j.null("triangles");
  if (b.pagerank)
    j.object("pagerank", [&] {
      j.field("iterations", b.pagerank->iterations);
      j.field("ranked", b.pagerank->ranked);
      j.field("converged", b.pagerank->converged);
    });
  else
    j.null("pagerank");
  for (auto const& [a, figures] : b.further) {
    if (figures)
      j.object(a->name, [&, &figures = figures] {
        for (figure const& f : *figures) write_figure(j, ids, f);
      });
    else
      j.null(a->name);
  }
  if (b.ranks)
    j.objects("ranks", *b.ranks, [&](emitted_rank const& one) {
      j.field("vertex", one.vertex);
      if (auto const* const number = std::get_if<std::uint64_t>(&one.id))
        j.field("id", *number);
      else
        j.field("id", to_utf8(std::get<std::string>(one.id)));
      one.rank ? j.field("rank", *one.rank) : j.null("rank");
    });
  else if (o.emit != emission::none)
    j.null("ranks");
  j.field("ms", b.ms);
  out << j.finish() << '\n' << std::flush;
}

std::string json_report(cluster_options const& o, cluster_result const& r, bool lost) {
  json j;
  write_surroundings(j, "cluster", lost);
  j.object("parameters", [&] {
    write_file_parameters(j, o.file, o);
    j.field("weighted", o.weighted);
    j.field("seed", o.clustering.seed);
    j.field("length", o.clustering.length);
    j.field("walks", o.clustering.walks);
    j.field("iterations", o.clustering.iterations);
    j.field("objective", name_of(o.clustering.objective));
    j.field("resolution", o.clustering.resolution);
    j.field("levels", o.clustering.levels);
  });
  write_devices(j, r.device, r.generated_on);
  j.object("graph", [&] {
    j.field("vertices", r.vertices);
    j.field("edges", r.edges);
    j.field("directed", r.directed);
  });
  j.object("timings_ms", [&] {
    j.field("load", r.load_ms);
    j.field("build", r.build_ms);
    j.field("cluster", r.ms);
  });
  j.object("clusters", [&] {
    j.field("count", r.clusters.count);
    j.field("modularity", r.clusters.modularity);
    j.field("codelength", r.clusters.codelength);
    j.field("quality", r.clusters.quality);
    j.field("iterations", r.clusters.iterations);
    j.field("converged", r.clusters.converged);
    j.list("levels", r.levels, write_number);
    write_distribution(j, "sizes", r.sizes);
  });
  if (r.truth) {
    j.object("truth", [&] {
      j.field("classes", r.truth->classes);
      j.field("normalized_mutual_information", r.truth->information);
      j.field("adjusted_rand_index", r.truth->rand);
    });
  } else {
    j.null("truth");
  }
  return std::string(j.finish()) + '\n';
}

std::string json_report(broker_command const& c, alloc::residency::broker_status const& s) {
  json j;
  j.field("socket", to_utf8(c.socket));
  j.field("budget_bytes", std::uint64_t{s.budget});
  j.field("held_bytes", std::uint64_t{s.held});
  j.objects("clients", s.clients, [&](alloc::residency::broker_status::client const& of) {
    j.field("name", to_utf8(of.name));
    j.field("pid", of.pid);
    j.field("priority", of.priority);
    j.field("least_bytes", std::uint64_t{of.least});
    j.field("held_bytes", std::uint64_t{of.held});
    j.field("waits_for_bytes", std::uint64_t{of.waits_for});
    j.field("wanted_bytes", std::uint64_t{of.wanted});
  });
  return std::string(j.finish()) + '\n';
}

}  // namespace wyrm::apps
