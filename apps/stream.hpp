// SPDX-License-Identifier: Apache-2.0
// `wyrm stream`: builds a dynamic graph from a file, applies a stream of updates, and maintains results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "../graph/update_report.hpp"
#include "loaded_graph.hpp"
#include "run.hpp"
#include "update_reader.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

/// The ranks that are printed with a batch: none; the `top` largest; those that differ by more than `tolerance` from
/// what was printed last; or all.
enum class emission { none, top, changes, all };

/// `weighted`: the weights of updates, and of the file if it has some, are the values of edges, which PageRank and
/// shortest paths use.
struct stream_options : graph_options {
  update_file updates;          // `timed` follows from `window`, `dated` from `half_life`
  std::size_t batch = 100'000;  // maximum number of updates in a batch; without a window
  double window = 0;            // seconds that an edge stays after its last insertion; 0: until it is erased
  double slide = 0;             // seconds of a batch of a window; 0: the window
  std::size_t every = 1;        // results are maintained every so many batches
  double half_life = 0;         // seconds in which weights halve, and repeated edges add up; 0: the last weight stays
  double forget = 0;            // edges of a smaller weight are erased after each batch
  emission emit = emission::none;
  std::string save;   // output file for the updates as text; empty: none
  bool json = false;  // a JSON object per batch instead of tables
};

/// The work on ranks in one batch, or in all batches.
struct rank_changes {
  std::uint64_t iterations = 0;
  std::uint64_t ranked = 0;  // number of changes of a rank
  bool converged = true;     // whether no work is left for the next batch
};

/// The new rank of a vertex; nothing for one that was removed.
struct emitted_rank {
  graph::vertex_id vertex;
  std::variant<std::uint64_t, std::string> id;  // in the file
  std::optional<double> rank;
};

/// Figures of a maintained result; nothing if it is not maintained with the batch.
struct maintained_figures {
  algorithm const* of;
  std::optional<std::vector<figure>> figures;
};

struct batch_result {
  std::size_t number = 0;  // from 1
  graph::update_report changes;
  std::uint64_t vertices = 0;  // of the graph after the batch, like edges
  std::uint64_t edges = 0;
  std::uint64_t added = 0;      // vertices
  std::uint64_t removed = 0;    // vertices
  std::uint64_t expired = 0;    // requested erasures of edges that left the window
  std::uint64_t forgotten = 0;  // edges whose weight had become too small
  std::optional<double> end;    // of the slide of a window
  // Nothing for results that were not selected, or are not maintained with this batch.
  std::optional<rank_changes> pagerank;
  std::optional<std::uint64_t> triangles;
  std::vector<maintained_figures> further;  // of stream_result::further; for stream_options::json only
  // In descending order (`top`), or by vertices, behind those that were removed (`changes`).
  std::optional<std::vector<emitted_rank>> ranks;
  double ms = 0;  // time of the update of the graph and of all results that are maintained with it
};

struct maintained_ranks : rank_summary, rank_changes {
  double ms = 0;  // time of PageRank on the graph as loaded
};

struct stream_result {
  graph_summary loaded;
  bool interrupted = false;    // whether a signal ended the updates
  std::exception_ptr failure;  // the error that ended the updates; all batches before are applied, and nothing else
  std::string failed;          // its message
  std::uint64_t refused = 0;   // number of lines that were refused
  std::uint64_t added = 0;     // vertices
  std::uint64_t removed = 0;   // vertices
  std::uint64_t expired = 0;   // as in batch_result, like forgotten
  std::uint64_t forgotten = 0;
  update_result updates;
  std::uint64_t edges = 0;  // at the end, like all following fields
  std::uint64_t vertices = 0;
  graph::memory_report memory_after;
  std::optional<alloc::residency::statistics> residency;  // at the end, where --device-memory is given
  std::optional<maintained_ranks> pagerank;
  std::optional<triangles_summary> triangles;  // ms: time of counting in the graph as loaded
  std::optional<graph::vertex_id> source;      // if a maintained algorithm has one
  std::vector<named_result> further;           // without PageRank and triangles; ms: time in the graph as loaded
  std::vector<named_values> values;            // triangles if they are needed per vertex
};

/// Of times of batches, in milliseconds; the nearest ranks. All 0 without batches.
struct latencies {
  double p50 = 0, p95 = 0, p99 = 0, max = 0;
};
[[nodiscard]] latencies summarize(std::vector<double> batch_ms);

/// Prints the loaded graph, and each batch as soon as it is applied. The updates also end when `out` fails, and at the
/// first signal (finish_when_interrupted); a batch that is not read completely by then is not applied. Throws the
/// errors of loading and building; error(bad_argument) for a source that does not exist. An error of reading, saving or
/// updating ends the updates: all printed batches are applied then, and a batch with a malformed line is not; the
/// result describes the graph, and has the error. With `check`, throws error(corrupt) if the maintained results at the
/// end differ from recomputed ones.
[[nodiscard]] stream_result stream(stream_options const& o, std::ostream& out);

}  // namespace wyrm::apps
