// SPDX-License-Identifier: Apache-2.0
// The PageRank of a changing graph: options and interface, for a graph of any space. incremental_pagerank.hpp has the
// method.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../graph/maintained_result.hpp"
#include "pagerank.hpp"

namespace wyrm::algorithms {

struct incremental_pagerank_options {
  double damping = 0.85;  // d, in [0, 0.99]
  /// In (0, 2]. A tolerance below 3 10^-18 / (d (1 - d)^2) times the number of vertices and arcs may not be reached,
  /// which converged() reports: per vertex and arc 2 10^-16 for d = 0.85 and 3 10^-14 for d = 0.99; nor one below
  /// 10^-15, or 4 10^-15 with weights. If few vertices have out-neighbours, this bound is greater by a factor of
  /// 1 / (1 - d).
  double tolerance = 1e-9;
  unsigned max_iterations = 500;  // per batch, at least 1; residuals that remain are left to the next batch
  /// If a batch has pushed, or is about to push, more than this fraction of all vertices and arcs, or if a frontier has
  /// more items than this fraction of the vertices, the residuals of all vertices are processed at once, which costs
  /// less then. So they are on a GPU after 10 * full_run * (12 + (vertices + arcs) / 2^18) rounds of pushes. At least
  /// 0. Needs in-neighbours.
  double full_run = 0.1;
  /// As pagerank_options::weighted. Each change checks the weights of the rows that it changes.
  bool weighted = false;
  /// Personalised PageRank: the targets of all jumps, as of personalised_pagerank(). Empty: jumps go to any vertex. A
  /// source that is removed from the graph leaves the set for good; without any source left all ranks are 0.
  std::vector<weighted_source> sources = {};
};

/// The ranks of an any_graph; see maintain_pagerank.
class maintained_pagerank : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// The rank of each vertex; the sum is 1, or 0 if the graph has no vertices, or all sources were removed.
  /// O(vertices).
  [[nodiscard]] virtual std::vector<double> rank() const = 0;
  /// Of the last batch, or of the constructor. iterations(): how many rounds of pushes and steps of full runs there
  /// were. converged(): whether the tolerance is reached; error_bound() is then at most d / (1 - d) times the
  /// tolerance, up to a few roundings of 1. ranked(): how many residuals were processed in total.
  [[nodiscard]] virtual unsigned iterations() const = 0;
  [[nodiscard]] virtual bool converged() const = 0;
  [[nodiscard]] virtual std::uint64_t ranked() const = 0;
  /// A bound of the L1 distance to the true ranks.
  [[nodiscard]] virtual double error_bound() const = 0;
};

/// Maintains the PageRank of an any_graph.
[[nodiscard]] std::unique_ptr<maintained_pagerank> maintain_pagerank(graph::any_graph const& g,
                                                                     incremental_pagerank_options const& o = {});

}  // namespace wyrm::algorithms
