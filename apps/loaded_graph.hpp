// SPDX-License-Identifier: Apache-2.0
// The common part of `wyrm run` and `wyrm stream`: options, and building a graph on a device from a graph file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../alloc/registry.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/update_report.hpp"
#include "algorithms.hpp"
#include "degrees.hpp"
#include "load.hpp"
#include "placement.hpp"

namespace wyrm::apps {

/// In graph_options::algorithms: no algorithm is selected.
inline constexpr char const* no_algorithms = "none";

struct graph_options : placement {
  graph_file file;
  std::string allocator = alloc::default_name;
  std::optional<std::vector<std::string>> algorithms;  // names, or "all"; nothing: pagerank and triangles
  std::string source;  // of algorithms that have one, as the id of a vertex; empty: the smallest id of largest degree
  double tolerance = 1e-9;                            // of PageRank: L1 norm of the last change
  bool weighted = false;                              // algorithms use the weights in the file
  bool weights_may_lack = false;                      // `weighted`: edges of a file without weights have weight 1
  graph::combiner combine = graph::combiner::latest;  // of weights of the same edge
  bool no_edges = false;                              // only the vertices of the file; `wyrm stream` only
  bool check = false;                                 // check invariants after the build and at the end
  std::size_t top = 0;                                // number of vertices to print in rankings
  std::string output;                                 // output folder for the values of all vertices; empty: none
  std::string report;                                 // output file for the JSON report; empty: none

  /// The selected algorithms, without repeats. Does not consider the direction of the graph.
  [[nodiscard]] std::vector<algorithm const*> selected() const;
  /// Whether the algorithm is selected.
  [[nodiscard]] bool asks_for(std::string_view name) const;
  /// Whether the algorithm was selected by its own name.
  [[nodiscard]] bool names(std::string_view name) const;
  /// Whether triangles per vertex and clustering coefficients are needed.
  [[nodiscard]] bool needs_vertex_triangles() const { return top > 0 || !output.empty(); }
};

struct graph_summary {
  std::string device;
  std::string generated_on;  // see generating_device()
  bool directed = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t arcs = 0;
  graph::update_report build;  // result of inserting the edges of the file
  degree_summary degrees;
  vertex_ids ids;
  double load_ms = 0;
  double build_ms = 0;
  graph::memory_report memory;
};

struct loaded_graph {
  std::shared_ptr<alloc::residency::bounded_space> bound;  // where --device-memory is given
  graph::any_graph g;
  graph::csr rows;              // CSR of the graph as loaded
  graph_summary summary;        // of the graph as loaded
  std::vector<double> weights;  // of the arcs in rows; empty unless `weighted` is set

  [[nodiscard]] std::optional<alloc::residency::statistics> residency() const {
    return bound ? std::optional(bound->counters()) : std::nullopt;
  }
};

/// Throws the errors of loading and building; error(bad_argument) when an algorithm for undirected graphs is selected
/// by its name and the graph is directed, or when `weighted` is set and the file has no weights, which may not lack.
[[nodiscard]] loaded_graph load_graph(graph_options const& o);

/// The source of the selected algorithms in the graph as loaded: the vertex of graph_options::source, or that with the
/// smallest id among those of largest degree. Nothing if no selected algorithm has a source, or the graph has no
/// vertices. Throws error(bad_argument) if the option is no vertex, or no selected algorithm has a source.
[[nodiscard]] std::optional<graph::vertex_id> find_source(graph_options const& o, graph::csr const& rows,
                                                          vertex_ids const& ids);

/// Wall-clock time of f() in milliseconds. f() must return its results to the host, so that its device work is
/// complete.
template <class F>
double timed(F const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace wyrm::apps
