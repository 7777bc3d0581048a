// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "report.hpp"

namespace wyrm::apps {

namespace {

template <class... T>
std::string format(char const* pattern, T... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

std::string count(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string mib(std::size_t bytes) { return format("%.1f MiB", static_cast<double>(bytes) / (1 << 20)); }

void row(std::ostream& out, char const* name, std::string const& value) {
  out << format("  %-22s ", name) << value << '\n';
}

// Without the number of zeros.
std::string distribution(degree_summary const& d) {
  return format("min %llu, median %llu, mean %.2f, 99 %% %llu, max %llu", static_cast<unsigned long long>(d.min),
                static_cast<unsigned long long>(d.median), d.mean, static_cast<unsigned long long>(d.p99),
                static_cast<unsigned long long>(d.max));
}

void print_histogram(std::ostream& out, degree_summary const& d) {
  for (std::size_t i = 1; i < d.histogram.size(); ++i) {
    std::uint64_t const low = std::uint64_t{1} << (i - 1);
    row(out, "",
        format("%9s", (i == 1 ? "1" : count(low) + "-" + count(2 * low - 1)).c_str()) +
            format(" %12s", count(d.histogram[i]).c_str()));
  }
}

void print_updates(std::ostream& out, char const* name, update_result const& u, std::string const& outcome) {
  double ms = 0;
  for (double const one : u.batch_ms) ms += one;
  std::vector<double> const rates = u.rates();
  row(out, name,
      format("%.3g M edges/s (%.3g to %.3g, median of ", rates[rates.size() / 2] / 1e6, rates.front() / 1e6,
             rates.back() / 1e6) +
          std::to_string(rates.size()) + " batches; " + count(u.sum.requested) + " edges in " + format("%.1f ms", ms) +
          "; " + outcome + ")");
}

std::string at_vertex(vertex_ids const& ids, std::size_t v) {
  return " at vertex " + ids.text(static_cast<graph::vertex_id>(v));
}

void print_ranks(std::ostream& out, vertex_ids const& ids, rank_summary const& r, std::string const& how) {
  std::string const ranks =
      r.argmax ? format("max %.9g", r.max) + at_vertex(ids, *r.argmax) + format(", L2 %.9g, ", r.l2) : "no vertices, ";
  row(out, "PageRank", ranks + how);
}

// The text of a figure; empty if it is not shown.
std::string text_of(vertex_ids const& ids, figure const& f) {
  std::string const shown = f.shown;
  auto const at = shown.find("{}");
  auto const fill = [&](std::string const& value) {
    return shown.empty() ? shown : std::string(shown).replace(at, 2, value);
  };
  struct visitor {
    decltype(fill)& with;
    std::string const& text;
    vertex_ids const& ids;
    std::string operator()(std::monostate) const { return text.find("{}") == text.npos ? text : std::string(); }
    std::string operator()(bool value) const { return value ? std::string() : text; }
    std::string operator()(std::uint64_t value) const { return with(count(value)); }
    std::string operator()(double value) const { return with(format("%.9g", value)); }
    std::string operator()(figure::vertex v) const { return with(ids.text(v.number)); }
  };
  return std::visit(visitor{fill, shown, ids}, f.value);
}

std::string text_of(vertex_ids const& ids, std::vector<figure> const& figures) {
  std::string all;
  for (figure const& f : figures) {
    std::string const one = text_of(ids, f);
    if (!all.empty() && !one.empty() && one.front() != ' ') all += ", ";
    all += one;
  }
  return all;
}

void print_results(std::ostream& out, run_options const& o, vertex_ids const& ids, char const* when,
                   std::vector<named_result> const& results) {
  for (auto const& [a, r] : results)
    row(out, a->title,
        text_of(ids, r.figures) + (o.weighted && a->weights ? ", weighted" : "") + format(", %.1f ms", r.ms) + when);
}

void print_further(std::ostream& out, vertex_ids const& ids, std::vector<named_result> const& results) {
  for (auto const& [a, r] : results)
    if (std::string const text = text_of(ids, r.detail_figures); !text.empty()) row(out, r.details, text);
  for (auto const& [a, r] : results) {
    char const* name = r.top.title;
    for (auto const& [v, value] : r.top.entries) {
      auto const* const whole = std::get_if<std::uint64_t>(&value);
      row(out, name, (whole != nullptr ? count(*whole) : format("%.9g", std::get<double>(value))) + at_vertex(ids, v));
      name = "";
    }
  }
}

// Prints the results per vertex, if they were requested.
void print_vertices(std::ostream& out, vertex_ids const& ids, rank_summary const* ranks,
                    std::optional<triangles_summary> const& triangles) {
  if (triangles && triangles->vertices)
    row(out, "clustering",
        format("average %.9g, global %.9g", triangles->vertices->average_clustering,
               triangles->vertices->global_clustering));
  char const* name = "largest ranks";
  if (ranks != nullptr)
    for (auto const [v, rank] : ranks->top) {
      row(out, name, format("%.9g", rank) + at_vertex(ids, v));
      name = "";
    }
  name = "most triangles";
  if (triangles && triangles->vertices)
    for (auto const [v, n] : triangles->vertices->top) {
      row(out, name, count(n) + at_vertex(ids, v));
      name = "";
    }
}

void print_loaded(std::ostream& out, graph_options const& o, graph_summary const& g) {
  out << o.file.name << " on " << g.device << ", allocator " << o.allocator;
  if (o.memory != exec::memory_kind::device) out << " in " << exec::to_string(o.memory) << " memory";
  out << "\n\ngraph\n";
  row(out, "vertices", count(g.vertices));
  row(out, "edges", count(g.edges) + (g.directed ? " (directed)" : " (undirected)"));
  row(out, "arcs", count(g.arcs));
  std::uint64_t const repeated = g.build.duplicates + g.build.unchanged;
  if (repeated + g.build.self_loops > 0)
    row(out, "dropped", count(repeated) + " duplicates, " + count(g.build.self_loops) + " self-loops");
  print_degrees(out, g.degrees);

  out << "\ntimes\n";
  row(out, "load",
      format("%.1f ms", g.load_ms) + (g.generated_on.empty() ? "" : " (generated on " + g.generated_on + ")"));
  row(out, "build",
      format("%.2f ms", g.build_ms) +
          format(" (%.3g M edges/s)", static_cast<double>(g.build.requested) / g.build_ms / 1e3));
}

void print_memory(std::ostream& out, graph::memory_report const& m) {
  out << "\nmemory\n";
  row(out, "vertex table", mib(m.vertex_table));
  row(out, "neighbours", mib(m.neighbours) + " + " + mib(m.slack) + " slack in pages");
  row(out, "pool", mib(m.pool_committed) + ", of which free " + mib(m.pool_free));
  row(out, "allocator's own", mib(m.allocator_overhead));
  row(out, "scratch", mib(m.scratch));
  row(out, "total", mib(m.total()));
}

void print_residency(std::ostream& out, graph_options const& o,
                     std::optional<alloc::residency::statistics> const& residency) {
  if (!residency) return;
  row(out, "on the device",
      mib(residency->resident_bytes) + " of the pool, " + mib(residency->staged_bytes) +
          " of it in host memory; limit " + (o.shares_device ? "shared" : mib(o.device_memory)) + " with arrays");
  row(out, "moved", mib(residency->moved_in_bytes) + " to the device, " + mib(residency->moved_out_bytes) + " back");
}

void print_not_counted(std::ostream& out, graph_options const& o, graph_summary const& g) {
  if (g.directed && !o.algorithms) row(out, "triangles", "not computed: the graph is directed (see --undirected)");
}

}  // namespace

void print_degrees(std::ostream& out, degree_summary const& d) {
  row(out, "degrees", distribution(d) + "; " + count(d.zero) + " of degree 0");
  print_histogram(out, d);
}

void print_table(std::ostream& out, run_options const& o, run_result const& r) {
  print_loaded(out, o, r.loaded);
  if (!r.insert.batch_ms.empty()) {
    print_updates(out, "insert", r.insert, count(r.insert.sum.inserted) + " new");
    print_updates(out, "erase", r.erase, count(r.erase.sum.erased) + " found");
    row(out, "graph restored", "yes, bit for bit");  // otherwise the run has failed
  } else if (o.rounds > 0) {
    row(out, "updates", "none: they need two vertices");
  }
  print_memory(out, r.memory_after);
  print_residency(out, o, r.residency);

  if (!r.before.empty()) out << "\nalgorithms\n";
  bool const twice = !r.after.empty();
  print_results(out, o, r.loaded.ids, twice ? ", before the updates" : "", r.before);
  if (twice) print_results(out, o, r.loaded.ids, ", after them", r.after);
  print_further(out, r.loaded.ids, twice ? r.after : r.before);
  if (r.source) row(out, "source", "vertex " + r.loaded.ids.text(*r.source));
  for (algorithm const* const a : r.left_out)
    row(out, a->title, "not computed: the graph is directed (see --undirected)");
}

void print_stream_head(std::ostream& out, stream_options const& o, std::string const& from, stream_result const& r) {
  print_loaded(out, o, r.loaded);
  if (r.pagerank) row(out, "first PageRank", format("%.2f ms", r.pagerank->ms));
  if (r.triangles) row(out, "first triangles", format("%.2f ms", r.triangles->ms));
  for (auto const& [a, result] : r.further)
    row(out, (std::string("first ") + a->title).c_str(), format("%.2f ms", result.ms));
  out << "\nupdates from " << from << '\n' << format("  %7s %10s %10s %12s", "batch", "inserted", "erased", "edges");
  if (r.triangles) out << format(" %14s", "triangles");
  if (r.pagerank) out << format(" %10s %12s %9s", "iterations", "ranked", "converged");
  out << format(" %10s\n", "ms") << std::flush;
}

void print_batch(std::ostream& out, batch_result const& b, stream_result const& r) {
  out << format("  %7zu %10zu %10zu %12zu", b.number, std::size_t{b.changes.inserted}, std::size_t{b.changes.erased},
                std::size_t{b.edges});
  if (b.triangles)
    out << format(" %14zu", std::size_t{*b.triangles});
  else if (r.triangles)
    out << format(" %14s", "-");
  if (!b.pagerank && r.pagerank) out << format(" %10s %12s %9s", "-", "-", "-");
  if (b.pagerank)
    out << format(" %10zu %12zu %9s", std::size_t{b.pagerank->iterations}, std::size_t{b.pagerank->ranked},
                  b.pagerank->converged ? "yes" : "no");
  out << format(" %10.3f\n", b.ms) << std::flush;
}

void print_table(std::ostream& out, stream_options const& o, stream_result const& r) {
  if (o.json) return;
  out << "\nin all\n";
  graph::update_report const& sum = r.updates.sum;
  if (sum.requested > 0)
    print_updates(out, "updates", r.updates, count(sum.inserted) + " new, " + count(sum.erased) + " erased");
  else
    row(out, "updates", "none");
  if (!r.updates.batch_ms.empty()) {
    latencies const l = summarize(r.updates.batch_ms);
    row(out, "latency",
        format("p50 %.3f ms, p95 %.3f ms", l.p50, l.p95) + format(", p99 %.3f ms, max %.3f ms", l.p99, l.max));
  }
  row(out, "edges", count(r.edges));
  if (r.added + r.removed > 0)
    row(out, "vertices", count(r.vertices) + "; " + count(r.added) + " added, " + count(r.removed) + " removed");
  if (o.window > 0) row(out, "expired", count(r.expired) + " edges left the window");
  if (o.forget > 0) row(out, "forgotten", count(r.forgotten) + " edges had become too light");
  if (r.refused > 0) row(out, "refused", count(r.refused) + " lines");
  if (r.failure)
    row(out, "failed", "yes: an error ended the updates after " + count(r.updates.batch_ms.size()) + " batches");
  if (r.interrupted) row(out, "interrupted", "yes: a signal ended the updates");
  print_memory(out, r.memory_after);
  print_residency(out, o, r.residency);

  if (r.pagerank || r.triangles || !r.further.empty()) out << "\nalgorithms\n";
  if (r.pagerank)
    print_ranks(out, r.loaded.ids, *r.pagerank,
                count(r.pagerank->iterations) + " iterations, " + count(r.pagerank->ranked) + " ranked" +
                    (r.pagerank->converged ? "" : " (not converged)"));
  if (r.triangles) row(out, "triangles", count(r.triangles->total));
  for (auto const& [a, result] : r.further) row(out, a->title, text_of(r.loaded.ids, result.figures));
  print_vertices(out, r.loaded.ids, r.pagerank ? &*r.pagerank : nullptr, r.triangles);
  print_further(out, r.loaded.ids, r.further);
  if (r.source) row(out, "source", "vertex " + r.loaded.ids.text(*r.source));
  print_not_counted(out, o, r.loaded);
}

namespace {

std::string directions(cluster_options const& o, cluster_result const& r) {
  if (!r.directed) return " (undirected)";
  bool const matter = o.clustering.objective == algorithms::clustering_objective::map_equation;
  return matter ? " (directed)" : " (directed; directions do not matter)";
}

// The numbers of clusters of all levels but the first.
std::string text_of_levels(std::vector<std::uint64_t> const& levels) {
  std::string text;
  for (std::size_t l = 1; l < levels.size(); ++l) text += (l > 1 ? ", " : "") + count(levels[l]);
  return text;
}

}  // namespace

void print_table(std::ostream& out, cluster_options const& o, cluster_result const& r) {
  out << o.file.name << " on " << r.device << '\n';
  row(out, "vertices", count(r.vertices));
  row(out, "edges", count(r.edges) + directions(o, r));
  row(out, "clusters", count(r.clusters.count));
  if (r.levels.size() > 1) row(out, "clusters of clusters", text_of_levels(r.levels));
  row(out, "modularity", format("%.6f", r.clusters.modularity));
  row(out, "codelength", format("%.4f bits", r.clusters.codelength));
  row(out, "sizes", distribution(r.sizes));
  print_histogram(out, r.sizes);
  row(out, "rounds of voting", count(r.clusters.iterations) + (r.clusters.converged ? "" : " (not converged)"));
  if (r.truth) {
    row(out, "classes", count(r.truth->classes));
    row(out, "NMI", format("%.6f", r.truth->information));
    row(out, "ARI", format("%.6f", r.truth->rand));
  }
  row(out, "milliseconds", format("%.1f", r.ms));
}

}  // namespace wyrm::apps
