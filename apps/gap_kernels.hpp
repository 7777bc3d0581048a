// SPDX-License-Identifier: Apache-2.0
// The kernels of the GAP benchmark suite on a graph of any space, for `wyrm bench gap`. A kernel ends when the device
// has its result; the result is copied to the host on request.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"

namespace wyrm::apps {

/// Scratch memory is kept from one call to the next one, except that of components(). Throws the errors of the
/// algorithms. Not thread-safe.
class gap_kernels {
 public:
  virtual ~gap_kernels() = default;

  virtual void bfs(graph::vertex_id source) = 0;
  /// The parent of each vertex in the tree of the last search.
  [[nodiscard]] virtual std::vector<graph::vertex_id> parents() const = 0;
  /// The values of the graph are the weights.
  virtual void sssp(graph::vertex_id source) = 0;
  [[nodiscard]] virtual std::vector<double> distances() const = 0;
  /// In double precision, with damping 0.85.
  virtual void pagerank(double tolerance) = 0;
  [[nodiscard]] virtual std::vector<double> ranks() const = 0;
  virtual void components() = 0;
  [[nodiscard]] virtual std::vector<graph::vertex_id> labels() const = 0;
  virtual void betweenness(std::span<graph::vertex_id const> sources) = 0;
  [[nodiscard]] virtual std::vector<double> scores() const = 0;
  /// The graph must be undirected.
  virtual void triangles() = 0;
  [[nodiscard]] virtual std::uint64_t total() const = 0;
};

/// The graph must live longer, and must not change.
[[nodiscard]] std::unique_ptr<gap_kernels> make_gap_kernels(graph::any_graph const& g);

}  // namespace wyrm::apps
