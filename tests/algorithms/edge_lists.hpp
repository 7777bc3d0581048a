// SPDX-License-Identifier: Apache-2.0
// Edges of graphs with a known shape, for the test suites of algorithms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../datasets/generators.hpp"
#include "../../graph/types.hpp"

namespace wyrm::tests {

struct edge_lists {
  /// All pairs of the n vertices from `first` on.
  static std::vector<graph::edge> clique(graph::vertex_id first, graph::vertex_id n) {
    std::vector<graph::edge> all;
    for (graph::vertex_id u = first; u < first + n; ++u)
      for (graph::vertex_id v = u + 1; v < first + n; ++v) all.push_back({v, u});
    return all;
  }
  static std::vector<graph::edge> clique(graph::vertex_id n) { return clique(0, n); }
  /// 0 -> 1 -> ... -> n - 1, and back to 0 if it is a cycle.
  static std::vector<graph::edge> path(graph::vertex_id n, bool is_cycle = false) {
    std::vector<graph::edge> all;
    for (graph::vertex_id v = 0; v + 1 < n; ++v) all.push_back({v, v + 1});
    if (is_cycle) all.push_back({n - 1, 0});
    return all;
  }
  /// Rows of all lengths among 2^log2 vertices: `count` edges of R-MAT, which has hubs, and from vertex 0 to all
  /// others.
  static std::vector<graph::edge> skewed(unsigned log2, std::size_t count) {
    datasets::rmat_edges const edge{log2, 7};
    std::vector<graph::edge> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(edge(i));
    for (graph::vertex_id v = 1; v < 1u << log2; ++v) all.push_back({0, v});
    return all;
  }
  static std::vector<graph::edge> skewed(unsigned log2) { return skewed(log2, std::size_t{16} << log2); }
  /// Cliques, and an edge from the last vertex of each to the first of the next.
  static std::vector<graph::edge> ring_of_cliques(graph::vertex_id cliques, graph::vertex_id size = 5) {
    std::vector<graph::edge> all;
    for (graph::vertex_id c = 0; c < cliques; ++c) {
      for (graph::edge const e : clique(c * size, size)) all.push_back(e);
      all.push_back({c * size + size - 1, (c + 1) % cliques * size});
    }
    return all;
  }
  /// A label per vertex: the number of its group, each of which has `size` vertices.
  static std::vector<std::uint32_t> groups_of(std::uint32_t n, std::uint32_t size) {
    std::vector<std::uint32_t> label(n);
    for (std::uint32_t v = 0; v < n; ++v) label[v] = v / size;
    return label;
  }
};

}  // namespace wyrm::tests
