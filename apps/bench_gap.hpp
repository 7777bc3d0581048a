// SPDX-License-Identifier: Apache-2.0
// `wyrm bench gap`: the kernels of the GAP benchmark suite by its rules (Beamer, Asanovic, Patterson, "The GAP
// Benchmark Suite", 2015, arXiv:1508.03619).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../alloc/registry.hpp"
#include "load.hpp"
#include "placement.hpp"

namespace wyrm::apps {

struct gap_options : placement {
  static constexpr std::string_view kernel_names[] = {"bfs", "sssp", "pr", "cc", "bc", "tc"};

  graph_file file;
  std::string allocator = alloc::default_name;
  std::vector<std::string> kernels;  // which are run in an order of their own; empty: all
  std::size_t trials = 0;            // of each kernel; 0: as many as the rules say
  std::uint64_t seed = 27491095;     // of sources and weights
  bool verify = true;
  bool churned = false;  // whether all edges are erased and inserted again before the kernels run
  std::string report;    // output file for the JSON report; empty: none
};

struct gap_trial {
  double seconds;                         // until the device has the result
  std::optional<bool> passed;             // nothing without verification
  double verification_seconds;            // of copying the result and checking it
  std::vector<graph::vertex_id> sources;  // empty for a kernel without
};

struct gap_kernel_result {
  std::string kernel;
  std::vector<gap_trial> trials;
  [[nodiscard]] double average_seconds() const;
};

struct gap_result {
  std::string device;
  vertex_ids ids;
  bool directed = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  double load_ms = 0;
  bool drawn_weights = false;        // whether the weights of sssp were drawn
  std::uint64_t churn_erased = 0;    // edges that --churned has erased, also of the graph of sssp,
  std::uint64_t churn_inserted = 0;  // and inserted
  std::vector<gap_kernel_result> kernels;
  /// Whether no verification failed.
  [[nodiscard]] bool passed() const;
};

/// Prints each trial when it ends. Throws the errors of loading, building and algorithms; error(bad_argument) for a
/// graph without edges, and when the file has weights that sssp refuses.
[[nodiscard]] gap_result gap(gap_options const& o, std::ostream& out);

}  // namespace wyrm::apps
