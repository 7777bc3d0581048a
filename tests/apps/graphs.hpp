// SPDX-License-Identifier: Apache-2.0
// Small graphs with a closed form of PageRank (d = 0.85), and a model of the reports of updates.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

/// The complete graph of vertices 0 to 4, and the isolated vertex 5. With damping d, the rank of vertex 5 is
/// y = (1 - d + d y) / 6, and the other ranks are x = y + d x, so y = (1 - d) / (6 - d) and x = 1 / (6 - d).
inline constexpr char const* k5 = "6 10\n2 3 4 5\n1 3 4 5\n1 2 4 5\n1 2 3 5\n1 2 3 4\n\n";
inline constexpr double k5_rank = 1 / 5.15;
inline double const k5_l2 = std::sqrt(5 + 0.15 * 0.15) / 5.15;

/// Arcs 0 -> 1, 0 -> 2, 1 -> 2, 3 -> 2. Vertex 2 has no out-neighbours, so its rank is distributed uniformly. With b
/// for the uniform part of each rank, the ranks are b, 1.425 b, 3.48625 b and b, and their sum is 1.
inline constexpr char const* arcs4 = "%%MatrixMarket matrix coordinate pattern general\n4 4 4\n1 2\n1 3\n2 3\n4 3\n";

/// A wheel: vertex 0, the hub, is a neighbour of all others, which form a ring, the rim. With m = n - 1 vertices on the
/// rim and b = (1 - d) / n, the ranks are hub = b + d m rim / 3 and rim = b + d (hub / m + 2 rim / 3).
inline constexpr std::size_t wheel_size = 3000;
inline constexpr double wheel_m = wheel_size - 1;
inline constexpr double wheel_b = 0.15 / wheel_size;
inline constexpr double wheel_rim = wheel_b * (1 + 0.85 / wheel_m) / (1 - 0.85 * 2 / 3 - 0.85 * 0.85 / 3);
inline constexpr double wheel_hub = wheel_b + 0.85 * wheel_m * wheel_rim / 3;

using edge_set = std::set<std::pair<graph::vertex_id, graph::vertex_id>>;

[[nodiscard]] inline edge_set wheel() {
  edge_set edges;
  for (graph::vertex_id v = 1; v < wheel_size; ++v) edges.insert({0, v});
  for (graph::vertex_id v = 1; v + 1 < wheel_size; ++v) edges.insert({v, v + 1});
  edges.insert({1, wheel_size - 1});
  return edges;
}

/// An undirected graph as a Matrix Market file: the lower triangle, ids from 1.
[[nodiscard]] inline std::string matrix_market(std::size_t vertices, edge_set const& edges) {
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate pattern symmetric\n"
       << vertices << ' ' << vertices << ' ' << edges.size() << '\n';
  for (auto const& [low, high] : edges) text << high + 1 << ' ' << low + 1 << '\n';
  return text.str();
}

[[nodiscard]] inline graph::csr rows_of(std::size_t vertices, bool directed, edge_set const& edges) {
  edge_set arcs = edges;
  if (!directed)
    for (auto const& [u, v] : edges) arcs.insert({v, u});
  graph::csr rows;
  rows.offsets.resize(vertices + 1);
  for (auto const& [u, v] : arcs) {
    ++rows.offsets[u + 1];
    rows.targets.push_back(v);
  }
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  return rows;
}

/// The expected reports of updates of an undirected graph, computed edge by edge.
struct update_model {
  std::uint64_t inserted = 0, insert_duplicates = 0, erase_requested = 0, erased = 0, missing = 0, erase_duplicates = 0;
  update_model(edge_set const& before, std::vector<std::vector<graph::edge>> const& batches) {
    edge_set now = before;
    auto const key = [](graph::edge e) { return std::minmax({e.source, e.target}); };
    for (auto const& batch : batches)
      for (graph::edge const e : batch) ++(now.insert(key(e)).second ? inserted : insert_duplicates);
    for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
      edge_set seen;
      for (graph::edge const e : *batch) {
        if (before.contains(key(e))) continue;
        ++erase_requested;
        if (!seen.insert(key(e)).second)
          ++erase_duplicates;
        else
          ++(now.erase(key(e)) > 0 ? erased : missing);
      }
    }
  }
};

}  // namespace wyrm::tests
