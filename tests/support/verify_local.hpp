// SPDX-License-Identifier: Apache-2.0
// Serial verifiers of the algorithms on neighbourhoods, written from the definitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

/// Label propagation of Graphalytics: a map of votes per vertex. weights: in the order of the arcs, or none.
inline std::vector<graph::vertex_id> serial_label_propagation(graph::csr const& g, bool directed, unsigned iterations,
                                                              std::vector<graph::vertex_id> labels,
                                                              std::vector<double> const& weights = {}) {
  for (unsigned k = 0; k < iterations; ++k) {
    std::vector<std::map<graph::vertex_id, double>> votes(labels.size());
    for (graph::vertex_id u = 0; u < labels.size(); ++u)
      for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
        double const weight = weights.empty() ? 1 : weights[i];
        if (weight == 0) continue;
        votes[u][labels[g.targets[i]]] += weight;
        if (directed) votes[g.targets[i]][labels[u]] += weight;
      }
    for (std::size_t v = 0; v < labels.size(); ++v) {
      double most = 0;
      for (auto const& [label, count] : votes[v])
        if (count > most) {
          most = count;
          labels[v] = label;
        }
    }
  }
  return labels;
}

/// Local clustering coefficients of Graphalytics: sets of neighbours in either direction, and all pairs of them.
inline std::vector<double> serial_clustering_coefficients(graph::csr const& g) {
  std::size_t const n = g.offsets.size() - 1;
  std::vector<std::set<graph::vertex_id>> near(n);
  std::set<std::pair<graph::vertex_id, graph::vertex_id>> arcs;
  for (graph::vertex_id u = 0; u < n; ++u)
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
      if (g.targets[i] == u) continue;
      near[u].insert(g.targets[i]);
      near[g.targets[i]].insert(u);
      arcs.emplace(u, g.targets[i]);
    }
  std::vector<double> result(n);
  for (std::size_t v = 0; v < n; ++v) {
    double found = 0;
    for (graph::vertex_id const a : near[v])
      for (graph::vertex_id const b : near[v]) found += static_cast<double>(arcs.count({a, b}));
    auto const d = static_cast<double>(near[v].size());
    result[v] = d < 2 ? 0 : found / (d * (d - 1));
  }
  return result;
}

/// The numbers of elements in both, and in either, of the sets of neighbours of two vertices.
inline std::pair<std::size_t, std::size_t> serial_overlap(graph::csr const& g, graph::edge pair) {
  auto const row = [&](graph::vertex_id v) {
    return std::set<graph::vertex_id>(g.targets.begin() + static_cast<std::ptrdiff_t>(g.offsets[v]),
                                      g.targets.begin() + static_cast<std::ptrdiff_t>(g.offsets[v + 1]));
  };
  auto all = row(pair.source);
  auto const other = row(pair.target);
  std::size_t const both = all.size() + other.size();
  all.insert(other.begin(), other.end());
  return {both - all.size(), all.size()};
}

/// The trussness of each arc, from the definition: for each k, edges in fewer than k - 2 triangles are erased from sets
/// of neighbours until there are none. 0 for self-loops.
inline std::vector<std::uint32_t> serial_trussness(graph::csr const& g) {
  std::size_t const n = g.offsets.size() - 1;
  std::vector<std::set<graph::vertex_id>> near(n);
  std::map<std::pair<graph::vertex_id, graph::vertex_id>, std::uint32_t> found;
  std::size_t left = 0;
  for (graph::vertex_id u = 0; u < n; ++u)
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i)
      left += g.targets[i] != u && near[u].insert(g.targets[i]).second ? 1u : 0u;
  for (std::uint32_t k = 3; left > 0; ++k)
    for (bool erased = true; erased;) {
      erased = false;
      for (graph::vertex_id u = 0; u < n; ++u)
        for (graph::vertex_id const v : std::vector(near[u].begin(), near[u].end())) {
          auto const triangles =
              std::count_if(near[u].begin(), near[u].end(), [&](graph::vertex_id w) { return near[v].count(w) != 0; });
          if (triangles + 2 >= static_cast<std::ptrdiff_t>(k)) continue;
          near[u].erase(v);
          near[v].erase(u);
          found[{u, v}] = found[{v, u}] = k - 1;
          left -= 2;
          erased = true;
        }
    }
  std::vector<std::uint32_t> trussness;
  for (graph::vertex_id u = 0; u < n; ++u)
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i)
      trussness.push_back(u == g.targets[i] ? 0 : found.at({u, g.targets[i]}));
  return trussness;
}

}  // namespace wyrm::tests
