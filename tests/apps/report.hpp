// SPDX-License-Identifier: Apache-2.0
// JSON reports of the program, for tests: access to values by path, and the documented fields.
#pragma once

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace wyrm::tests {

/// A JSON report. Paths are those of docs/report.md with slashes: "graph/degrees/max". Throws std::runtime_error for
/// text that is not JSON, a missing path, and a value of another type.
class report {
 public:
  explicit report(std::string const& text) {
    json_.Parse<rapidjson::kParseFullPrecisionFlag | rapidjson::kParseValidateEncodingFlag>(text.c_str(), text.size());
    if (json_.HasParseError()) throw std::runtime_error("the report is not JSON: " + text);
  }
  [[nodiscard]] rapidjson::Value const& all() const { return json_; }
  [[nodiscard]] rapidjson::Value const& at(std::string const& path) const {
    rapidjson::Value const* const value = rapidjson::Pointer(("/" + path).c_str()).Get(json_);
    if (value == nullptr) throw std::runtime_error("the report has no " + path);
    return *value;
  }
  [[nodiscard]] std::uint64_t count(std::string const& path) const {
    return checked(path, &rapidjson::Value::IsUint64).GetUint64();
  }
  [[nodiscard]] double number(std::string const& path) const {
    return checked(path, &rapidjson::Value::IsDouble).GetDouble();
  }
  [[nodiscard]] bool flag(std::string const& path) const { return checked(path, &rapidjson::Value::IsBool).GetBool(); }
  [[nodiscard]] std::string text(std::string const& path) const {
    return checked(path, &rapidjson::Value::IsString).GetString();
  }
  [[nodiscard]] std::vector<std::uint64_t> counts(std::string const& path) const {
    std::vector<std::uint64_t> values;
    for (rapidjson::SizeType i = 0; i < checked(path, &rapidjson::Value::IsArray).Size(); ++i)
      values.push_back(count(path + '/' + std::to_string(i)));
    return values;
  }

 private:
  [[nodiscard]] rapidjson::Value const& checked(std::string const& path, bool (rapidjson::Value::*type)() const) const {
    rapidjson::Value const& value = at(path);
    if (!(value.*type)()) throw std::runtime_error(path + " is of another type");
    return value;
  }
  rapidjson::Document json_;
};

/// The size of the graph as loaded.
inline void expect_graph(report const& r, bool directed, std::uint64_t vertices, std::uint64_t edges,
                         std::uint64_t arcs) {
  EXPECT_EQ(r.flag("graph/directed"), directed);
  EXPECT_EQ(r.count("graph/vertices"), vertices);
  EXPECT_EQ(r.count("graph/edges"), edges);
  EXPECT_EQ(r.count("graph/arcs"), arcs);
}

/// Collects the fields of a report and their types: every scalar and array by its path.
inline void add_fields(rapidjson::Value const& value, std::string const& path,
                       std::map<std::string, std::string>& fields) {
  if (value.IsObject()) {
    for (auto const& member : value.GetObject())
      add_fields(member.value, path.empty() ? member.name.GetString() : path + '/' + member.name.GetString(), fields);
    return;
  }
  fields[path] = value.IsUint64()   ? "integer"
                 : value.IsDouble() ? "number"
                 : value.IsString() ? "string"
                 : value.IsBool()   ? "boolean"
                 : value.IsArray()  ? "array"
                                    : "null";
}

/// The fields of a report in docs/report.md, for a command on an undirected graph with updates, both algorithms, and
/// --top.
[[nodiscard]] inline std::map<std::string, std::string> documented_fields(std::string const& command) {
  std::map<std::string, std::string> fields;
  auto const add = [&](std::string const& type, std::string const& path, std::vector<std::string> const& names) {
    for (std::string const& name : names) fields[path + name] = type;
  };
  bool const run = command == "run";
  add("integer", "", {"schema_version"});
  add("string", "", {"command", "device"});
  add("boolean", "", {"output_lost"});
  if (!run) add("boolean", "", {"interrupted"});
  if (!run) add("null", "", {"error"});
  add("string", "machine/", {"os", "cpu"});
  add("integer", "machine/", {"logical_cores", "memory_bytes"});
  add("array", "machine/", {"gpus"});
  add("string", "build/", {"version", "compiler", "type", "host_threads"});
  add("boolean", "build/", {"cuda", "checked"});
  add("string", "parameters/", {"file", "device", "memory", "allocator", "direction", "ids", "order", "updates"});
  add("integer", "parameters/", {"batch", "device_memory", "top"});
  add("boolean", "parameters/", {"shares_device"});
  add("null", "", {"generated_on", "residency"});
  if (run) add("integer", "parameters/", {"rounds", "seed"});
  if (!run) {
    add("integer", "parameters/", {"every"});
    add("number", "parameters/", {"window", "slide", "late"});
    add("number", "parameters/", {"decay", "forget"});
    add("boolean", "parameters/", {"no_edges", "add_vertices"});
    add("integer", "updates/",
        {"graph_vertices", "vertices_added", "vertices_removed", "expired", "forgotten", "refused_lines"});
    add("number", "updates/latency_ms/", {"p50", "p95", "p99", "max"});
  }
  add("boolean", "parameters/", {"weighted"});
  add("null", "parameters/", {"algorithms"});
  add("number", "parameters/", {"tolerance"});
  add("integer", "graph/", {"vertices", "edges", "arcs", "duplicates_dropped", "self_loops_dropped"});
  add("boolean", "graph/", {"directed"});
  add("integer", "graph/degrees/", {"min", "median", "p99", "max", "zero"});
  add("number", "graph/degrees/", {"mean"});
  add("array", "graph/degrees/", {"histogram"});
  add("number", "timings_ms/", {"load", "build"});
  for (std::string const when : {"memory/built/", "memory/after_updates/"})
    add("integer", when,
        {"vertex_table", "neighbours", "slack", "pool_free", "pool_committed", "pool_reserved", "allocator_overhead",
         "scratch", "total"});
  std::vector<std::string> const kinds{"updates/insert/", "updates/erase/"};
  for (std::string const& kind : run ? kinds : std::vector<std::string>{"updates/"}) {
    add("integer", kind, {"batches", "edges", "duplicates", "self_loops"});
    add("number", kind, {"edges_per_second", "edges_per_second_min", "edges_per_second_max"});
    add("array", kind, {"batch_edges", "batch_ms"});
  }
  if (run) {
    add("integer", "updates/", {"insert/inserted", "erase/erased", "erase/missing"});
    add("boolean", "updates/", {"restored"});
  } else {
    add("integer", "updates/", {"inserted", "erased", "missing", "graph_edges"});
  }
  for (std::string const when : {"", "after_updates/"}) {
    if (!run && !when.empty()) continue;
    add("number", "algorithms/pagerank/" + when, {"max", "l2", "sum", "ms"});
    if (run) add("number", "algorithms/pagerank/" + when, {"change"});
    add("integer", "algorithms/pagerank/" + when, {"argmax", "argmax_id", "iterations"});
    if (!run) add("integer", "algorithms/pagerank/" + when, {"ranked"});
    add("boolean", "algorithms/pagerank/" + when, {"converged"});
    add("array", "algorithms/pagerank/" + when, {"top"});
    add("integer", "algorithms/triangles/" + when, {"total"});
    add("number", "algorithms/triangles/" + when, {"ms", "average_clustering", "global_clustering"});
    add("array", "algorithms/triangles/" + when, {"top"});
  }
  return fields;
}

/// The fields of the report of `wyrm cluster` with --truth.
[[nodiscard]] inline std::map<std::string, std::string> documented_cluster_fields() {
  std::map<std::string, std::string> fields;
  // The fields for program and machine are those of `wyrm run`.
  for (auto const& [path, type] : documented_fields("run"))
    if (path.starts_with("machine/") || path.starts_with("build/") || path.find('/') == std::string::npos)
      fields[path] = type;
  fields.erase("residency");
  auto const add = [&](std::string const& type, std::string const& path, std::vector<std::string> const& names) {
    for (std::string const& name : names) fields[path + name] = type;
  };
  add("string", "parameters/", {"file", "device", "memory", "direction", "ids", "order"});
  add("boolean", "parameters/", {"shares_device", "weighted"});
  add("integer", "parameters/", {"device_memory", "seed", "length", "walks", "iterations"});
  add("string", "parameters/", {"objective"});
  add("number", "parameters/", {"resolution"});
  add("integer", "parameters/", {"levels"});
  add("integer", "graph/", {"vertices", "edges"});
  add("boolean", "graph/", {"directed"});
  add("number", "timings_ms/", {"load", "build", "cluster"});
  add("integer", "clusters/", {"count", "iterations"});
  add("number", "clusters/", {"modularity", "codelength", "quality", "sizes/mean"});
  add("boolean", "clusters/", {"converged"});
  add("array", "clusters/", {"levels"});
  add("integer", "clusters/sizes/", {"min", "median", "p99", "max", "zero"});
  add("array", "clusters/sizes/", {"histogram"});
  add("integer", "truth/", {"classes"});
  add("number", "truth/", {"normalized_mutual_information", "adjusted_rand_index"});
  return fields;
}

}  // namespace wyrm::tests
