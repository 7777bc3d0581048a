// SPDX-License-Identifier: Apache-2.0
// `wyrm stream`: a graph file in, and updates as they come; PageRank and triangles follow the graph through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "../graph/report.hpp"
#include "loaded_graph.hpp"
#include "run.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

struct stream_options : graph_options {
  std::string updates = "-";    // a file, or "-": standard input
  std::size_t batch = 100'000;  // the most updates a batch
};

/// What happened to the ranks, in a batch or in all of them.
struct rank_changes {
  std::uint64_t iterations = 0;
  std::uint64_t ranked = 0;  // how often a vertex was given another rank
  bool converged = true;     // nothing is left to be done with the next batch
};

struct batch_result {
  std::size_t number = 0;  // from 1
  graph::update_report changes;
  std::uint64_t edges = 0;  // of the graph, then
  std::optional<rank_changes> pagerank;
  std::optional<std::uint64_t> triangles;
  double ms = 0;  // the update of the graph and of all that follows it
};

struct followed_ranks : rank_summary, rank_changes {
  double ms = 0;  // of ranking the graph as loaded
};

struct stream_result {
  graph_summary loaded;
  update_result updates;
  std::uint64_t edges = 0;  // at the end, as is all that follows
  graph::memory_report memory_after;
  std::optional<followed_ranks> pagerank;
  std::optional<triangles_summary> triangles;  // ms: of counting those of the graph as loaded
  vertex_values values;                        // of triangles where somebody wants them
};

/// Prints what was loaded, and each batch as soon as it has happened. Throws what loading, building, reading and
/// updating throw: what was printed has happened then, and no batch with a malformed line has. error(corrupt) if what
/// followed the graph is not what is found in it at the end.
[[nodiscard]] stream_result stream(stream_options const& o, std::ostream& out);

}  // namespace wyrm::apps
