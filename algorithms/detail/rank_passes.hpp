// SPDX-License-Identifier: Apache-2.0
// The kernels of incremental_pagerank that process all vertices; see there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "pull.hpp"
#include "rank_residuals.hpp"
#include "rank_weights.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"
#include "tile_sums.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// Scales ranks to the sum 1.
struct scale_ranks {
  std::int64_t const* x;
  double scale;
  double* rank;
  WYRM_HD void operator()(std::size_t v) const { rank[v] = scale * static_cast<double>(x[v]); }
};

/// Partial sums of one lane; add_to() adds the sums over the lanes of a tile to the state.
struct residual_sums {
  std::int64_t ranks = 0;
  std::int64_t residual_norm = 0;
  std::int64_t residual_sum = 0;
  WYRM_HD void add(std::int64_t residual) {
    residual_norm += magnitude(residual);
    residual_sum += residual;
  }
  /// Collective.
  template <class Tile>
  WYRM_HD void add_to(Tile const& t, residual_state& state, std::uint64_t tile) const {
    std::int64_t const all_ranks = exec::sum(t, ranks);
    std::int64_t const all_norm = exec::sum(t, residual_norm);
    std::int64_t const all_residual_sum = exec::sum(t, residual_sum);
    if (t.rank() != 0) return;
    rank_residuals::add_to(state.sum, all_ranks, tile);
    rank_residuals::add_to(state.residual_norm, all_norm, tile);
    rank_residuals::add_to(state.residual_sum, all_residual_sum, tile);
  }
};

/// One tile per block of consecutive vertices, a lane per vertex; adds the sums of a tile at the end. The number of
/// tiles is limited, because a device performs only about two atomic additions per nanosecond to all counters.
template <class F>
struct over_vertices {
  F f;
  std::size_t n;
  std::size_t vertices_per_tile;  // a multiple of 32
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    residual_sums sums;
    std::size_t const end = (tile + 1) * vertices_per_tile < n ? (tile + 1) * vertices_per_tile : n;
    for (std::size_t i = tile * vertices_per_tile; i < end; i += Tile::size())
      f(t, i + t.rank(), i + t.rank() < end, sums);
    sums.add_to(t, *f.x.state, tile);
  }
};
template <class Space, class F>
void for_each_vertex(Space const& space, std::size_t n, F const& f) {
  constexpr std::size_t max_tiles = 4096;
  std::size_t const vertices_per_tile = (n / max_tiles + 32) / 32 * 32;
  exec::for_each_tile<32>(space, (n + vertices_per_tile - 1) / vertices_per_tile,
                          over_vertices<F>{f, n, vertices_per_tile});
}

/// Sets ranks to an initial value, and residuals accordingly. In an undirected graph, whose arcs have no weights, the
/// rank of a vertex without neighbours is its base; see take_if_mute() for weights.
struct start_residuals {
  rank_residuals x;
  double const* start;  // nullptr: 0
  double scale;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid, residual_sums& sums) const {
    if (!valid) return;
    auto const v = static_cast<graph::vertex_id>(i);
    bool const is_mute = !x.g.directed() && x.totals == nullptr && x.g.degree(v) == 0;
    std::int64_t const own = is_mute            ? x.base_of(v)
                             : start != nullptr ? static_cast<std::int64_t>(start[i] * scale)
                                                : std::int64_t{0};
    x.restart(v, own);
    sums.ranks += own;
    sums.add(x.residual[i]);
  }
};

/// The solution of Chebyshev's iteration: for a vertex that sends something, its divisor times the sum of its
/// contribution and the correction; for any other, its residual.
struct rank_solution {
  float const* contribution;
  double correction;
  [[nodiscard]] WYRM_HD double at(rank_residuals const& x, graph::vertex_id v) const {
    double const divisor = x.divisor(v);
    return divisor > 0 ? (static_cast<double>(contribution[v]) + correction) * divisor
                       : static_cast<double>(x.residual[v]);
  }
};

/// Sums the absolute values of a solution, in a fixed order.
struct measure_solution {
  rank_residuals x;
  rank_solution solution;
  std::uint32_t tiles;
  double* parts;  // for tile_sums
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    double sums[1] = {};
    add_in_order(
        t, tile * Tile::size() + t.rank(), std::size_t{tiles} * Tile::size(), x.g.vertices(),
        [&](std::size_t v) { return solution.at(x, static_cast<graph::vertex_id>(v)); },
        [&](double more) { sums[0] += more < 0 ? -more : more; });
    if (tile_sums<1>{parts, &x.state->arrived}.add_up(t, tile, tiles, sums) && t.rank() == 0)
      x.state->solution_norm = sums[0];
  }
};

