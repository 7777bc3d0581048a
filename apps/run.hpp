// SPDX-License-Identifier: Apache-2.0
// `wyrm run`: a graph file in, a dynamic graph built, updates streamed through it, algorithms before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../alloc/registry.hpp"
#include "../datasets/updates.hpp"
#include "../graph/report.hpp"
#include "degrees.hpp"
#include "load.hpp"

namespace wyrm::apps {

struct run_options {
  graph_file file;
  std::string device = "auto";
  std::string allocator = alloc::default_name;
  datasets::update_kind updates = datasets::update_kind::random;
  std::size_t batch = 100'000;  // edges
  std::size_t rounds = 10;      // batches inserted, then erased
  std::uint64_t seed = 1;
  std::optional<std::vector<std::string>> algorithms;  // nothing: all that the graph's direction allows
  double tolerance = 1e-9;                             // PageRank, L1
  bool check = false;                                  // prove the graph's invariants after the build and at the end
  std::string report;                                  // empty: none
};

/// One kind of update, over all batches.
struct update_result {
  graph::update_report sum;
  std::vector<double> batch_ms;
  std::vector<std::uint64_t> batch_edges;
  /// Requested edges per second, a batch, ascending.
  [[nodiscard]] std::vector<double> rates() const;
};

struct pagerank_summary {
  double max = 0;
  std::size_t argmax = 0;
  double l2 = 0;
  double sum = 0;
  unsigned iterations = 0;
  bool converged = false;
  double change = 0;
  double ms = 0;
};

struct triangles_summary {
  std::uint64_t total = 0;
  double ms = 0;
};

/// What was computed on one state of the graph; nothing where it was not asked for.
struct algorithm_results {
  std::optional<pagerank_summary> pagerank;
  std::optional<triangles_summary> triangles;
};

struct run_result {
  std::string device;
  bool directed = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t arcs = 0;
  graph::update_report build;  // what became of the file's edges
  degree_summary degrees;
  double load_ms = 0;
  double build_ms = 0;
  graph::memory_report memory_built;
  graph::memory_report memory_after;
  update_result insert;
  update_result erase;
  bool restored = true;  // after the updates the graph was, bit for bit, what it had been
  algorithm_results before;
  algorithm_results after;  // empty without updates
};

/// Throws what loading, building and the algorithms throw; error(corrupt) if the updates do not restore the graph.
[[nodiscard]] run_result run(run_options const& o);

/// `wyrm info FILE`, or without a file what this program can do; to standard output.
void info(graph_file const& file);

/// `wyrm convert FILE OUT`: loads a graph and writes it in another format, that of the name.
void convert(graph_file const& from, std::string const& to);

}  // namespace wyrm::apps
