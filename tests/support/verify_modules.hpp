// SPDX-License-Identifier: Apache-2.0
// Serial checks of communities, by a matrix of weights: modularity with a resolution, the largest gain of a move of one
// vertex, and whether each community is connected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "../../graph/types.hpp"

namespace wyrm::tests {

/// Symmetric weights, with the entry of a self-loop twice.
class module_matrix {
 public:
  /// The arcs of a directed graph are taken as edges; without weights two opposite arcs are one edge, with weights they
  /// are added up.
  module_matrix(graph::csr const& g, bool directed, std::vector<double> const& weights)
      : rows_(g.offsets.size() - 1), degree_(rows_.size()) {
    for (std::size_t u = 0; u < rows_.size(); ++u)
      for (std::uint64_t i = g.offsets[u]; i < g.offsets[u + 1]; ++i) {
        std::size_t const v = g.targets[i];
        double const w = weights.empty() ? 1 : weights[i];
        if (u == v) {
          rows_[u][u] += 2 * w;
        } else if (weights.empty()) {
          rows_[u][v] = rows_[v][u] = 1;
        } else {
          rows_[u][v] += w;
          if (directed) rows_[v][u] += w;
        }
      }
    for (std::size_t u = 0; u < rows_.size(); ++u)
      for (auto const& [v, w] : rows_[u]) degree_[u] += w;
    for (double const d : degree_) all_ += d;
  }
  [[nodiscard]] double modularity(std::vector<std::uint32_t> const& label, double resolution) const {
    if (!(all_ > 0)) return 0;
    double inside = 0;
    std::map<std::uint32_t, double> volume;
    for (std::size_t u = 0; u < rows_.size(); ++u) {
      volume[label[u]] += degree_[u];
      for (auto const& [v, w] : rows_[u]) inside += label[v] == label[u] ? w : 0;
    }
    double chance = 0;
    for (auto const& [l, d] : volume) chance += d / all_ * (d / all_);
    return inside / all_ - resolution * chance;
  }
  /// How much modularity rises at most if one vertex moves, also to a community of its own; at least 0.
  [[nodiscard]] double largest_gain(std::vector<std::uint32_t> const& label, double resolution) const {
    std::map<std::uint32_t, double> volume;
    for (std::size_t u = 0; u < rows_.size(); ++u) volume[label[u]] += degree_[u];
    double most = 0;
    for (std::size_t u = 0; u < rows_.size(); ++u) {
      if (!(degree_[u] > 0)) continue;
      std::map<std::uint32_t, double> to;
      for (auto const& [v, w] : rows_[u])
        if (v != u) to[label[v]] += w;
      double const own = to[label[u]] - resolution * degree_[u] * (volume[label[u]] - degree_[u]) / all_;
      most = std::max(most, -own / all_ * 2);  // a community of its own
      for (auto const& [l, w] : to)
        if (l != label[u]) most = std::max(most, (w - resolution * degree_[u] * volume[l] / all_ - own) / all_ * 2);
    }
    return most;
  }
  /// The number of communities that a search from one member does not reach as a whole; arcs of weight 0 count.
  [[nodiscard]] std::size_t disconnected(std::vector<std::uint32_t> const& label) const {
    std::vector<bool> seen(rows_.size());
    std::set<std::uint32_t> begun;
    std::set<std::uint32_t> broken;
    for (std::size_t first = 0; first < rows_.size(); ++first) {
      if (seen[first]) continue;
      if (!begun.insert(label[first]).second) broken.insert(label[first]);
      std::vector<std::size_t> open{first};
      seen[first] = true;
      while (!open.empty()) {
        std::size_t const u = open.back();
        open.pop_back();
        for (auto const& [v, w] : rows_[u])
          if (!seen[v] && label[v] == label[u]) {
            seen[v] = true;
            open.push_back(v);
          }
      }
    }
    return broken.size();
  }

 private:
  std::vector<std::map<std::size_t, double>> rows_;
  std::vector<double> degree_;
  double all_ = 0;
};

}  // namespace wyrm::tests
