// SPDX-License-Identifier: Apache-2.0
#include "page_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "../loaders/quoted.hpp"
#include "chart.hpp"

namespace wyrm::apps {

namespace {

std::string with_unit(std::optional<double> value, char const* unit) {
  return value ? short_number(*value) + ' ' + unit : std::string();
}
std::string milliseconds(std::optional<double> ms) {
  if (!ms) return {};
  if (*ms >= 1000) return short_number(*ms / 1000) + " s";
  return *ms < 0.1 ? short_number(*ms * 1000) + " us" : short_number(*ms) + " ms";
}
std::string mebibytes(double bytes) { return short_number(bytes / (1 << 20)) + " MiB"; }

// A row of the table of runs, left out when no run has the value.
class run_table {
 public:
  explicit run_table(std::vector<report_file> const& runs) : runs_(runs) {}
  void row(std::string const& name, std::function<std::string(report_file const&)> const& value) {
    std::string cells;
    bool any = false;
    for (report_file const& run : runs_) {
      std::string const text = value(run);
      any = any || !text.empty();
      cells += "<td>" + (text.empty() ? std::string("&#8211;") : markup_text(text)) + "</td>";
    }
    if (any) rows_ += "<tr><th>" + markup_text(name) + "</th>" + cells + "</tr>\n";
  }
  [[nodiscard]] std::string finish() const { return "<div class=\"wide\"><table>\n" + rows_ + "</table></div>\n"; }

 private:
  std::vector<report_file> const& runs_;
  std::string rows_;
};

void add_batch_rows(run_table& table, std::vector<report_file> const& runs) {
  std::vector<std::string> kinds;
  for (report_file const& run : runs)
    for (batch_series const& s : run.batches)
      if (std::find(kinds.begin(), kinds.end(), s.name) == kinds.end()) kinds.push_back(s.name);
  for (std::string const& kind : kinds) {
    auto const row = [&](std::string const& name, std::function<std::string(batch_series const&)> const& value) {
      table.row(name, [&](report_file const& run) {
        for (batch_series const& s : run.batches)
          if (s.name == kind) return value(s);
        return std::string();
      });
    };
    row(kind + ": batches", [](batch_series const& s) { return grouped_number(s.ms.size()); });
    row(kind + ": requested edges", [](batch_series const& s) { return short_number(s.total_edges()); });
    row(kind + ": median", [](batch_series const& s) { return with_unit(s.median_rate(), "edges/s"); });
    for (auto const& [name, share] : {std::pair("p50", 0.5), {"p95", 0.95}, {"p99", 0.99}, {"max", 1.0}})
      row(kind + ": " + name, [p = share](batch_series const& s) { return milliseconds(s.percentile_ms(p)); });
  }
}

}  // namespace

std::string table_of(std::vector<report_file> const& runs) {
  run_table table(runs);
  std::size_t number = 0;
  table.row("run", [&](report_file const&) { return std::to_string(++number); });
  table.row("report", [](report_file const& r) { return loaders::escaped(r.path); });
  table.row("command", [](report_file const& r) {
    return r.command + (r.interrupted ? " (interrupted)" : "") + (r.failed ? " (ended by an error)" : "");
  });
  table.row("graph", [](report_file const& r) { return r.graph; });
  table.row("device", [](report_file const& r) { return r.device; });
  table.row("CPU", [](report_file const& r) { return r.cpu; });
  table.row("version", [](report_file const& r) { return r.version; });
  table.row("allocator", [](report_file const& r) { return r.allocator.value_or(""); });
  table.row("vertices", [](report_file const& r) { return grouped_number(r.vertices); });
  table.row("edges", [](report_file const& r) { return grouped_number(r.edges) + (r.directed ? " directed" : ""); });
  table.row("triangles",
            [](report_file const& r) { return r.triangles ? grouped_number(*r.triangles) : std::string(); });
  table.row("loading", [](report_file const& r) { return milliseconds(r.load_ms); });
  table.row("building", [](report_file const& r) { return milliseconds(r.build_ms); });
  table.row("clustering", [](report_file const& r) { return milliseconds(r.cluster_ms); });
  table.row("clusters", [](report_file const& r) { return r.clusters ? grouped_number(*r.clusters) : std::string(); });
  table.row("modularity", [](report_file const& r) {
    if (!r.modularity) return std::string();
    return (*r.modularity < 0 ? "-" : "") + short_number(std::abs(*r.modularity));
  });
  add_batch_rows(table, runs);
  for (std::size_t i = 0; i < 2; ++i)
    table.row(i == 0 ? "memory as built" : "memory after updates",
              [i](report_file const& r) { return r.memory.empty() ? std::string() : mebibytes(r.memory[i].total()); });
  return table.finish();
}

}  // namespace wyrm::apps
