// SPDX-License-Identifier: Apache-2.0
// Serial verifiers of the algorithms, written from the definitions. They use a CSR, and no code of what they verify.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

/// PageRank by pushing along out-arcs, until ranks do not change in double precision. `teleport` has the sum 1, or is
/// empty; weights, if any, are in the order of the arcs.
inline std::vector<double> serial_pagerank(graph::csr const& g, double damping, std::vector<double> teleport = {},
                                           bool dangling_teleports = false, std::vector<float> const& weights = {}) {
  std::size_t const n = g.offsets.size() - 1;
  auto const weight = [&](std::uint64_t arc) { return weights.empty() ? 1.0 : static_cast<double>(weights[arc]); };
  std::vector<double> total(n);
  for (std::size_t v = 0; v < n; ++v)
    for (std::uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; ++i) total[v] += weight(i);
  std::vector<double> const even(n, 1.0 / static_cast<double>(n));
  if (teleport.empty()) teleport = even;
  std::vector<double> rank = even;
  for (int iteration = 0; iteration < 2000; ++iteration) {
    double dangling = 0;
    for (std::size_t v = 0; v < n; ++v)
      if (total[v] == 0) dangling += rank[v];
    std::vector<double> next(n);
    for (std::size_t v = 0; v < n; ++v)
      next[v] = (1 - damping) * teleport[v] + damping * dangling * (dangling_teleports ? teleport[v] : even[v]);
    for (std::size_t v = 0; v < n; ++v)
      for (std::uint64_t i = g.offsets[v]; total[v] > 0 && i < g.offsets[v + 1]; ++i)
        next[g.targets[i]] += damping * rank[v] * weight(i) / total[v];
    double change = 0;
    for (std::size_t v = 0; v < n; ++v) change += std::abs(next[v] - rank[v]);
    rank.swap(next);
    if (change < 1e-14) break;
  }
  return rank;
}

/// A bound of the error of serial_pagerank in the L1 norm, without teleport and weights, unless 2000 iterations were
/// too few: what later steps would change, and what rounding changed.
inline double serial_pagerank_error(double damping) { return 1e-14 / (1 - damping); }

/// The number of triangles at each vertex of an undirected graph: pairs of its neighbours, looked up in a set of all
/// arcs.
inline std::vector<std::uint64_t> serial_triangles(graph::csr const& g) {
  std::size_t const n = g.offsets.size() - 1;
  std::unordered_set<std::uint64_t> arcs;
  for (std::size_t v = 0; v < n; ++v)
    for (std::uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; ++i) arcs.insert(v << 32 | g.targets[i]);
  std::vector<std::uint64_t> corners(n);
  for (std::size_t v = 0; v < n; ++v)
    for (std::uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; ++i)
      for (std::uint64_t j = i + 1; j < g.offsets[v + 1]; ++j)
        if (g.targets[i] != v && g.targets[j] != v)
          corners[v] += arcs.count(std::uint64_t{g.targets[i]} << 32 | g.targets[j]);
  return corners;
}

/// The number of common neighbours of both ends of each arc, without the ends themselves.
inline std::vector<std::uint32_t> serial_support(graph::csr const& g) {
  std::vector<std::uint32_t> support;
  std::vector<bool> near(g.offsets.size() - 1);
  for (graph::vertex_id u = 0; u + 1 < g.offsets.size(); ++u) {
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) near[g.targets[i]] = g.targets[i] != u;
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
      graph::vertex_id const v = g.targets[i];
      std::uint32_t common = 0;
      for (auto k = g.offsets[v]; v != u && k < g.offsets[v + 1]; ++k)
        common += near[g.targets[k]] && g.targets[k] != v ? 1u : 0u;
      support.push_back(common);
    }
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) near[g.targets[i]] = false;
  }
  return support;
}

