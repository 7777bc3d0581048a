// SPDX-License-Identifier: Apache-2.0
// The base of the test suites of algorithms that read a graph and never change it. The graph is an any_graph, so a
// suite compiles an algorithm for each space, and no graphs. A graph of the CPU also serves tiles of fibers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../exec/device.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

template <class Space>
class any_graph_test : public space_test<Space> {
 protected:
  /// A graph with these edges, in which an edge occurs once; values: their weights, if o.values is not none.
  static graph::any_graph make(std::size_t n, std::vector<graph::edge> const& edges, graph::options o = {},
                               graph::host_numbers const& values = {}) {
    constexpr bool on_gpu = requires { Space::device_count(); };
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28, .checked = true};
    graph::any_graph g(exec::make_space(on_gpu ? "cuda" : "cpu"), alloc::default_name, n, o);
    g.insert(edges, values);
    return g;
  }
  /// The space on which algorithms read g.
  static Space space_of(graph::any_graph const& g) {
    if constexpr (std::is_same_v<Space, exec::host_space> || requires { Space::device_count(); })
      return std::get<Space>(g.space());
    else
      return make_space<Space>();
  }
  /// The size n for fast spaces, and a smaller one if lanes are fibers.
  static std::size_t sized(std::size_t n, std::size_t least) {
    bool const slow = std::string_view(Space::name) == "simt";
    return scaled(slow ? std::max(n / 50, least) : n, least);
  }
};

}  // namespace wyrm::tests
