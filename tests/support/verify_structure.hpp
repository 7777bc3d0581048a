// SPDX-License-Identifier: Apache-2.0
// Serial verifiers of strong components, spanning forests, independent sets, colourings and labels, written from the
// definitions. They use a CSR, and no code of what they verify.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

/// The smallest vertex of the strongly connected component of each vertex: depth-first search (Tarjan 1972) with a
/// stack of its own instead of recursion.
inline std::vector<graph::vertex_id> serial_strong_components(graph::csr const& g) {
  std::size_t const n = g.offsets.size() - 1;
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> number(n, none);
  std::vector<std::size_t> low(n, none);
  std::vector<bool> is_open(n);
  std::vector<std::uint64_t> next(g.offsets.begin(), g.offsets.end());
  std::vector<graph::vertex_id> label(n);
  std::vector<graph::vertex_id> open;
  std::vector<graph::vertex_id> path;
  std::size_t visited = 0;
  for (graph::vertex_id start = 0; start < n; ++start) {
    if (number[start] != none) continue;
    path.push_back(start);
    while (!path.empty()) {
      graph::vertex_id const v = path.back();
      if (number[v] == none) {
        number[v] = low[v] = visited++;
        open.push_back(v);
        is_open[v] = true;
      }
      if (next[v] < g.offsets[v + 1]) {
        graph::vertex_id const u = g.targets[next[v]++];
        if (number[u] == none)
          path.push_back(u);
        else if (is_open[u])
          low[v] = std::min(low[v], number[u]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
      if (low[v] != number[v]) continue;
      auto const first = std::find(open.begin(), open.end(), v);
      graph::vertex_id const least = *std::min_element(first, open.end());
      for (auto u = first; u != open.end(); ++u) {
        label[*u] = least;
        is_open[*u] = false;
      }
      open.erase(first, open.end());
    }
  }
  return label;
}

/// The edges of the minimum spanning forest, ascending, for weights in the order of the arcs (none: all are 1):
/// Kruskal's algorithm, which takes edges by weight, smaller end and larger end, with sets that are merged member by
/// member.
template <class Weight>
std::vector<graph::edge> serial_spanning_forest(graph::csr const& g, std::vector<Weight> const& weights) {
  std::size_t const n = g.offsets.size() - 1;
  std::vector<std::tuple<Weight, graph::vertex_id, graph::vertex_id>> edges;
  for (graph::vertex_id u = 0; u < n; ++u)
    for (auto i = g.offsets[u]; i < g.offsets[u + 1]; ++i)
      if (u < g.targets[i]) edges.emplace_back(weights.empty() ? Weight{1} : weights[i], u, g.targets[i]);
  std::sort(edges.begin(), edges.end());
  std::vector<std::vector<graph::vertex_id>> members(n);
  std::vector<graph::vertex_id> of(n);
  for (graph::vertex_id v = 0; v < n; ++v) members[of[v] = v] = {v};
  std::vector<graph::edge> forest;
  for (auto const& [w, u, v] : edges) {
    graph::vertex_id into = of[u];
    graph::vertex_id from = of[v];
    if (into == from) continue;
    if (members[into].size() < members[from].size()) std::swap(into, from);
    for (graph::vertex_id const m : members[from]) of[m] = into;
    members[into].insert(members[into].end(), members[from].begin(), members[from].end());
    members[from] = {};
    forest.push_back({u, v});
  }
  std::sort(forest.begin(), forest.end());
  return forest;
}

/// The set that takes these vertices in this order, each one that has no neighbour in the set.
inline std::vector<std::uint8_t> serial_independent_set(graph::csr const& g,
                                                        std::vector<graph::vertex_id> const& vertices) {
  std::vector<std::uint8_t> member(g.offsets.size() - 1);
  for (graph::vertex_id const v : vertices) {
    bool joins = true;
    for (auto i = g.offsets[v]; i < g.offsets[v + 1]; ++i) joins = joins && member[g.targets[i]] == 0;
    member[v] = joins ? 1 : 0;
  }
  return member;
}

/// Gives these vertices colours in this order, each the smallest one that no neighbour has; the others have none.
inline std::vector<std::uint32_t> serial_colouring(graph::csr const& g, std::vector<graph::vertex_id> const& vertices,
                                                   std::uint32_t none) {
  std::vector<std::uint32_t> colour(g.offsets.size() - 1, none);
  for (graph::vertex_id const v : vertices) {
    std::set<std::uint32_t> taken;
    for (auto i = g.offsets[v]; i < g.offsets[v + 1]; ++i) taken.insert(colour[g.targets[i]]);
    std::uint32_t free = 0;
    while (taken.count(free) > 0) ++free;
    colour[v] = free;
  }
  return colour;
}

/// What is wrong with a set of vertices that should be independent and maximal; empty if nothing is.
inline std::string fault_of_independent_set(graph::csr const& g, std::vector<std::uint8_t> const& member) {
  for (std::size_t v = 0; v + 1 < g.offsets.size(); ++v) {
    std::size_t in_set = 0;
    for (auto i = g.offsets[v]; i < g.offsets[v + 1]; ++i)
      in_set += g.targets[i] != v && member[g.targets[i]] != 0 ? 1u : 0u;
    if (member[v] != 0 && in_set > 0) return "member " + std::to_string(v) + " has a neighbour in the set";
    if (member[v] == 0 && in_set == 0) return "vertex " + std::to_string(v) + " could be added to the set";
  }
  return {};
}

/// What is wrong with colours that should be greedy: neighbours differ, and a vertex has neighbours of all smaller
/// colours. Empty if nothing is.
inline std::string fault_of_colouring(graph::csr const& g, std::vector<std::uint32_t> const& colour) {
  for (std::size_t v = 0; v + 1 < g.offsets.size(); ++v) {
    std::set<std::uint32_t> smaller;
    for (auto i = g.offsets[v]; i < g.offsets[v + 1]; ++i) {
      graph::vertex_id const u = g.targets[i];
      if (u != v && colour[u] == colour[v])
        return "the neighbours " + std::to_string(v) + " and " + std::to_string(u) + " have the same colour";
      if (colour[u] < colour[v]) smaller.insert(colour[u]);
    }
    if (smaller.size() != colour[v]) return "vertex " + std::to_string(v) + " could have a smaller colour";
  }
  return {};
}

/// What is wrong with labels that are to be among the most frequent ones of the neighbours of each vertex, to which its
/// in-neighbours belong, too; empty if nothing is. A vertex without other neighbours has its own label.
inline std::string fault_of_labels(graph::csr const& g, bool directed, std::vector<graph::vertex_id> const& label) {
  std::size_t const n = g.offsets.size() - 1;
  if (label.size() != n) return "there are " + std::to_string(label.size()) + " labels";
  std::vector<std::map<graph::vertex_id, std::size_t>> votes(n);
  for (graph::vertex_id v = 0; v < n; ++v)
    for (auto i = g.offsets[v]; i < g.offsets[v + 1]; ++i) {
      graph::vertex_id const u = g.targets[i];
      if (u == v) continue;
      ++votes[v][label[u]];
      if (directed) ++votes[u][label[v]];
    }
  for (graph::vertex_id v = 0; v < n; ++v) {
    if (votes[v].empty() && label[v] != v) return "vertex " + std::to_string(v) + " has the label of another one";
    for (auto const& [other, count] : votes[v])
      if (count > votes[v][label[v]])
        return "vertex " + std::to_string(v) + " has label " + std::to_string(label[v]) + ", but " +
               std::to_string(other) + " is more frequent";
  }
  return {};
}

}  // namespace wyrm::tests
