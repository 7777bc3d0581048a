// SPDX-License-Identifier: Apache-2.0
// The quality of a clustering, which is a label for each vertex: with respect to the graph (modularity: Newman and
// Girvan, Phys. Rev. E 69, 2004; conductance; codelength of the map equation: Rosvall and Bergstrom, PNAS 105, 2008;
// constant Potts model: Traag, Van Dooren, Nesterov, Phys. Rev. E 84, 016114, 2011), or compared with another
// clustering (normalized mutual information: Danon et al., J. Stat. Mech. 2005; adjusted Rand index: Hubert and Arabie,
// J. Classification 1985).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/requirements.hpp"

namespace wyrm::algorithms {

struct clustering_quality {
  /// The fraction of edges inside clusters, minus its expected value in a random graph with the same degrees; 0 without
  /// edges.
  double modularity = 0;
  /// The mean length, in bits, of the code word of a step of a random walk, with a code book for each cluster and one
  /// for steps between clusters; 0 without edges.
  double codelength = 0;
  /// The edges inside clusters, minus `resolution` times the pairs of vertices of the same cluster.
  double potts = 0;
  /// Of each label: the edges that leave its cluster, divided by the sum of degrees of the cluster or of all other
  /// vertices, whichever is smaller; 0 if the divisor is 0.
  std::vector<double> conductance;
};

namespace detail {

/// One tile per vertex: adds its degree to the degrees of its cluster, and its neighbours with the same label to the
/// inner degrees of its cluster. A self-loop counts twice.
struct add_up_clusters {
  graph::graph_view g;
  std::uint32_t const* labels;
  std::uint64_t* degrees;
  std::uint64_t* inside;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    graph::neighbour_list const row = g.neighbours(v);
    std::uint32_t const label = labels[i];
    std::uint64_t same = 0;
    std::uint64_t loops = 0;
    for (std::uint32_t k = t.rank(); k < row.size; k += Tile::size()) {
      same += labels[row[k]] == label ? 1u : 0u;
      loops += row[k] == v ? 1u : 0u;
    }
    loops = exec::sum(t, loops);
    same = exec::sum(t, same) + loops;
    if (t.rank() != 0 || row.size == 0) return;
    exec::atomic_ref<std::uint64_t>(degrees[label]).fetch_add(row.size + loops, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(inside[label]).fetch_add(same, exec::relaxed);
  }
};

/// d log2 d of the degree of each vertex, in which a self-loop counts twice.
struct weigh_degrees {
  graph::graph_view g;
  double* values;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    graph::neighbour_list const row = g.neighbours(v);
    std::uint32_t const at = graph::lower_bound(row.data, row.size, v);
    double const d = double{1} * row.size + (at < row.size && row[at] == v ? 1 : 0);
    values[v] = d > 0 ? d * std::log2(d) : 0;
  }
};

/// The number of vertices with each pair of labels, and with each label of either clustering.
struct contingency {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> both;
  std::map<std::uint32_t, double> first;
  std::map<std::uint32_t, double> second;
  double n;

  contingency(std::vector<std::uint32_t> const& a, std::vector<std::uint32_t> const& b)
      : n(static_cast<double>(a.size())) {
    if (a.size() != b.size())
      throw error(error_code::bad_argument, "two clusterings of " + std::to_string(a.size()) + " and " +
                                                std::to_string(b.size()) + " vertices cannot be compared");
    for (std::size_t v = 0; v < a.size(); ++v) {
      ++both[{a[v], b[v]}];
      ++first[a[v]];
      ++second[b[v]];
    }
  }
};

}  // namespace detail

