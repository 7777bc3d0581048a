// SPDX-License-Identifier: Apache-2.0
// The model with which graphs are compared: a std::set of neighbours per vertex, changed edge by edge.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "../../graph/types.hpp"
#include "../../graph/update_report.hpp"

namespace wyrm::tests {

class graph_model {
 public:
  graph_model(std::size_t vertices, bool directed, bool self_loops)
      : directed_(directed), self_loops_(self_loops), neighbours_(vertices) {}

  graph::update_report insert(std::span<graph::edge const> batch) {
    graph::update_report r{.requested = batch.size()};
    for (auto const& [u, v] : batch) {
      if (u == v && !self_loops_)
        ++r.self_loops;
      else if (neighbours_[u].insert(v).second)
        ++r.inserted;
      else
        ++r.duplicates;
      if (!directed_ && u != v) neighbours_[v].insert(u);
    }
    return r;
  }

  graph::update_report erase(std::span<graph::edge const> batch) {
    graph::update_report r{.requested = batch.size()};
    std::set<std::pair<graph::vertex_id, graph::vertex_id>> seen;
    for (auto const& [u, v] : batch) {
      bool const first = seen.insert(directed_ || u < v ? std::pair{u, v} : std::pair{v, u}).second;
      if (u == v && !self_loops_)
        ++r.self_loops;
      else if (!first)
        ++r.duplicates;
      else if (neighbours_[u].erase(v) > 0)
        ++r.erased;
      else
        ++r.missing;
      if (!directed_) neighbours_[v].erase(u);
    }
    return r;
  }

  [[nodiscard]] graph::csr to_csr() const {
    graph::csr c{{0}, {}};
    for (auto const& row : neighbours_) {
      c.targets.insert(c.targets.end(), row.begin(), row.end());
      c.offsets.push_back(c.targets.size());
    }
    return c;
  }

 private:
  bool directed_;
  bool self_loops_;
  std::vector<std::set<graph::vertex_id>> neighbours_;
};

/// Random edges with self-loops, duplicates and a hub at vertex 0.
inline std::vector<graph::edge> random_edges(std::mt19937& random, std::size_t vertices, std::size_t count) {
  std::uniform_int_distribution<graph::vertex_id> vertex(0, static_cast<graph::vertex_id>(vertices - 1));
  std::vector<graph::edge> edges(count);
  for (graph::edge& e : edges) {
    e = {vertex(random), vertex(random)};
    switch (random() % 8) {
      case 0: e.target = e.source; break;                 // a self-loop
      case 1: e.source = 0; break;                        // the hub
      case 2: e = edges[random() % edges.size()]; break;  // a duplicate, or (0, 0)
      default: break;
    }
  }
  return edges;
}

}  // namespace wyrm::tests
