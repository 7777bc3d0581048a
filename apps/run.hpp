// SPDX-License-Identifier: Apache-2.0
// `wyrm run`: a graph file in, a dynamic graph built, updates streamed through it, algorithms before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../datasets/updates.hpp"
#include "../graph/report.hpp"
#include "loaded_graph.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

struct run_options : graph_options {
  datasets::update_kind updates = datasets::update_kind::random;
  std::size_t batch = 100'000;  // edges
  std::size_t rounds = 10;      // batches inserted, then erased
  std::uint64_t seed = 1;
};

/// Updates over all batches, of one kind or of both.
struct update_result {
  graph::update_report sum;
  std::vector<double> batch_ms;
  std::vector<std::uint64_t> batch_edges;
  /// Requested edges per second, a batch, ascending.
  [[nodiscard]] std::vector<double> rates() const;
  void add(graph::update_report const& batch, double ms);
};
void add(graph::update_report& sum, graph::update_report const& one);

struct pagerank_summary : rank_summary {
  unsigned iterations = 0;
  bool converged = false;
  double change = 0;
  double ms = 0;
};

/// What was computed on one state of the graph; nothing where it was not asked for.
struct algorithm_results {
  std::optional<pagerank_summary> pagerank;
  std::optional<triangles_summary> triangles;
};

struct run_result {
  graph_summary loaded;
  graph::memory_report memory_after;
  update_result insert;
  update_result erase;
  bool restored = true;  // after the updates the graph was, bit for bit, what it had been
  algorithm_results before;
  algorithm_results after;  // empty without updates
  vertex_values values;     // at the end; of triangles where somebody wants them
};

/// Throws what loading, building and the algorithms throw; error(corrupt) if the updates do not restore the graph.
[[nodiscard]] run_result run(run_options const& o);

/// `wyrm info FILE`, or without a file what this program can do; to standard output.
void info(graph_file const& file);

/// `wyrm convert FILE OUT`: loads a graph and writes it in another format, that of the name.
void convert(graph_file const& from, std::string const& to);

}  // namespace wyrm::apps
