// SPDX-License-Identifier: Apache-2.0
// What ranks are short of because of residuals r, in an undirected graph: y with y = r + d P y, where P deals out what
// a vertex has among its neighbours. Residuals that lie everywhere are not passed on one by one: Chebyshev's iteration
// (Golub, Varga, Numerische Mathematik 3, 1961, section 2)
//
//   y(k+1) = w(k+1) (r + d P y(k) - y(k-1)) + y(k-1)        w(k+1) = 1 / (1 - d^2 w(k) / 4)
//
// makes what is left smaller by d / (1 + sqrt(1 - d^2)) each time, 0.56 for d = 0.85, where y = r + d P y alone takes
// 0.85: it needs eigenvalues of P that are real and within [-1, 1], and those of A D^-1, as that is similar to
// D^-1/2 A D^-1/2, are so where A is symmetric. That is a bound in the 2-norm, with degrees as weights; in the 1-norm
// the first steps gain less, as what comes from a single vertex is spread unevenly at first. So two plain steps, which
// do spread it, go before.
//
// What all vertices with neighbours are short of together, R, is taken off before, by degree: deg R / (sum of deg) of
// r, where P changes nothing, is made good for by 1 / (1 - d) times that.
//
// Values are floats: the result is good for five digits, and whoever asks has to look at what is left exactly. Of y
// only y / degree is kept, what a vertex sends along an arc. One without neighbours has y = r, and nobody asks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "pull.hpp"
#include "rank_residuals.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"

namespace wyrm::algorithms::detail {

/// What those with neighbours are short of, in all.
struct sum_residuals {
  rank_residuals x;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid, residual_sums& sums) const {
    if (valid && x.g.degree(static_cast<graph::vertex_id>(i)) > 0) sums.residual_sum += x.residual[i];
  }
};

/// A thread a vertex: y(0) = 0, y(1) = r.
struct start_chebyshev {
  rank_residuals x;
  double residual_sum_per_arc;
  float* r;
  float* contribution[2];
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const degree = x.g.degree(static_cast<graph::vertex_id>(v));
    auto const own =
        degree > 0 ? static_cast<float>(static_cast<double>(x.residual[v]) - residual_sum_per_arc * degree) : 0.0f;
    r[v] = own;
    contribution[0][v] = 0;
    contribution[1][v] = degree > 0 ? own / static_cast<float>(degree) : 0;
  }
};

/// A step of the iteration.
struct chebyshev_step {
  row_bins_view bins;
  float const* r;
  float const* contribution;  // y(k) / degree
  float* next;                // y(k-1) / degree, and then y(k+1) / degree
  double* parts;              // of hubs: what was pulled
  float damping;
  float weight;  // w(k+1)

  struct loaded {
    float r;
    float before;  // y(k-1) / degree
  };
  [[nodiscard]] WYRM_HD loaded load(graph::vertex_id v, graph::vertex_record const&) const { return {r[v], next[v]}; }
  WYRM_HD void set(graph::vertex_id v, graph::vertex_record const& row, loaded const& own, float sent) const {
    if (row.degree == 0) return;
    auto const arcs = static_cast<float>(row.degree);
    float const before = own.before * arcs;
    next[v] = (weight * (own.r + damping * sent - before) + before) / arcs;
  }
  WYRM_HD void set_part(std::uint32_t number, graph::vertex_id, float sent) const {
    parts[number] = static_cast<double>(sent);
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD float sum(Tile const& t, graph::vertex_id, graph::vertex_record const& row, std::uint32_t begin,
                                  std::uint32_t end, std::uint32_t lane, std::uint32_t lanes) const {
    return pull<float, false>(t, contribution, nullptr, row.page, begin, end, lane, lanes);
  }
};

/// A tile an item of the bins.
struct pull_chebyshev_step {
  chebyshev_step x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    sum_rows(t, x.bins, static_cast<std::uint32_t>(item), x);
  }
};

/// A tile a hub.
struct finish_hubs {
  chebyshev_step x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t hub) const {
    auto const sent = static_cast<float>(x.bins.sum_of_parts(t, static_cast<std::uint32_t>(hub), x.parts));
    binned_row const row = x.bins.hub(static_cast<std::uint32_t>(hub));
    if (t.rank() == 0) x.set(row.vertex, row, x.load(row.vertex, row), sent);
  }
};

