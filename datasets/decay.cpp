// SPDX-License-Identifier: Apache-2.0
#include "decay.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "../exec/error.hpp"
#include "../graph/query/on_any_graph.hpp"

namespace wyrm::datasets {

namespace {

using graph::operation;

bool inserts(timed_batch const& batch, std::size_t i) {
  return batch.operations.empty() || batch.operations[i] == operation::insert;
}

}  // namespace

decayed_graph::decayed_graph(graph::any_graph& g, double half_life) : g_(g), half_life_(half_life) {
  if (!(half_life > 0) || std::isinf(half_life))
    throw error(error_code::bad_argument, "decayed_graph: the half life must be positive and finite");
  if (g.settings().values != graph::number_type::f64 || g.settings().combine != graph::combiner::sum)
    throw error(error_code::bad_argument,
                "decayed_graph: the graph must have values of type double, and options::combine must be sum");
}

graph::update_report decayed_graph::apply(timed_batch const& batch) {
  std::size_t const n = batch.edges.size();
  if (batch.weights.size() != n || batch.times.size() != n)
    throw error(error_code::bad_argument,
                "decayed_graph: a batch needs a weight and a time for each of its edges; "
                "set keep_weights where it is collected");
  std::optional<double> first;
  double latest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!inserts(batch, i)) continue;
    if (!(batch.weights[i] >= 0 && batch.weights[i] <= largest_weight))
      throw error(error_code::bad_input, "the weight " + std::to_string(batch.weights[i]) +
                                             " of an insertion is not between 0 and 1e100, as decay needs");
    latest = first ? std::max(latest, batch.times[i]) : batch.times[i];
    if (!first) first = batch.times[i];
  }
  bool const begins = !now_ && first;
  if (begins) first_ = *first;
  if (first && periods(latest) > longest_growth) move_origin(std::floor(periods(latest)));
  values_.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    values_[i] = inserts(batch, i) ? batch.weights[i] * std::exp2(periods(batch.times[i])) : 0;
  graph::update_report report;
  if (n > 0)
    report =
        batch.operations.empty() ? g_.insert(batch.edges, values_) : g_.apply(batch.edges, batch.operations, values_);
  if (first) now_ = now_ ? std::max(*now_, latest) : latest;
  if (now_ && batch.end) now_ = std::max(*now_, *batch.end);
  return report;
}

// An insertion after an erasure replaces the value of the edge, whatever the combiner is.
void decayed_graph::move_origin(double by) {
  graph::csr const rows = g_.to_csr();
  std::vector<double> const values = g_.values<double>();
  std::vector<graph::edge> edges;
  std::vector<operation> operations;
  std::vector<double> moved;
  // Beyond 2^-4000 all values are 0.
  int const exponent = -static_cast<int>(std::min(by, 4000.0));
  std::size_t const updates = 2 * g_.edges();
  edges.reserve(updates);
  operations.reserve(updates);
  moved.reserve(updates);
  for (std::size_t v = 0; v + 1 < rows.offsets.size(); ++v) {
    for (std::uint64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) {
      auto const source = static_cast<graph::vertex_id>(v);
      if (!g_.settings().directed && source > rows.targets[i]) continue;
      for (operation const what : {operation::erase, operation::insert}) {
        edges.push_back({source, rows.targets[i]});
        operations.push_back(what);
        moved.push_back(std::ldexp(values[i], exponent));
      }
    }
  }
  if (!edges.empty()) (void)g_.apply(edges, operations, moved);
  moved_ += by;
}

graph::update_report decayed_graph::forget(double bound) {
  return graph::erase_below(g_, now_ ? bound * std::exp2(periods(*now_)) : bound);
}

std::vector<double> decayed_graph::weights() const {
  std::vector<double> all = g_.values<double>();
  if (!now_) return all;
  double const by = unit();
  for (double& weight : all) weight *= by;
  return all;
}

}  // namespace wyrm::datasets