/// After measure_solution: adds a solution to ranks, if its norm is at most `most`.
struct add_solution {
  rank_residuals x;
  rank_solution solution;
  double most;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid, residual_sums& sums) const {
    if (!valid) return;
    auto const v = static_cast<graph::vertex_id>(i);
    std::int64_t const more = x.state->solution_norm <= most ? static_cast<std::int64_t>(solution.at(x, v)) : 0;
    x.restart(v, x.x[v] + more);
    sums.ranks += more;
  }
};

/// Adds the residuals of all vertices to their ranks.
struct take_all_residuals {
  rank_residuals x;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid, residual_sums& sums) const {
    if (!valid) return;
    std::int64_t const more = x.residual[i];
    x.restart(static_cast<graph::vertex_id>(i), x.x[i] + more);
    sums.ranks += more;
  }
};

/// A fixed number of tiles process the items of the bins of in-neighbours: each pulls the contributions that a vertex
/// receives, and computes the residual and its norm, except for hubs.
template <bool Weighted>
struct pull_residuals {
  rank_residuals x;
  row_bins_view bins;
  std::uint32_t tiles;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    rows here{x, {}};
    for (auto item = static_cast<std::uint32_t>(tile); item < bins.items(); item += tiles)
      sum_rows(t, bins, item, here);
    here.sums.add_to(t, *x.state, tile);
  }

 private:
  struct rows {
    rank_residuals const& x;
    residual_sums sums;

    [[nodiscard]] WYRM_HD std::int64_t load(graph::vertex_id v, graph::vertex_record const&) const {
      return x.residual[v];
    }
    WYRM_HD void set(graph::vertex_id v, graph::vertex_record const&, std::int64_t before, std::int64_t sent) {
      x.residual[v] = before + sent;
      sums.add(before + sent);
    }
    WYRM_HD void set_part(std::uint32_t, graph::vertex_id v, std::int64_t sent) const {
      exec::atomic_ref<std::int64_t>(x.residual[v]).fetch_add(sent, exec::relaxed);
    }
    template <class Tile>
    [[nodiscard]] WYRM_HD std::int64_t sum(Tile const& t, graph::vertex_id v, graph::vertex_record const& row,
                                           std::uint32_t begin, std::uint32_t end, std::uint32_t lane,
                                           std::uint32_t lanes) const {
      if constexpr (!Weighted) return pull<std::int64_t, false>(t, x.sent, nullptr, row.page, begin, end, lane, lanes);
      constexpr unsigned at_once =
          Tile::size() > 1 ? 4 : 1;  // arcs whose loads are issued before the first one returns
      value_row const weights(x.g.in_records()[v], x.g.numbers());
      std::int64_t all = 0;
      for (std::uint32_t i = begin + lane; i < end; i += at_once * lanes) {
        std::int64_t sent[at_once];
        double weight[at_once];
        double total[at_once];
        for (unsigned k = 0; k < at_once; ++k) {
          std::uint32_t const at = i + k * lanes;
          graph::vertex_id const u = at < end ? row.page[at] : 0;
          sent[k] = at < end ? x.sent[u] : 0;
          total[k] = at < end ? x.totals[u] : 0;
          weight[k] = at < end ? weights.weight(at) : 0;
        }
        for (unsigned k = 0; k < at_once; ++k) all += sent_along(sent[k], weight[k], total[k]);
      }
      return all;
    }
  };
};

/// One lane per hub of these bins, after pull_residuals: adds the residual of the hub to the sums.
struct sum_hubs {
  rank_residuals x;
  row_bins_view bins;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t hub, bool valid) const {
    residual_sums sums;
    if (valid) sums.add(x.residual[bins.hubs[hub].vertex]);
    sums.add_to(t, *x.state, hub);
  }
};

/// One lane per vertex: lists those with residuals above the limits.
struct list_residuals {
  rank_residuals x;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    bool const exceeds = valid && x.exceeds_at(v, x.residual[v]);
    if (!t.any(exceeds)) return;
    to.add(t, x.g, v, exceeds);
    std::uint64_t const work = exec::sum(t, exceeds ? std::uint64_t{1} + x.g.degree(v) : std::uint64_t{0});
    if (t.rank() == 0) rank_residuals::add_to(x.state->done.listed, work, exec::thread_number(t));
  }
};

}  // namespace wyrm::algorithms::detail
