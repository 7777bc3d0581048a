// SPDX-License-Identifier: Apache-2.0
// The base of the test suites of algorithms. The graph is an any_graph, so a suite compiles an algorithm for each
// space, and no graphs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/graph_on.hpp"
#include "../support/spaces.hpp"
#include "edge_lists.hpp"

namespace wyrm::tests {

template <class Space>
class any_graph_test : public space_test<Space>, protected edge_lists {
 protected:
  /// A graph with these edges, in which an edge occurs once; values: their weights, if o.values is not none.
  static graph::any_graph make(std::size_t n, std::vector<graph::edge> const& edges, graph::options o = {},
                               graph::host_numbers const& values = {}) {
    o.pool = pool();
    graph::any_graph g(space_of_graph(make_space<Space>()), alloc::default_name, n, o);
    g.insert(edges, values);
    return g;
  }
  /// The space on which algorithms read g.
  static Space space_of(graph::any_graph const& g) {
    if constexpr (is_space_of_graphs<Space>)
      return std::get<Space>(g.space());
    else
      return make_space<Space>();
  }
  static alloc::options pool() {
    return {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28, .checked = true};
  }
  /// The size n for fast spaces, and a smaller one if lanes are fibers.
  static std::size_t sized(std::size_t n, std::size_t least) {
    bool const slow = std::string_view(Space::name) == "simt";
    return scaled(slow ? std::max(n / 50, least) : n, least);
  }
  /// Checks that labels are numbered in the order of their first vertices, and how many vertices have each of them.
  static void expect_numbered(std::vector<std::uint32_t> const& label, std::uint32_t count,
                              std::vector<std::uint32_t> const& sizes) {
    std::vector<std::uint32_t> want;
    for (std::uint32_t const l : label) {
      ASSERT_LE(l, want.size());
      if (l == want.size()) want.push_back(0);
      ++want[l];
    }
    EXPECT_EQ(count, want.size());
    EXPECT_EQ(sizes, want);
  }
  static void expect_contains(std::string const& text, std::string const& part) {
    EXPECT_NE(text.find(part), std::string::npos) << '"' << text << "\" does not contain \"" << part << '"';
  }
};

}  // namespace wyrm::tests
