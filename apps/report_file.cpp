// SPDX-License-Identifier: Apache-2.0
#include "report_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../exec/error.hpp"
#include "json_input.hpp"

namespace wyrm::apps {

namespace {

constexpr double least_ms = 1e-6;  // a nanosecond, the step of the clock
constexpr double most_ms = 1e15;   // sums of more could be infinite

batch_series read_batches(json_input const& in, std::string name) {
  batch_series s;
  s.name = std::move(name);
  for (json_input const& one : in.at("batch_edges").items()) s.edges.push_back(static_cast<double>(one.count()));
  for (json_input const& one : in.at("batch_ms").items()) {
    if (one.number() > most_ms) one.fail("at most 1e15 milliseconds");
    s.ms.push_back(std::max(one.number(), least_ms));
  }
  if (s.edges.size() != s.ms.size())
    in.at("batch_ms")
        .fail_with("as many entries as batch_edges (" + std::to_string(s.edges.size()) + ")",
                   std::to_string(s.ms.size()));
  return s;
}

memory_parts read_memory(json_input const& in, std::string when) {
  memory_parts m;
  m.when = std::move(when);
  constexpr std::array fields{"vertex_table", "neighbours", "slack", "pool_free", "allocator_overhead", "scratch"};
  static_assert(fields.size() == memory_parts::names.size());
  for (std::size_t i = 0; i < fields.size(); ++i) m.bytes[i] = static_cast<double>(in.at(fields[i]).count());
  return m;
}

std::vector<std::uint64_t> read_histogram(json_input const& in) {
  std::vector<std::uint64_t> counts;
  for (json_input const& one : in.at("histogram").items()) counts.push_back(one.count());
  if (counts.size() > 65) in.at("histogram").fail_with("at most 65 entries", std::to_string(counts.size()));
  return counts;
}

void read_updates(json_input const& in, report_file& r) {
  if (r.command == "run") {
    r.batches.push_back(read_batches(in.at("updates").at("insert"), "insertions"));
    r.batches.push_back(read_batches(in.at("updates").at("erase"), "erasures"));
  } else {
    r.batches.push_back(read_batches(in.at("updates"), "updates"));
  }
  r.memory.push_back(read_memory(in.at("memory").at("built"), "as built"));
  r.memory.push_back(read_memory(in.at("memory").at("after_updates"), "after updates"));
  if (auto const triangles = in.at("algorithms").find("triangles")) r.triangles = triangles->at("total").count();
}

}  // namespace

double batch_series::total_edges() const { return std::accumulate(edges.begin(), edges.end(), 0.0); }

std::optional<double> batch_series::median_rate() const {
  if (ms.empty()) return std::nullopt;
  std::vector<double> rates;
  for (std::size_t i = 0; i < ms.size(); ++i) rates.push_back(edges[i] / ms[i] * 1000);
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

std::optional<double> batch_series::percentile_ms(double share) const {
  if (ms.empty()) return std::nullopt;
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  auto const rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double memory_parts::total() const { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }

report_file read_report(std::string const& path) {
  auto const document = parse_json(path, read_text(path));
  json_input const in(path, document);
  report_file r;
  r.path = path;
  auto const version = in.at("schema_version").count();
  if (version != 1 && version != 2) in.at("schema_version").fail("1 or 2, as in a report of this version of wyrm");
  r.command = version == 1 ? "run" : in.at("command").text();
  if (r.command != "run" && r.command != "stream" && r.command != "cluster")
    in.at("command").fail("run, stream or cluster");
  json_input const parameters = in.at("parameters");
  r.graph = parameters.at("file").text();
  r.device = in.at("device").text();
  r.cpu = in.at("machine").at("cpu").text();
  r.version = in.at("build").at("version").text();
  json_input const graph = in.at("graph");
  r.vertices = graph.at("vertices").count();
  r.edges = graph.at("edges").count();
  r.directed = graph.at("directed").flag();
  r.load_ms = in.at("timings_ms").at("load").number();
  r.build_ms = in.at("timings_ms").at("build").number();
  if (auto const interrupted = in.find("interrupted")) r.interrupted = interrupted->flag();
  if (auto const failure = in.find("error")) r.failed = !failure->text().empty();
  if (r.command == "cluster") {
    json_input const clusters = in.at("clusters");
    r.cluster_ms = in.at("timings_ms").at("cluster").number();
    r.histogram_of = "cluster size";
    r.histogram = read_histogram(clusters.at("sizes"));
    r.clusters = clusters.at("count").count();
    r.modularity = clusters.at("modularity").real();
    return r;
  }
  r.allocator = parameters.at("allocator").text();
  r.histogram_of = "degree";
  r.histogram = read_histogram(graph.at("degrees"));
  read_updates(in, r);
  return r;
}

}  // namespace wyrm::apps
