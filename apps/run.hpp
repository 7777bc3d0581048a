// SPDX-License-Identifier: Apache-2.0
// `wyrm run`: builds a dynamic graph from a file, applies random updates, and runs algorithms before and after them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../datasets/updates.hpp"
#include "../graph/update_report.hpp"
#include "algorithms.hpp"
#include "loaded_graph.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

struct run_options : graph_options {
  datasets::update_kind updates = datasets::update_kind::random;
  std::size_t batch = 100'000;  // edges per batch
  std::size_t rounds = 10;      // number of batches that are inserted and then erased
  std::uint64_t seed = 1;       // of the updates, and of the draw of sources
  /// The number of vertices from which betweenness is computed, drawn by the seed; at most all of them. Nothing: see
  /// exact_betweenness_vertices.
  std::optional<std::size_t> sources;
};

/// The sum of all batches, of insertions, of erasures, or of both.
struct update_result {
  graph::update_report sum;
  std::vector<double> batch_ms;
  std::vector<std::uint64_t> batch_edges;
  /// Requested edges per second of each batch, in ascending order. A batch counts at least a nanosecond, the step of
  /// the clock.
  [[nodiscard]] std::vector<double> rates() const {
    constexpr double step_ms = 1e-6;
    std::vector<double> rates;
    for (std::size_t i = 0; i < batch_ms.size(); ++i)
      rates.push_back(static_cast<double>(batch_edges[i]) / std::max(batch_ms[i], step_ms) * 1000);
    std::sort(rates.begin(), rates.end());
    return rates;
  }
  void add(graph::update_report const& batch, double ms);
};
void add(graph::update_report& sum, graph::update_report const& one);

/// A result of an algorithm, whose values are in run_result::values.
struct named_result {
  algorithm const* of;
  algorithm_result result;
};

struct run_result {
  graph_summary loaded;
  graph::memory_report memory_after;
  std::optional<alloc::residency::statistics> residency;  // at the end, where --device-memory is given
  update_result insert;
  update_result erase;
  bool restored = true;                    // whether the CSR after the updates equals that of the loaded graph
  std::vector<algorithm const*> left_out;  // selected, but not by name, and not for the direction of the graph
  std::optional<graph::vertex_id> source;  // if an algorithm has one
  std::vector<named_result> before;        // in the order of all_algorithms()
  std::vector<named_result> after;         // empty without updates
  std::vector<named_values> values;        // at the end; triangles if they are needed per vertex
};

/// Throws the errors of loading, building and algorithms; error(bad_argument) if the source is no vertex, or no
/// algorithm has one, or if `sources` is given without betweenness; error(corrupt) if the updates do not restore the
/// graph.
[[nodiscard]] run_result run(run_options const& o);

/// `wyrm info [FILE]`: prints a description of a graph file, or without a file of the program and the machine.
void info(graph_file const& file);

/// `wyrm convert FILE OUT`: loads a graph and writes it in the format of the name `to`, with --ids
/// internal without the ids of the file. Before the work, throws
/// error(bad_argument) when that format is not written, or `to` is the file itself; error(io) when the folder of `to`
/// does not exist.
void convert(graph_file const& from, std::string const& to);
/// Writes a graph (loaders::write), and warns if it needs --max-vertices to be read again.
void write_with_advice(graph::edge_list const& list, std::string const& to);

}  // namespace wyrm::apps