/// The smallest vertex of the weakly connected component of each vertex: sets that are merged edge by edge.
inline std::vector<graph::vertex_id> serial_components(graph::csr const& g) {
  std::vector<graph::vertex_id> of(g.offsets.size() - 1);
  std::iota(of.begin(), of.end(), graph::vertex_id{0});
  std::vector<std::vector<graph::vertex_id>> members(of.size());
  for (graph::vertex_id v = 0; v < of.size(); ++v) members[v] = {v};
  for (graph::vertex_id u = 0; u < of.size(); ++u)
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
      graph::vertex_id into = of[u];
      graph::vertex_id from = of[g.targets[i]];
      if (into == from) continue;
      if (members[into].size() < members[from].size()) std::swap(into, from);
      for (graph::vertex_id const v : members[from]) of[v] = into;
      members[into].insert(members[into].end(), members[from].begin(), members[from].end());
      members[from] = {};
    }
  for (auto const& set : members) {
    if (set.empty()) continue;
    graph::vertex_id const least = *std::min_element(set.begin(), set.end());
    for (graph::vertex_id const v : set) of[v] = least;
  }
  return of;
}

/// The distance of each vertex from the nearest source, in arcs, by a queue; the greatest number for unreached
/// vertices.
inline std::vector<std::uint32_t> serial_distances(graph::csr const& g, std::span<graph::vertex_id const> sources) {
  constexpr std::uint32_t far = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> distance(g.offsets.size() - 1, far);
  std::queue<graph::vertex_id> waiting;
  for (graph::vertex_id const v : sources) {
    distance[v] = 0;
    waiting.push(v);
  }
  for (; !waiting.empty(); waiting.pop()) {
    graph::vertex_id const u = waiting.front();
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
      if (distance[g.targets[i]] != far) continue;
      distance[g.targets[i]] = distance[u] + 1;
      waiting.push(g.targets[i]);
    }
  }
  return distance;
}

/// Core numbers of an undirected graph: vertices are in buckets by the number of their remaining neighbours; one vertex
/// at a time is removed from the lowest bucket.
inline std::vector<std::uint32_t> serial_core_numbers(graph::csr const& g) {
  std::size_t const n = g.offsets.size() - 1;
  std::vector<std::uint32_t> left(n);
  for (graph::vertex_id v = 0; v < n; ++v)
    for (auto i = g.offsets[v]; i < g.offsets[v + 1]; ++i) left[v] += g.targets[i] != v ? 1u : 0u;
  std::vector<std::vector<graph::vertex_id>> buckets(n + 1);
  for (graph::vertex_id v = 0; v < n; ++v) buckets[left[v]].push_back(v);
  std::vector<std::uint32_t> core(n);
  std::vector<bool> gone(n);
  std::uint32_t k = 0;
  for (std::size_t b = 0; b < n;) {
    if (buckets[b].empty()) {
      ++b;
      continue;
    }
    graph::vertex_id const u = buckets[b].back();
    buckets[b].pop_back();
    if (gone[u] || left[u] != b) continue;  // it is in another bucket
    gone[u] = true;
    k = std::max(k, left[u]);
    core[u] = k;
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
      graph::vertex_id const v = g.targets[i];
      if (gone[v]) continue;
      buckets[--left[v]].push_back(v);
      b = std::min<std::size_t>(b, left[v]);
    }
  }
  return core;
}

/// Modularity (Newman and Girvan), by a matrix of both directions of all arcs, in which a self-loop counts twice. The
/// arcs of a directed graph are taken as edges; without weights two opposite arcs are one edge, with weights they are
/// added up. Weights, if any, are in the order of the arcs; each edge of an undirected graph has two arcs, but a
/// self-loop one.
inline double serial_modularity(graph::csr const& g, std::vector<float> const& weights,
                                std::vector<std::uint32_t> const& label, bool directed = false) {
  std::map<std::pair<std::size_t, std::size_t>, double> matrix;
  for (std::size_t u = 0; u + 1 < g.offsets.size(); ++u)
    for (std::uint64_t i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
      std::size_t const v = g.targets[i];
      double const w = weights.empty() ? 1 : static_cast<double>(weights[i]);
      bool const sums = !weights.empty() || u == v;
      for (auto const& pair : {std::pair(u, v), std::pair(v, u)})
        matrix[pair] = (sums ? matrix[pair] : 0) + (u == v && !weights.empty() && !directed ? 2 * w : w);
    }
  std::map<std::size_t, double> inside;
  std::map<std::size_t, double> degree;
  double all = 0;
  for (auto const& [pair, w] : matrix) {
    all += w;
    degree[label[pair.first]] += w;
    if (label[pair.first] == label[pair.second]) inside[label[pair.first]] += w;
  }
  double q = 0;
  for (auto const& [l, d] : degree) q += inside[l] / all - d / all * (d / all);
  return q;
}

}  // namespace wyrm::tests
