// SPDX-License-Identifier: Apache-2.0
// Serial verifiers of the algorithms on neighbourhoods, written from the definitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
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

}  // namespace wyrm::tests
