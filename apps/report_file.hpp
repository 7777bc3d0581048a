// SPDX-License-Identifier: Apache-2.0
// Reads the JSON reports of `wyrm run`, `wyrm stream` and `wyrm cluster` (docs/report.md) for `wyrm report`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wyrm::apps {

/// The batches of a command, in the order of execution.
struct batch_series {
  std::string name;           // updates, insertions or erasures
  std::vector<double> edges;  // requested edges of each batch
  std::vector<double> ms;     // time of each batch, at least a nanosecond
  [[nodiscard]] double total_edges() const;
  /// The median over the batches of edges per second; nothing without batches.
  [[nodiscard]] std::optional<double> median_rate() const;
  /// The least time that a share of the batches does not exceed; nothing without batches.
  [[nodiscard]] std::optional<double> percentile_ms(double share) const;
};

/// Bytes of a graph by purpose; together they are memory.*.total of the report.
struct memory_parts {
  static constexpr std::array names{"vertex table",     "neighbours",         "slack",
                                    "free in the pool", "allocator overhead", "scratch"};
  std::string when;
  std::array<double, names.size()> bytes{};
  [[nodiscard]] double total() const;
};

struct report_file {
  std::string path;
  std::string command;
  std::string graph;  // parameters.file
  std::string device;
  std::string cpu;
  std::string version;
  bool directed = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::optional<std::string> allocator;
  double load_ms = 0;
  double build_ms = 0;
  std::optional<double> cluster_ms;
  std::string histogram_of;                // degree, or cluster size
  std::vector<std::uint64_t> histogram;    // entry i: how many have 2^(i-1) to 2^i - 1; entry 0: 0
  std::vector<batch_series> batches;       // empty for `wyrm cluster`
  std::vector<memory_parts> memory;        // empty for `wyrm cluster`
  std::optional<std::uint64_t> triangles;  // run: of the graph as loaded; stream: at the end
  std::optional<std::uint64_t> clusters;   // their number
  std::optional<double> modularity;        // the report's, from -1 to 1
  bool interrupted = false;
  bool failed = false;  // an error ended the updates
};

/// Throws error: io when the file cannot be read; bad_input, with file and field, when it is no report of version 1 or
/// 2.
[[nodiscard]] report_file read_report(std::string const& path);

}  // namespace wyrm::apps
