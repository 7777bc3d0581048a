// SPDX-License-Identifier: Apache-2.0
// The map equation on a directed graph by its definition: PageRank by power iterations in doubles, and entropies of
// code books (Rosvall and Bergstrom, PNAS 105, 2008; teleportation as in Lambiotte and Rosvall, Phys. Rev. E 85, 2012).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "verify_objective.hpp"

namespace wyrm::tests {

/// Of each arc: the fraction of all steps along arcs that it gets. The walk jumps with probability .15, to a vertex in
/// proportion to the weight of its out-going arcs; jumps are not counted.
inline std::vector<double> serial_flows(std::vector<weighted_edge> const& arcs, std::size_t n) {
  std::vector<double> strength(n);
  double all = 0;
  for (weighted_edge const& a : arcs) {
    strength[a.u] += a.weight;
    all += a.weight;
  }
  std::vector<double> flow(arcs.size());
  if (all == 0) return flow;
  std::vector<double> rank(n, 1.0 / static_cast<double>(n));
  for (unsigned step = 0; step < 250; ++step) {
    double stuck = 0;
    for (std::size_t v = 0; v < n; ++v) stuck += strength[v] > 0 ? 0 : rank[v];
    std::vector<double> next(n);
    for (std::size_t v = 0; v < n; ++v) next[v] = (0.15 + 0.85 * stuck) * strength[v] / all;
    for (weighted_edge const& a : arcs)
      if (a.weight > 0) next[a.v] += 0.85 * rank[a.u] * a.weight / strength[a.u];
    rank = next;
  }
  double sum = 0;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    if (arcs[i].weight > 0) flow[i] = rank[arcs[i].u] * arcs[i].weight / strength[arcs[i].u];
    sum += flow[i];
  }
  for (double& f : flow) f /= sum;
  return flow;
}

/// The codelength of a hierarchy (Rosvall and Bergstrom, PLoS ONE 6, 2011) for flows with the sum 1. levels: labels of
/// vertices, from the finest level to the coarsest. A module of the finest level has a code word for each of its
/// vertices, used at each visit; others have one for each module in them, used when it is entered; all have one for the
/// exit. A module that is the same at two levels has one code book. The index has a code word for each module of the
/// last level.
inline double serial_hierarchy_codelength(std::vector<weighted_edge> const& flows,
                                          std::vector<std::vector<std::uint32_t>> const& levels) {
  using rates = std::map<std::uint32_t, double>;
  std::vector<rates> enters(levels.size());
  std::vector<rates> exits(levels.size());
  std::vector<double> visits(levels.front().size());
  for (weighted_edge const& f : flows) {
    visits[f.v] += f.weight;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      if (levels[l][f.u] == levels[l][f.v]) continue;
      exits[l][levels[l][f.u]] += f.weight;
      enters[l][levels[l][f.v]] += f.weight;
    }
  }
  double bits = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    std::map<std::uint32_t, rates> books;  // by module: the rates of its vertices, or of its modules by label
    for (std::size_t v = 0; v < visits.size(); ++v) {
      auto const member = l == 0 ? static_cast<std::uint32_t>(v) : levels[l - 1][v];
      books[levels[l][v]][member] = l == 0 ? visits[v] : enters[l - 1][member];
    }
    for (auto const& [module, members] : books) {
      if (l > 0 && members.size() == 1) continue;  // the same module at both levels
      std::vector<double> book{exits[l][module]};
      for (auto const& [member, rate] : members) book.push_back(rate);
      bits += bits_of_book(book);
    }
  }
  std::vector<double> index;
  for (auto const& [module, rate] : enters.back()) index.push_back(rate);
  return bits + bits_of_book(index);
}

/// The flows of an undirected graph, of which each edge is given once.
inline std::vector<weighted_edge> undirected_flows(std::vector<weighted_edge> const& edges) {
  double all = 0;
  for (weighted_edge const& e : edges) all += 2 * e.weight;
  std::vector<weighted_edge> flows;
  for (weighted_edge const& e : edges) {
    flows.push_back({e.u, e.v, e.weight / all});
    flows.push_back({e.v, e.u, e.weight / all});
  }
  return flows;
}

inline std::vector<weighted_edge> directed_flows(std::vector<weighted_edge> const& arcs, std::size_t n) {
  std::vector<weighted_edge> flows = arcs;
  std::vector<double> const values = serial_flows(arcs, n);
  for (std::size_t i = 0; i < arcs.size(); ++i) flows[i].weight = values[i];
  return flows;
}

inline double serial_directed_codelength(std::vector<weighted_edge> const& arcs,
                                         std::vector<std::uint32_t> const& label) {
  return serial_hierarchy_codelength(directed_flows(arcs, label.size()), {label});
}

}  // namespace wyrm::tests