/// On the host. 12 bytes a vertex, and 18 for bins. The same graph gives the same, bit for bit, on each run.
template <class Space>
class chebyshev_solver {
 public:
  static constexpr unsigned most_steps = 24;  // after which floats have no more to give, for d = 0.85

  explicit chebyshev_solver(Space const& space) : space_(space), bins_(space), values_(space), parts_(space) {}

  /// How many times less is left after so many steps, about, and how many steps that takes; 1 at least.
  [[nodiscard]] static double gain(double damping, unsigned steps) {
    return damping == 0 ? 1 : std::pow((1 + std::sqrt(1 - damping * damping)) / damping, steps - 1.0);
  }
  [[nodiscard]] static unsigned steps(double damping, double ratio) {
    if (damping == 0 || ratio <= 1) return 1;
    return 1 + static_cast<unsigned>(std::min(1e6, std::ceil(std::log(ratio) / std::log(gain(damping, 2)))));
  }

  /// What solve() needs for so many vertices and arcs at the most; memory comes from the space.
  void reserve(std::size_t n, std::uint64_t arcs) {
    bins_.reserve(n, arcs, limits);
    values_.reserve(3 * n);
    parts_.reserve(limits.most_parts(arcs));
  }
  /// Starts what solve() needs, for the graph as it is; O(vertices). Whoever calls reads x.state then.
  void prepare(rank_residuals const& x) {
    reserve(x.g.vertices(), x.g.arcs());
    space_.fill(x.state->residual_sum, 0, sizeof(residual_state::residual_sum));
    for_each_vertex(space_, x.g.vertices(), sum_residuals{x});
    bins_.enqueue(x.g.in_records(), x.g.vertices(), x.g.arcs(), limits, &x.state->bins);
  }
  /// y / degree after so many steps, one at least, for residuals of all vertices, but for what is due to their
  /// residual_sum; on the device, valid until the next call. O((vertices + arcs) steps). seen: after prepare(), or
  /// add_solution and pull_residuals.
  [[nodiscard]] float const* solve(rank_residuals const& x, residual_state const& seen, unsigned steps) {
    double const damping = x.damping;
    std::size_t const n = x.g.vertices();
    bins_view_ = bins_.view(seen.bins, limits);
    float* const r = values_.data();
    float* const contribution[] = {r + n, r + 2 * n};
    exec::for_each(space_, n, start_chebyshev{x, residual_sum_per_arc(x, seen), r, {contribution[0], contribution[1]}});
    double weight = 1;
    for (unsigned k = 2; k <= steps; ++k) {
      if (k > plain_steps + 1) weight = 1 / (1 - damping * damping * (weight == 1 ? 0.5 : weight / 4));
      chebyshev_step const step{bins_view_,
                                r,
                                contribution[(k - 1) % 2],
                                contribution[k % 2],
                                parts_.data(),
                                static_cast<float>(damping),
                                static_cast<float>(weight)};
      exec::for_each_tile<32>(space_, bins_view_.items(), pull_chebyshev_step{step});
      exec::for_each_tile<32>(space_, bins_view_.hub_rows, finish_hubs{step});
    }
    return contribution[steps % 2];
  }
  /// What an arc is due for the residual_sum then.
  [[nodiscard]] static double correction_per_arc(rank_residuals const& x, residual_state const& seen) {
    return residual_sum_per_arc(x, seen) / (1 - x.damping);
  }
  /// Of the last call, as long as the graph does not change.
  [[nodiscard]] row_bins_view const& bins() const { return bins_view_; }

 private:
  [[nodiscard]] static double residual_sum_per_arc(rank_residuals const& x, residual_state const& seen) {
    return x.g.arcs() > 0 ? residual_state::total(seen.residual_sum) / static_cast<double>(x.g.arcs()) : 0;
  }
  static constexpr unsigned plain_steps = 2;
  static constexpr bin_limits limits{32, 256, 1024, 1024};
  Space space_;
  row_bins<Space> bins_;
  row_bins_view bins_view_{};
  exec::buffer<float, Space> values_;  // r, shares twice
  exec::buffer<double, Space> parts_;
};

}  // namespace wyrm::algorithms::detail
