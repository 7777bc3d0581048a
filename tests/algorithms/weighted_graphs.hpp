// SPDX-License-Identifier: Apache-2.0
// Graphs whose values are the weights of arcs, for tests of algorithms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../support/graph_on.hpp"

namespace wyrm::tests {

/// The graph g with values, which are in the order of g.to_csr(), on any space. Of an undirected graph, the values of
/// arcs to a vertex that is not less are used; see symmetric().
template <class Value, class Space, class Graph>
graph_on<Space, Value> with_values(Space const& space, Graph const& g, std::vector<Value> const& values) {
  graph_on<Space, Value> valued(space, g.vertices(), g.settings());
  graph::csr const rows = g.to_csr();
  std::vector<graph::edge> edges;
  std::vector<Value> of_edges;
  for (graph::vertex_id u = 0; u + 1 < rows.offsets.size(); ++u)
    for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      if (!g.settings().directed && rows.targets[i] < u) continue;
      edges.push_back({u, rows.targets[i]});
      of_edges.push_back(values.at(i));
    }
  valued.insert(std::span<graph::edge const>(edges), std::span<Value const>(of_edges));
  return valued;
}
template <class Value, class Graph>
auto with_values(Graph const& g, std::vector<Value> const& values) {
  return with_values(g.space(), g, values);
}

/// Values in the order of to_csr() of an undirected graph, in which both arcs of an edge have the value of the first.
template <class Value>
std::vector<Value> symmetric(graph::csr const& rows, std::vector<Value> values) {
  for (graph::vertex_id u = 0; u + 1 < rows.offsets.size(); ++u)
    for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      graph::vertex_id const v = rows.targets[i];
      if (v >= u) continue;
      auto const begin = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[v]);
      auto const end = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[v + 1]);
      values[i] = values[static_cast<std::size_t>(std::lower_bound(begin, end, u) - rows.targets.begin())];
    }
  return values;
}

}  // namespace wyrm::tests
