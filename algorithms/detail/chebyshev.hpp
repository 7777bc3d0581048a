// SPDX-License-Identifier: Apache-2.0
// Solves y = r + d P y on an undirected graph: r are the residuals of all vertices, y is the correction of their ranks,
// and P distributes the value of a vertex among its neighbours, evenly or in proportion to the weights of edges. It is
// used where residuals are spread over most vertices, instead of pushing them one by one. Chebyshev's iteration (Golub,
// Varga, Numerische Mathematik 3, 1961, section 2)
//
//   y(k+1) = w(k+1) (r + d P y(k) - y(k-1)) + y(k-1)        w(k+1) = 1 / (1 - d^2 w(k) / 4)
//
// reduces the error by d / (1 + sqrt(1 - d^2)) per step, 0.56 for d = 0.85, where the plain iteration y = r + d P y
// reduces it by 0.85. It requires real eigenvalues of P within [-1, 1]. P = A D^-1 is similar to D^-1/2 A D^-1/2, so
// its eigenvalues are real if A is symmetric. D contains the degrees, or the sums of the weights of rows. The rate is a
// bound in the 2-norm, with D as weights. In the 1-norm the first steps gain less, because values that come from a
// single vertex are still unevenly distributed. So two plain steps, which distribute them, come first. Where weights
// grow from row to row by orders of magnitude, the 1-norm may even grow with each step: the caller must check the norm
// of a solution.
//
// The component of r along the stationary vector is subtracted first: vertex v gets deg(v) R / (sum of degrees), where
// R is the sum of the residuals of all vertices with neighbours. P does not change this vector, so the solution for it
// is 1 / (1 - d) times the vector itself, and is added at the end. With sources nothing is subtracted.
//
// Values are floats, so the solution has about five correct digits; the caller has to recompute residuals exactly. Only
// y / degree is stored, the contribution of a vertex along an arc, or along an arc of weight 1. A vertex without
// neighbours, or with weights of 0 only, has y = r; its stored value is not used. A float has these contributions only
// if the sums of weights are not extreme; see can_solve().
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "arc_weights.hpp"
#include "pull.hpp"
#include "rank_passes.hpp"
#include "rank_residuals.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"
#include "tile_sums.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// Sums the totals of weights, in a fixed order, and counts those that are too small or too large for floats.
struct sum_totals {
  rank_residuals x;
  std::uint32_t tiles;
  double* parts;  // for tile_sums
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    constexpr double largest = 0x1p60;
    double sums[2] = {};
    add_in_order(
        t, tile * Tile::size() + t.rank(), std::size_t{tiles} * Tile::size(), x.g.vertices(),
        [&](std::size_t v) { return x.totals[v]; },
        [&](double total) {
          bool const fits = total == 0 || (total >= 1 / largest && total <= largest);
          sums[0] += fits ? total : 0;
          sums[1] += fits ? 0 : 1;
        });
    if (!tile_sums<2>{parts, &x.state->arrived}.add_up(t, tile, tiles, sums) || t.rank() != 0) return;
    x.state->all_weights = sums[0];
    x.state->out_of_range = sums[1];
  }
};

/// One thread per vertex: y(0) = 0, y(1) = r.
struct start_chebyshev {
  rank_residuals x;
  double stationary;  // the part of the sum of residuals per degree, or per weight, that is subtracted
  float* r;
  float* contribution[2];
  WYRM_HD void operator()(std::size_t v) const {
    double const divisor = x.divisor(static_cast<graph::vertex_id>(v));
    auto const own = divisor > 0 ? static_cast<float>(static_cast<double>(x.residual[v]) - stationary * divisor) : 0.0f;
    r[v] = own;
    contribution[0][v] = 0;
    contribution[1][v] = divisor > 0 ? own / static_cast<float>(divisor) : 0;
  }
};

/// One step of the iteration.
template <bool Weighted>
struct chebyshev_step {
  row_bins_view bins;
  graph::packed_record const* records;  // of in-neighbours
  graph::number_type type;              // of the values
  double const* totals;                 // of weights
  float const* r;
  float const* contribution;  // y(k) / degree
  float* next;                // y(k-1) / degree, overwritten with y(k+1) / degree
  double* parts;              // the sums of parts of hubs
  float damping;
  float weight;  // w(k+1)

