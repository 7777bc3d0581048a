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

/// A module has a code word for each of its vertices, used at each visit, and one for each exit; the index has a code
/// word for each module, used when it is entered.
inline double serial_directed_codelength(std::vector<weighted_edge> const& arcs,
                                         std::vector<std::uint32_t> const& label) {
  std::vector<double> const flow = serial_flows(arcs, label.size());
  std::vector<double> visits(label.size());
  std::map<std::uint32_t, double> enters;
  std::map<std::uint32_t, double> exits;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    visits[arcs[i].v] += flow[i];
    if (label[arcs[i].u] == label[arcs[i].v]) continue;
    exits[label[arcs[i].u]] += flow[i];
    enters[label[arcs[i].v]] += flow[i];
  }
  std::map<std::uint32_t, std::vector<double>> books;
  for (std::size_t v = 0; v < label.size(); ++v) books[label[v]].push_back(visits[v]);
  std::vector<double> index;
  double bits = 0;
  for (auto& [l, rates] : books) {
    rates.push_back(exits[l]);
    index.push_back(enters[l]);
    bits += bits_of_book(rates);
  }
  return bits + bits_of_book(index);
}

}  // namespace wyrm::tests