/// labels: one per vertex, each less than the number of vertices; resolution: of the constant Potts model. O(vertices +
/// arcs). Throws error(bad_argument) for a directed graph, and for labels that are too few, too many or too large.
template <class Space>
clustering_quality quality(Space const& space, graph::graph_view const& g, std::vector<std::uint32_t> const& labels,
                           double resolution = 1) {
  auto const refuse = [](std::string const& what) {
    throw error(error_code::bad_argument, "quality of a clustering: " + what);
  };
  std::size_t const n = g.vertices();
  detail::require_undirected(g, "quality of a clustering");
  if (labels.size() != n)
    refuse("there are " + std::to_string(labels.size()) + " labels for " + std::to_string(n) + " vertices");
  if (n == 0) return {};
  std::size_t const k = std::size_t{*std::max_element(labels.begin(), labels.end())} + 1;
  if (k > n) refuse("label " + std::to_string(k - 1) + " is too large; they must be less than the number of vertices");
  exec::buffer<std::uint32_t, Space> device_labels(space, n);
  exec::buffer<std::uint64_t, Space> sums(space, 2 * k);
  exec::copy_in<std::uint32_t>(space, device_labels.data(), labels);
  space.fill(sums.data(), 0, sums.bytes());
  exec::for_each_tile<8>(space, n, detail::add_up_clusters{g, device_labels.data(), sums.data(), sums.data() + k});
  std::vector<std::uint64_t> const got = exec::copy_out(space, sums.data(), 2 * k);

  exec::buffer<double, Space> values(space, n);
  exec::for_each(space, n, detail::weigh_degrees{g, values.data()});
  typename Space::bulk bulk(space);
  double cost = -bulk.sum(values.data(), n);
  std::vector<double> sizes(k);
  for (std::uint32_t const l : labels) ++sizes[l];

  double all = 0;
  double exits = 0;
  auto const term = [](double x) { return x > 0 ? x * std::log2(x) : 0; };
  for (std::size_t c = 0; c < k; ++c) all += static_cast<double>(got[c]);
  clustering_quality result;
  for (std::size_t c = 0; c < k; ++c) {
    auto const degree = static_cast<double>(got[c]);
    auto const inside = static_cast<double>(got[k + c]);
    if (all > 0) result.modularity += inside / all - degree / all * (degree / all);
    cost += term(degree - inside + degree) - 2 * term(degree - inside);
    exits += degree - inside;
    result.potts += inside / 2 - resolution * sizes[c] * (sizes[c] - 1) / 2;
    double const smaller = std::min(degree, all - degree);
    result.conductance.push_back(smaller > 0 ? (degree - inside) / smaller : 0.0);
  }
  if (all > 0) result.codelength = (cost + term(exits)) / all;
  return result;
}

clustering_quality quality(graph::any_graph const& g, std::vector<std::uint32_t> const& labels, double resolution = 1);

/// Twice the mutual information of both clusterings, divided by the sum of their entropies: from 0 to 1. It is 1 if the
/// clusterings differ only in the names of labels, or if both have one cluster. Labels may be any numbers. O(n log n).
inline double normalized_mutual_information(std::vector<std::uint32_t> const& a, std::vector<std::uint32_t> const& b) {
  detail::contingency const c(a, b);
  auto const entropy = [&](std::map<std::uint32_t, double> const& sizes) {
    double h = 0;
    for (auto const& [label, size] : sizes) h -= size / c.n * std::log(size / c.n);
    return h;
  };
  double const h = entropy(c.first) + entropy(c.second);
  if (!(h > 0)) return 1;
  double mutual = 0;
  for (auto const& [pair, size] : c.both)
    mutual += size / c.n * std::log(size * c.n / (c.first.at(pair.first) * c.second.at(pair.second)));
  return std::max(0.0, 2 * mutual / h);
}

/// The number of pairs of vertices that are in one cluster in both clusterings, minus its expected value, divided by
/// its maximum minus the expected value. It is 1 for equal clusterings, and about 0 for independent ones. Labels may be
/// any numbers. O(n log n).
inline double adjusted_rand_index(std::vector<std::uint32_t> const& a, std::vector<std::uint32_t> const& b) {
  detail::contingency const c(a, b);
  auto const pairs = [](double size) { return size * (size - 1) / 2; };
  double both = 0;
  double first = 0;
  double second = 0;
  for (auto const& [pair, size] : c.both) both += pairs(size);
  for (auto const& [label, size] : c.first) first += pairs(size);
  for (auto const& [label, size] : c.second) second += pairs(size);
  double const chance = pairs(c.n) > 0 ? first * second / pairs(c.n) : 0;
  double const most = (first + second) / 2;
  return most == chance ? 1 : (both - chance) / (most - chance);
}

}  // namespace wyrm::algorithms
