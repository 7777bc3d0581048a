// SPDX-License-Identifier: Apache-2.0
// The base of the test suites of algorithms: graphs in a space, and edges for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../../datasets/generators.hpp"
#include "../support/graph_on.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

template <class Space>
class graphs_test : public space_test<Space> {
 protected:
  using graph_type = graph_on<Space>;

  /// The space for many small steps: on a host, waiting for other threads would take longer than their work.
  static Space one_thread() {
    if constexpr (std::is_same_v<Space, exec::host_space>)
      return exec::host_space(1);
    else
      return make_space<Space>();
  }
  graph_type make(std::size_t n, std::vector<graph::edge> const& edges, bool directed = false, bool loops = false,
                  Space const& space = make_space<Space>()) {
    graph::options o{.directed = directed, .self_loops = loops};
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28, .checked = true};
    graph_type g(space, n, o);
    g.insert(edges);
    return g;
  }
  /// The size n for fast spaces, and a smaller one if lanes are fibers.
  static std::size_t sized(std::size_t n, std::size_t least) {
    bool const slow = std::string_view(Space::name) == "simt";
    return scaled(slow ? std::max(n / 50, least) : n, least);
  }
  /// Edges for rows of all lengths: R-MAT draws hubs, and vertex 0 is a neighbour of all.
  static std::vector<graph::edge> skewed(unsigned log2) {
    datasets::rmat_edges const edge{log2, 7};
    std::vector<graph::edge> edges;
    for (std::uint64_t i = 0; i < std::uint64_t{16} << log2; ++i) edges.push_back(edge(i));
    for (graph::vertex_id v = 1; v < 1u << log2; ++v) edges.push_back({0, v});
    return edges;
  }
  static std::vector<graph::edge> clique(graph::vertex_id n) {
    std::vector<graph::edge> edges;
    for (graph::vertex_id u = 0; u < n; ++u)
      for (graph::vertex_id v = u + 1; v < n; ++v) edges.push_back({v, u});
    return edges;
  }
};

}  // namespace wyrm::tests
