// SPDX-License-Identifier: Apache-2.0
// A graph as symmetric rows with integer weights, for algorithms that cluster it: the rows of the graph itself if it is
// undirected and has no weights, else rows that are built.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"
#include "arc_flows.hpp"
#include "objectives.hpp"
#include "row_builder.hpp"
#include "weighted_rows.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// Scales integers with this sum, at least 2^31, to the sum 2^28; a positive one becomes at least 1, which may raise
/// the sum.
struct scale_integers {
  std::uint64_t sum;
  std::uint32_t* integers;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint32_t const old = integers[i];
    auto const scaled = static_cast<std::uint32_t>(((std::uint64_t{old} << 28) + sum / 2) / sum);
    integers[i] = old > 0 && scaled == 0 ? 1 : scaled;
  }
};

/// Owns built rows and integer weights. `who` begins the messages of errors.
template <class Space>
class symmetric_graph {
 public:
  /// Limit of the sum of all weights, so that gains fit into 64 bits.
  static constexpr std::uint64_t max_total = std::uint64_t{1} << 31;

  symmetric_graph(Space const& space, std::string who)
      : space_(space), who_(std::move(who)), weights_(space), built_(space) {}

  /// Checks a graph, and makes integers of its weights. Rows stay as they are. Throws error(bad_argument) for a graph
  /// of more than 2^31 arcs (2^30 if it is directed or `weighted`), and, if `weighted`, for a graph whose values are no
  /// numbers or a value that is negative or not finite.
  void inspect(graph::graph_view const& g, bool weighted) {
    std::uint64_t const limit = g.directed() || weighted ? max_total / 2 : max_total;
    if (g.arcs() > limit) refuse_arcs(g.arcs(), limit);
    if (weighted) weights_.make(g, who_);
  }
  /// The rows of the graph that inspect() has checked; `builder` builds them. Without arcs if all weights are 0. If the
  /// result has arcs, `flows`, which may be nullptr, becomes the flows of the graph, which is directed.
  [[nodiscard]] weighted_rows make(graph::graph_view const& g, bool weighted, row_builder<Space>& builder,
                                   arc_flows<Space>* flows = nullptr) {
    unit_ = 1;
    std::uint64_t sum = 0;
    if (weighted && g.arcs() > 0) {
      sum = exec::read(space_, weights_.sums() + g.arcs());
      if (sum == 0) return {graph::graph_view(graph::view_parts{}), nullptr, nullptr, 2};
      unit_ = 0x1p59 / static_cast<double>(sum) / weights_.largest() * (g.directed() ? 1 : 2);
    }
    if (g.arcs() == 0 || (!weighted && !g.directed())) return {g, nullptr, nullptr, 2};
    builder.symmetrise(g, built_);
    if (flows != nullptr) flows->find(g, weighted ? &weights_ : nullptr, builder, built_);
    if (weighted) {
      exec::for_each(space_, g.arcs(), scale_integers{sum, weights_.data()});
      builder.add_weights(g, weights_.data(), built_);
    }
    return built_.view(weighted);
  }
  /// Throws error(bad_argument) if the sum of all degrees exceeds max_total.
  void check_total(std::uint64_t total) const {
    if (total > max_total)
      refuse("the weights of arcs and self-loops have the sum " + std::to_string(total) + "; the limit is 2^31");
  }
  /// Throws error(bad_argument) for a resolution that is not a finite number greater than 0.
  void check_resolution(double resolution) const {
    if (!(resolution > 0) || !std::isfinite(resolution)) refuse("resolution must be a finite number greater than 0");
  }
  /// As make_quadratic(). Throws error(bad_argument) if the resolution is too small.
  [[nodiscard]] quadratic_objective quadratic(double base, double resolution, std::uint64_t total,
                                              std::uint64_t mass) const {
    auto const all = static_cast<double>(total);
    quadratic_objective const found = make_quadratic(base, resolution, all, static_cast<double>(mass));
    if (found.chance > 0) return found;
    std::ostringstream what;
    what << "resolution " << resolution << " is too small for a graph with the sum of degrees " << total
         << "; the least is " << least_resolution(base, all);
    refuse(what.str());
  }
  /// Requests memory for rows of n vertices and this many arcs of a graph that is directed as g. Throws
  /// error(bad_argument) if there could be too many arcs: in an undirected graph each vertex may have a self-loop,
  /// which counts twice. Throws error(out_of_memory). Returns the number of entries of the rows.
  std::uint64_t reserve(graph::graph_view const& g, std::size_t n, std::uint64_t arcs) {
    std::uint64_t const entries = g.directed() ? 2 * arcs : arcs;
    std::uint64_t const loops = g.directed() ? 0 : std::min<std::uint64_t>(n, arcs);
    if (entries + loops > max_total) refuse_arcs(arcs, g.directed() ? max_total / 2 : max_total - loops);
    if (g.directed()) built_.reserve(n, entries);
    return entries;
  }
  /// The weight in the rows for an edge of weight 1, which need not be an integer.
  [[nodiscard]] double unit() const { return unit_; }
  /// Of built rows.
  [[nodiscard]] std::uint64_t const* offsets() const { return built_.offsets(); }
  [[noreturn]] void refuse(std::string const& what) const { throw error(error_code::bad_argument, who_ + ": " + what); }

 private:
  [[noreturn]] void refuse_arcs(std::uint64_t arcs, std::uint64_t limit) const {
    refuse(std::to_string(arcs) + " arcs are more than " + std::to_string(limit));
  }

  Space space_;
  std::string who_;
  integer_weights<Space> weights_;
  built_rows<Space> built_;
  double unit_ = 1;
};

}  // namespace wyrm::algorithms::detail
