// SPDX-License-Identifier: Apache-2.0
// `wyrm stream`: builds a dynamic graph from a file, applies a stream of updates, and maintains PageRank and triangles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "../graph/update_report.hpp"
#include "loaded_graph.hpp"
#include "run.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

struct stream_options : graph_options {
  std::string updates = "-";    // a file, or "-" for standard input
  std::size_t batch = 100'000;  // maximum number of updates in a batch
};

/// The work on ranks in one batch, or in all batches.
struct rank_changes {
  std::uint64_t iterations = 0;
  std::uint64_t ranked = 0;  // number of changes of a rank
  bool converged = true;     // whether no work is left for the next batch
};

struct batch_result {
  std::size_t number = 0;  // from 1
  graph::update_report changes;
  std::uint64_t edges = 0;  // of the graph after the batch
  std::optional<rank_changes> pagerank;
  std::optional<std::uint64_t> triangles;
  double ms = 0;  // time of the update of the graph and of all maintained results
};

struct maintained_ranks : rank_summary, rank_changes {
  double ms = 0;  // time of PageRank on the graph as loaded
};

struct stream_result {
  graph_summary loaded;
  bool interrupted = false;  // whether a signal ended the updates
  update_result updates;
  std::uint64_t edges = 0;  // at the end, like all following fields
  graph::memory_report memory_after;
  std::optional<alloc::residency::statistics> residency;  // at the end, where --device-memory is given
  std::optional<maintained_ranks> pagerank;
  std::optional<triangles_summary> triangles;  // ms: time of counting in the graph as loaded
  vertex_values values;                        // triangles if they are needed per vertex
};

/// Prints the loaded graph, and each batch as soon as it is applied. The updates also end when `out` fails, and at the
/// first signal (finish_when_interrupted); a batch that is not read completely by then is not applied. Throws the
/// errors of loading, building, reading and updating: all printed batches are applied then, and a batch with a
/// malformed line is not. With `check`, throws error(corrupt) if the maintained results at the end differ from
/// recomputed ones.
[[nodiscard]] stream_result stream(stream_options const& o, std::ostream& out);

}  // namespace wyrm::apps
