// SPDX-License-Identifier: Apache-2.0
// The objectives of clusterings by their definitions: the codelength from entropies of code books, and the quality of
// the constant Potts model from all edges.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

/// An edge of an undirected graph and its weight.
struct weighted_edge {
  graph::vertex_id u;
  graph::vertex_id v;
  double weight;
};

/// The rate at which code words with these rates are used, times the entropy of their distribution, in bits.
inline double bits_of_book(std::vector<double> const& rates) {
  double all = 0;
  for (double const r : rates) all += r;
  double bits = 0;
  for (double const r : rates)
    if (r > 0) bits -= r * std::log2(r / all);
  return bits;
}

/// The mean length of the code word of a step (Rosvall and Bergstrom, 2008, equation 1). Each edge is given once; a
/// self-loop is walked from both of its ends.
inline double serial_codelength(std::vector<weighted_edge> const& edges, std::vector<std::uint32_t> const& label) {
  double all = 0;
  for (weighted_edge const& e : edges) all += 2 * e.weight;
  if (all == 0) return 0;
  std::vector<double> visits(label.size());
  std::map<std::uint32_t, double> exits;
  for (weighted_edge const& e : edges) {
    visits[e.u] += e.weight / all;
    visits[e.v] += e.weight / all;
    if (label[e.u] == label[e.v]) continue;
    exits[label[e.u]] += e.weight / all;
    exits[label[e.v]] += e.weight / all;
  }
  std::map<std::uint32_t, std::vector<double>> books;
  for (std::size_t v = 0; v < label.size(); ++v) books[label[v]].push_back(visits[v]);
  std::vector<double> index;
  double bits = 0;
  for (auto& [l, rates] : books) {
    rates.push_back(exits[l]);
    index.push_back(exits[l]);
    bits += bits_of_book(rates);
  }
  return bits + bits_of_book(index);
}

/// The weight inside clusters, minus `resolution` for each pair of vertices in one (Traag et al., 2011, equation 3).
inline double serial_potts(std::vector<weighted_edge> const& edges, std::vector<std::uint32_t> const& label,
                           double resolution) {
  double quality = 0;
  for (weighted_edge const& e : edges)
    if (label[e.u] == label[e.v]) quality += e.weight;
  for (std::size_t u = 0; u < label.size(); ++u)
    for (std::size_t v = 0; v < u; ++v)
      if (label[u] == label[v]) quality -= resolution;
  return quality;
}

}  // namespace wyrm::tests