  struct loaded {
    float r;
    float before;  // y(k-1) / degree
  };
  [[nodiscard]] WYRM_HD loaded load(graph::vertex_id v, graph::vertex_record const&) const { return {r[v], next[v]}; }
  WYRM_HD void set(graph::vertex_id v, graph::vertex_record const& row, loaded const& own, float sent) const {
    float divisor;
    if constexpr (Weighted)
      divisor = static_cast<float>(totals[v]);
    else
      divisor = static_cast<float>(row.degree);
    if (divisor == 0) return;
    float const before = own.before * divisor;
    next[v] = (weight * (own.r + damping * sent - before) + before) / divisor;
  }
  WYRM_HD void set_part(std::uint32_t number, graph::vertex_id, float sent) const {
    parts[number] = static_cast<double>(sent);
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD float sum(Tile const& t, graph::vertex_id v, graph::vertex_record const& row,
                                  std::uint32_t begin, std::uint32_t end, std::uint32_t lane,
                                  std::uint32_t lanes) const {
    if constexpr (!Weighted) return pull<float, false>(t, contribution, nullptr, row.page, begin, end, lane, lanes);
    value_row const weights(records[v], type);
    auto const* const floats = static_cast<float const*>(weights.values);
    bool const are_aligned = reinterpret_cast<std::uintptr_t>(floats) % 16 == 0 && row_head(row.page) == 0;
    if (type == graph::number_type::f32 && are_aligned)
      return pull<float, true>(t, contribution, floats, row.page, begin, end, lane, lanes);
    float all = 0;
    for (std::uint32_t i = begin + lane; i < end; i += lanes)
      all += contribution[row.page[i]] * static_cast<float>(weights.weight(i));
    return all;
  }
};

/// One tile per item of the bins.
template <bool Weighted>
struct pull_chebyshev_step {
  chebyshev_step<Weighted> x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    sum_rows(t, x.bins, static_cast<std::uint32_t>(item), x);
  }
};

/// One tile per hub.
template <bool Weighted>
struct finish_hubs {
  chebyshev_step<Weighted> x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t hub) const {
    auto const sent = static_cast<float>(x.bins.sum_of_parts(t, static_cast<std::uint32_t>(hub), x.parts));
    binned_row const row = x.bins.hub(static_cast<std::uint32_t>(hub));
    if (t.rank() == 0) x.set(row.vertex, row, x.load(row.vertex, row), sent);
  }
};

/// Runs the iteration from the host. 12 bytes per vertex, and 18 for bins. The same graph gives the same result, bit
/// for bit, on each run.
template <class Space>
class chebyshev_solver {
 public:
  static constexpr unsigned max_steps = 24;  // more do not improve floats, for d = 0.85

  explicit chebyshev_solver(Space const& space) : space_(space), bins_(space), values_(space), parts_(space) {}

  /// gain(): the approximate factor by which the given number of steps reduces the error. steps(): the number of steps
  /// for a given factor; at least 1.
  [[nodiscard]] static double gain(double damping, unsigned steps) {
    return damping == 0 ? 1 : std::pow((1 + std::sqrt(1 - damping * damping)) / damping, steps - 1.0);
  }
  [[nodiscard]] static unsigned steps(double damping, double ratio) {
    if (damping == 0 || ratio <= 1) return 1;
    return 1 + static_cast<unsigned>(std::min(1e6, std::ceil(std::log(ratio) / std::log(gain(damping, 2)))));
  }

