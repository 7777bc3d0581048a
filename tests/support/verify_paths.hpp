// SPDX-License-Identifier: Apache-2.0
// Serial verifiers of algorithms on shortest paths, written from the definitions. They use a CSR, and no code of what
// they verify.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

/// The distance of each vertex from the source, by a priority queue (Dijkstra 1959); infinity for unreached vertices.
/// lengths: in the order of the arcs; empty: each arc has the length 1.
inline std::vector<double> serial_lengths(graph::csr const& g, graph::vertex_id source,
                                          std::vector<double> const& lengths) {
  std::vector<double> distance(g.offsets.size() - 1, std::numeric_limits<double>::infinity());
  using entry = std::pair<double, graph::vertex_id>;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> waiting;
  distance[source] = 0;
  waiting.emplace(0.0, source);
  while (!waiting.empty()) {
    auto const [d, u] = waiting.top();
    waiting.pop();
    if (d > distance[u]) continue;
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
      double const through = d + (lengths.empty() ? 1.0 : lengths[i]);
      if (through >= distance[g.targets[i]]) continue;
      distance[g.targets[i]] = through;
      waiting.emplace(through, g.targets[i]);
    }
  }
  return distance;
}

/// The parent of each vertex that sssp_result documents, from its distances: over all arcs, again and again.
inline std::vector<graph::vertex_id> serial_parents(graph::csr const& g, graph::vertex_id source,
                                                    std::vector<double> const& lengths,
                                                    std::vector<double> const& distance) {
  std::size_t const n = g.offsets.size() - 1;
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<graph::vertex_id> parent(n, graph::no_vertex);
  std::vector<std::size_t> level(n, none);
  parent[source] = source;
  level[source] = 0;
  for (std::size_t turn = 0, changes = 1; turn <= 1 || changes > 0; ++turn) {
    changes = 0;  // in turn 0 arcs from nearer vertices, in turn k those from level k - 1
    for (graph::vertex_id u = 0; u < n; ++u)
      for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
        graph::vertex_id const v = g.targets[i];
        if (distance[u] == std::numeric_limits<double>::infinity() || v == source) continue;
        if (distance[u] + (lengths.empty() ? 1.0 : lengths[i]) != distance[v]) continue;
        if (turn == 0 ? distance[u] >= distance[v] : distance[u] != distance[v] || level[u] != turn - 1) continue;
        if (level[v] < turn || parent[v] <= u) continue;
        level[v] = turn;
        parent[v] = u;
        ++changes;
      }
  }
  return parent;
}

/// Betweenness by its definition: the fraction of the shortest paths from s to t that pass through v, added up over
/// all t, and the s in `sources`, where s, t and v differ. O(vertices^2) per source, besides distances of all pairs.
inline std::vector<double> serial_betweenness(graph::csr const& g, std::vector<graph::vertex_id> const& sources) {
  std::size_t const n = g.offsets.size() - 1;
  constexpr std::size_t far = ~std::size_t{0};
  std::vector<std::vector<std::size_t>> distance(n, std::vector<std::size_t>(n, far));
  std::vector<std::vector<double>> paths(n, std::vector<double>(n, 0));
  for (graph::vertex_id s = 0; s < n; ++s) {
    std::vector<graph::vertex_id> level{s};
    distance[s][s] = 0;
    paths[s][s] = 1;
    for (std::size_t d = 1; !level.empty(); ++d) {
      std::vector<graph::vertex_id> next;
      for (graph::vertex_id const u : level)
        for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
          graph::vertex_id const v = g.targets[i];
          if (distance[s][v] == far) {
            distance[s][v] = d;
            next.push_back(v);
          }
          if (distance[s][v] == d) paths[s][v] += paths[s][u];
        }
      level = std::move(next);
    }
  }
  std::vector<double> score(n);
  for (graph::vertex_id const s : sources)
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t v = 0; v < n; ++v) {
        if (s == t || s == v || t == v || distance[s][v] == far || distance[v][t] == far) continue;
        if (distance[s][v] + distance[v][t] == distance[s][t]) score[v] += paths[s][v] * paths[v][t] / paths[s][t];
      }
  return score;
}

}  // namespace wyrm::tests
