// SPDX-License-Identifier: Apache-2.0
// What `wyrm run` and `wyrm stream` share: their common options, and a graph file that becomes a graph on a device.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../alloc/registry.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/report.hpp"
#include "degrees.hpp"
#include "load.hpp"

namespace wyrm::apps {

struct graph_options {
  graph_file file;
  std::string device = "auto";
  std::string allocator = alloc::default_name;
  std::optional<std::vector<std::string>> algorithms;  // nothing: all that the graph's direction allows
  double tolerance = 1e-9;                             // PageRank, L1
  bool weighted = false;                               // PageRank by the weights in the file; not of `wyrm stream`
  bool check = false;                                  // prove invariants after the build and at the end
  std::size_t top = 0;                                 // vertices of largest rank, and of most triangles, to show
  std::string output;                                  // a folder for the values of all vertices; empty: none
  std::string report;                                  // empty: none

  /// The direction of the graph aside.
  [[nodiscard]] bool asks_for(char const* algorithm) const;
  /// Counts of triangles by vertex, and clustering coefficients.
  [[nodiscard]] bool wants_corners() const { return top > 0 || !output.empty(); }
};

struct graph_summary {
  std::string device;
  bool directed = false;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t arcs = 0;
  graph::update_report build;  // what became of the file's edges
  degree_summary degrees;
  double load_ms = 0;
  double build_ms = 0;
  graph::memory_report memory;
};

struct loaded_graph {
  graph::any_graph g;
  graph::csr rows;             // of the graph as loaded
  graph_summary summary;       // the same
  std::vector<float> weights;  // of its arcs, in that order; empty where nobody wants them
  bool pagerank;               // is to be computed
  bool triangles;
};

/// Throws what loading and building throw; error(bad_argument) when triangles are asked for by name, and the graph is
/// directed, and for weights that the file has not.
[[nodiscard]] loaded_graph load_graph(graph_options const& o);

/// Milliseconds that f() takes. What it calls hands its result to the host, so device work is over when it returns.
template <class F>
double timed(F const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace wyrm::apps