  /// Requests the memory of solve() for up to this many vertices and arcs, from the space.
  void reserve(std::size_t n, std::uint64_t arcs) {
    bins_.reserve(n, arcs, limits);
    values_.reserve(3 * n);
    parts_.reserve(std::max<std::uint64_t>(limits.max_parts(arcs), tile_sums<2>::size));
  }
  /// Enqueues what solve() needs for the current graph, the sum of weights and the bins; O(vertices). The caller reads
  /// x.state afterwards.
  void prepare(rank_residuals const& x) {
    reserve(x.g.vertices(), x.g.arcs());
    if (x.totals != nullptr) {
      std::uint32_t const tiles = tile_sums<2>::tiles(x.g.vertices(), 32);
      exec::for_each_tile<32>(space_, tiles, sum_totals{x, tiles, parts_.data()});
    }
    bins_.enqueue(x.g.in_records(), x.g.vertices(), x.g.arcs(), limits, &x.state->bins);
  }
  /// Whether floats have the contributions of all vertices: each sum of weights is 0, or from 2^-60 to 2^60. seen: the
  /// state after prepare().
  [[nodiscard]] static bool can_solve(rank_residuals const& x, residual_state const& seen) {
    return x.totals == nullptr || seen.out_of_range == 0;
  }
  /// Returns y / degree after the given number of steps, at least one, without the component of the sum of residuals;
  /// in device memory, valid until the next call. O((vertices + arcs) steps). seen: the state after prepare(), or after
  /// add() and pull_residuals; can_solve() holds.
  [[nodiscard]] float const* solve(rank_residuals const& x, residual_state const& seen, unsigned steps) {
    bins_view_ = bins(seen);
    return x.totals != nullptr ? iterate<true>(x, seen, steps) : iterate<false>(x, seen, steps);
  }
  /// Enqueues the addition of a solution of solve() to ranks, with the component of the sum of residuals. The state has
  /// the norm of the solution then; one of a norm above `most`, or of no finite norm, is not added.
  void add(rank_residuals const& x, residual_state const& seen, float const* contribution, double most) const {
    rank_solution const solution{contribution, stationary(x, seen) / (1 - x.damping)};
    std::uint32_t const tiles = tile_sums<1>::tiles(x.g.vertices(), 32);
    exec::for_each_tile<32>(space_, tiles, measure_solution{x, solution, tiles, parts_.data()});
    for_each_vertex(space_, x.g.vertices(), add_solution{x, solution, most});
  }
  /// The bins of the last call; valid as long as the graph does not change.
  [[nodiscard]] row_bins_view const& bins() const { return bins_view_; }
  /// The bins after prepare().
  [[nodiscard]] row_bins_view bins(residual_state const& seen) const { return bins_.view(seen.bins, limits); }

 private:
  template <bool Weighted>
  [[nodiscard]] float const* iterate(rank_residuals const& x, residual_state const& seen, unsigned steps) {
    double const damping = x.damping;
    std::size_t const n = x.g.vertices();
    float* const r = values_.data();
    float* const contribution[] = {r + n, r + 2 * n};
    exec::for_each(space_, n, start_chebyshev{x, stationary(x, seen), r, {contribution[0], contribution[1]}});
    double weight = 1;
    for (unsigned k = 2; k <= steps; ++k) {
      if (k > plain_steps + 1) weight = 1 / (1 - damping * damping * (weight == 1 ? 0.5 : weight / 4));
      chebyshev_step<Weighted> const step{bins_view_,
                                          x.g.in_records(),
                                          x.g.numbers(),
                                          x.totals,
                                          r,
                                          contribution[(k - 1) % 2],
                                          contribution[k % 2],
                                          parts_.data(),
                                          static_cast<float>(damping),
                                          static_cast<float>(weight)};
      exec::for_each_tile<32>(space_, bins_view_.items(), pull_chebyshev_step<Weighted>{step});
      exec::for_each_tile<32>(space_, bins_view_.hub_rows, finish_hubs<Weighted>{step});
    }
    return contribution[steps % 2];
  }
  [[nodiscard]] static double stationary(rank_residuals const& x, residual_state const& seen) {
    if (x.bases != nullptr) return 0;  // so that what no source reaches stays exactly 0
    double const all = x.totals != nullptr ? seen.all_weights : static_cast<double>(x.g.arcs());
    return all > 0 ? residual_state::total(seen.residual_sum) / all : 0;
  }
  static constexpr unsigned plain_steps = 2;
  static constexpr bin_limits limits{32, 256, 1024, 1024};
  Space space_;
  row_bins<Space> bins_;
  row_bins_view bins_view_{};
  exec::buffer<float, Space> values_;  // r, and two arrays of contributions
  exec::buffer<double, Space> parts_;
};

}  // namespace wyrm::algorithms::detail
