// SPDX-License-Identifier: Apache-2.0
// Weights of edges that decay exponentially. An insertion of weight w at time t adds to its edge, and each weight
// halves in a period H, so that the edge has at time T the weight
//
//   sum over its insertions of w 2^((t - T) / H) = 2^((origin - T) / H) (sum of w 2^((t - origin) / H))
//
// The graph has the sum on the right, for one origin, as the value of the edge: time changes no value, and an insertion
// is the addition of a number (options::combine). Results that do not depend on the unit of weights, such as PageRank,
// take the values as they are. Once an insertion is more than `longest_growth` periods after the origin, the origin
// moves by a whole number of periods, which multiplies all values by a power of two.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "../graph/any_graph.hpp"
#include "../graph/update_report.hpp"
#include "stream.hpp"

namespace wyrm::datasets {

/// Applies batches to a graph whose weights decay. Nothing else may change the edges of the graph. An insertion that is
/// n periods before the latest one is right to a relative 10^-12 and to 2^-53 times the number of periods since the
/// first insertion; it may be rounded to 0 if n is above 500. Not thread-safe.
class decayed_graph {
 public:
  /// Periods between two moves of the origin.
  static constexpr double longest_growth = 500;
  /// Weights up to this one can be added up without an overflow.
  static constexpr double largest_weight = 1e100;

  /// The edges that the graph has already keep their values as weights at the time of the first insertion. `g` must
  /// outlive this object. Throws error(bad_argument) unless the half life is positive and finite, and the graph has
  /// values of type double and adds them up (combiner::sum).
  decayed_graph(graph::any_graph& g, double half_life);

  /// Applies the edges of a batch, which has weights and times; an insertion after an erasure of the same edge begins
  /// with its own weight. All or nothing. Costs as any_graph::apply(); once in `longest_growth` periods all edges are
  /// inserted again by an update of its own, with 46 bytes of the host per edge, 58 in an undirected graph. Throws its
  /// errors; error(bad_argument) for a batch without a weight and a time for each edge; error(bad_input) for a weight
  /// that is negative, above `largest_weight` or not finite.
  graph::update_report apply(timed_batch const& batch);

  /// Erases all edges whose weight at `now()` is below a bound. O(vertices + arcs), of the device.
  graph::update_report forget(double bound);

  /// The largest time of insertions, and of the ends of slides; nothing before the first.
  [[nodiscard]] std::optional<double> now() const { return now_; }
  /// The weight at now() of an edge with the value 1; 1 before the first insertion.
  [[nodiscard]] double unit() const { return now_ ? std::exp2(-periods(*now_)) : 1; }
  /// The weights at now(), or as loaded before the first insertion, of all arcs in the order of to_csr(). O(arcs).
  [[nodiscard]] std::vector<double> weights() const;

 private:
  // Number of periods from the origin to a time.
  [[nodiscard]] double periods(double time) const { return (time - first_) / half_life_ - moved_; }
  void move_origin(double by);

  graph::any_graph& g_;
  double half_life_;
  double first_ = 0;  // the time of the first insertion
  double moved_ = 0;  // the origin is this whole number of periods after it
  std::optional<double> now_;
  std::vector<double> values_;  // of a batch
};

}  // namespace wyrm::datasets
