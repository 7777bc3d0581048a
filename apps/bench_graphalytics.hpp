// SPDX-License-Identifier: Apache-2.0
// `wyrm bench graphalytics`: the algorithms of LDBC Graphalytics on the graphs of a folder, with the parameters of
// their properties, validated against reference output. Specification: "The LDBC Graphalytics Benchmark"
// (arXiv:2011.15028).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../alloc/registry.hpp"
#include "load.hpp"
#include "placement.hpp"

namespace wyrm::apps {

struct graphalytics_options : placement {
  graph_file file;  // its name is the folder
  std::string allocator = alloc::default_name;
  std::size_t trials = 1;  // of each algorithm
  std::string report;      // output file for the JSON report; empty: none
};

struct graphalytics_run {
  std::string algorithm;        // bfs, cdlp, lcc, pr, sssp, wcc
  std::vector<double> seconds;  // of each trial: from the graph on the device to the values on the host
  std::optional<bool> valid;    // nothing without a file of reference output
  std::string difference;       // the first line that differs; empty if valid
  [[nodiscard]] double average_seconds() const;
};

struct graphalytics_graph {
  std::string name;
  bool directed = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  double load_ms = 0;
  double build_ms = 0;
  std::vector<graphalytics_run> runs;
  /// Edges and vertices per second.
  [[nodiscard]] double evps(graphalytics_run const& run) const;
};

struct graphalytics_result {
  std::string device;
  std::vector<graphalytics_graph> graphs;
  /// Whether no validation failed.
  [[nodiscard]] bool passed() const;
};

/// The properties of a file `NAME.properties`: keys without `graph.NAME.`, and their values.
using graph_properties = std::map<std::string, std::string>;
/// Throws error: io; bad_input, with file and line, for a line that is no property.
[[nodiscard]] graph_properties read_properties(std::string const& path, std::string const& name);

/// Prints each algorithm when it has ended. Throws the errors of loading, building and algorithms; error: io for a
/// folder without properties; bad_input for properties that are malformed, contradict the files, or name an unknown
/// algorithm.
[[nodiscard]] graphalytics_result graphalytics(graphalytics_options const& o, std::ostream& out);

}  // namespace wyrm::apps
