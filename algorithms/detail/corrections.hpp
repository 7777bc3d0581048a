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
// Values are floats: the result is good for five digits, and whoever asks has to look at what is left exactly.
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
#include "row_bins.hpp"

namespace wyrm::algorithms::detail {

/// A thread a vertex: y(0) = 0, y(1) = r.
struct start_corrections {
  graph::packed_record const* rows;
  std::int64_t const* residual;
  float* r;
  float* y[2];
  float* share;
  float damping;
  WYRM_HD void operator()(std::size_t v) const {
    auto const own = static_cast<float>(residual[v]);
    std::uint32_t const degree = rows[v].degree;
    r[v] = own;
    y[0][v] = 0;
    y[1][v] = own;
    share[v] = degree > 0 ? damping * own / static_cast<float>(degree) : 0;
  }
};

/// A step of the iteration.
struct correction_step {
  row_bins_view bins;
  float const* r;
  float* y;            // y(k-1), and then y(k+1)
  float const* share;  // what a vertex sends of y(k) along an arc,
  float* next;         // and of y(k+1)
  double* parts;       // of hubs: what was pulled
  float damping;
  float weight;  // w(k+1)

  WYRM_HD void set(graph::vertex_id v, std::uint32_t degree, float sent) const {
    float const before = y[v];
    float const now = weight * (r[v] + sent - before) + before;
    y[v] = now;
    next[v] = degree > 0 ? damping * now / static_cast<float>(degree) : 0;
  }
};

/// A tile an item of the bins.
struct pull_corrections {
  correction_step x;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    x.bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
  }
  template <class Tile>
  WYRM_HD void lane(Tile const& t, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    if (valid) x.set(v, row.degree, pull(t, row, 0, row.degree, 0, 1));
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    float const sent = group_sum(t, pull(t, row, 0, row.degree, t.rank() % lanes, lanes));
    if (valid && t.rank() % lanes == 0) x.set(v, row.degree, sent);
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id v, graph::vertex_record const& row) const {
    float const sent = exec::sum(t, pull(t, row, 0, row.degree, t.rank(), Tile::size()));
    if (t.rank() == 0) x.set(v, row.degree, sent);
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = x.bins.part(number);
    float const sent = exec::sum(t, pull(t, p.row, p.begin, p.end, t.rank(), Tile::size()));
    if (t.rank() == 0) x.parts[number] = static_cast<double>(sent);
  }

 private:
  template <class Tile>
  WYRM_HD float pull(Tile const& t, graph::vertex_record const& row, std::uint32_t begin, std::uint32_t end,
                     std::uint32_t lane, std::uint32_t lanes) const {
    return detail::pull<float, false>(t, x.share, nullptr, row.page, begin, end, lane, lanes);
  }
};

/// A tile a hub.
struct correct_hubs {
  correction_step x;
  graph::packed_record const* rows;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t hub) const {
    auto const sent = static_cast<float>(x.bins.sum_of_parts(t, static_cast<std::uint32_t>(hub), x.parts));
    graph::vertex_id const v = x.bins.hubs[hub].vertex;
    if (t.rank() == 0) x.set(v, rows[v].degree, sent);
  }
};

/// On the host. 20 bytes a vertex, and 24 for bins. The same graph gives the same, bit for bit, on each run.
template <class Space>
class correction_solver {
 public:
  static constexpr unsigned most_steps = 24;  // after which floats have no more to give, for d = 0.85

  explicit correction_solver(Space const& space) : space_(space), bins_(space), values_(space), parts_(space) {}

  /// How many steps it takes to have what is left over `ratio`; 1 at least.
  [[nodiscard]] static unsigned steps(double damping, double ratio) {
    if (damping == 0 || ratio <= 1) return 1;
    double const a_step = std::log((1 + std::sqrt(1 - damping * damping)) / damping);
    return 1 + static_cast<unsigned>(std::min(1e6, std::ceil(std::log(ratio) / a_step)));
  }

  /// What solve() needs for so many vertices and arcs at the most; memory comes from the space.
  void reserve(std::size_t n, std::uint64_t arcs) {
    bins_.reserve(n, arcs, limits);
    values_.reserve(5 * n);
    parts_.reserve(arcs / limits.part + arcs / limits.warp);
  }
  /// y after so many steps, one at least, for residuals of all vertices; on the device, valid until the next call.
  /// O((vertices + arcs) steps).
  [[nodiscard]] float const* solve(graph::graph_view const& g, std::int64_t const* residual, double damping,
                                   unsigned steps) {
    std::size_t const n = g.vertices();
    reserve(n, g.arcs());
    bins_view_ = bins_.make(g.in_records(), n, g.arcs(), limits);
    float* const r = values_.data();
    float* const y[] = {r + n, r + 2 * n};
    float* const share[] = {r + 3 * n, r + 4 * n};
    auto const d = static_cast<float>(damping);
    exec::for_each(space_, n, start_corrections{g.in_records(), residual, r, {y[0], y[1]}, share[1], d});
    double weight = 1;
    for (unsigned k = 2; k <= steps; ++k) {
      if (k > plain_steps + 1) weight = 1 / (1 - damping * damping * (weight == 1 ? 0.5 : weight / 4));
      correction_step const x{
          bins_view_, r, y[k % 2], share[(k - 1) % 2], share[k % 2], parts_.data(), d, static_cast<float>(weight)};
      exec::for_each_tile<32>(space_, bins_view_.items(), pull_corrections{x});
      exec::for_each_tile<32>(space_, bins_view_.hub_rows, correct_hubs{x, g.in_records()});
    }
    return y[steps % 2];
  }
  /// Of the last call, as long as the graph does not change.
  [[nodiscard]] row_bins_view const& bins() const { return bins_view_; }

 private:
  static constexpr unsigned plain_steps = 2;
  static constexpr bin_limits limits{32, 256, 1024, 1024};
  Space space_;
  row_bins<Space> bins_;
  row_bins_view bins_view_{};
  exec::buffer<float, Space> values_;  // r, y twice, shares twice
  exec::buffer<double, Space> parts_;
};

}  // namespace wyrm::algorithms::detail
