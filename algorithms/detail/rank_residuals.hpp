// SPDX-License-Identifier: Apache-2.0
// The kernels of incremental_pagerank, which operate on residuals; see there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "pull.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"

namespace wyrm::algorithms::detail {

/// In device memory; the host reads it.
struct residual_state {
  /// Counters per sum: a device performs one atomic addition to an address at a time.
  static constexpr unsigned places = 64;
  std::uint32_t sizes[3];              // of the current frontier, the next one, and the one to reset, in turn
  std::uint32_t changed;               // number of items of vertices that a batch changes
  std::int64_t sum[places];            // of x
  std::int64_t residual_norm[places];  // the sum of |residual|; a residual that is taken counts until it is pushed
  /// The sum of the residuals of vertices with neighbours; computed by passes over all vertices only.
  std::int64_t residual_sum[places];
  bin_ends bins;  // of the rows, if they are requested
  struct {
    std::uint64_t iterations;
    std::uint64_t ranked[places];
    std::uint64_t work[places];  // pushed vertices and their arcs
    std::uint64_t given_up;
  } done;  // of the batch

  /// On the host. Adds the counters modulo 2^64, as the device does: a single counter may have wrapped around, or be
  /// far greater than the sum.
  template <class T>
  [[nodiscard]] static double total(T const (&counts)[places]) {
    std::uint64_t sum = 0;
    for (T const count : counts) sum += static_cast<std::uint64_t>(count);
    return static_cast<double>(static_cast<T>(sum));
  }
};

/// The residual that a vertex has added to its rank, and what it sends for it.
struct taken_residual {
  std::int64_t magnitude;  // of the residual
  std::int64_t more;       // the change of its contribution along each arc
};

[[nodiscard]] WYRM_HD inline std::int64_t magnitude(std::int64_t residual) {
  return residual < 0 ? -residual : residual;
}

/// The arrays and limits of all kernels. x, residual and sent have one value per vertex, in the units of
/// incremental_pagerank.
struct rank_residuals {
  graph::graph_view g;
  std::int64_t* x;  // the unscaled ranks
  std::int64_t* residual;
  std::int64_t* sent;  // along each arc of the vertex
  residual_state* state;
  double damping;
  double limit;          // of the residual of any vertex
  double limit_per_arc;  // added for each arc of the vertex
  double target_norm;    // pushing ends when the norm is at most this; negative: never because of the norm

  /// Most residuals are below `limit`, so that the degree need not be read.
  [[nodiscard]] WYRM_HD bool exceeds(std::int64_t r, graph::vertex_id v) const {
    auto const size = static_cast<double>(magnitude(r));
    return size > limit && size > limit + limit_per_arc * g.degree(v);
  }
  [[nodiscard]] WYRM_HD std::int64_t contribution(graph::vertex_id v) const {
    std::uint32_t const degree = g.degree(v);
    if (degree == 0) return 0;
    double const exact = damping * static_cast<double>(x[v]) / degree;
    return static_cast<std::int64_t>(exact < 0 ? exact - 0.5 : exact + 0.5);
  }
  /// Sets the rank of v to `own`, its contribution accordingly, and its residual to base - own: as if it had received
  /// no contribution. The base of an absent vertex is 0.
  WYRM_HD void restart(graph::vertex_id v, std::int64_t own, std::int64_t base) const {
    x[v] = own;
    sent[v] = contribution(v);
    residual[v] = (g.is_present(v) ? base : 0) - own;
  }
  /// Adds `by` to the residual of each neighbour in an item, and subtracts `gone`, the magnitude of the residual that
  /// the vertex has taken, from the norm. All lanes call f(v, exceeds), so f may be collective; a lane without a
  /// neighbour passes v = 0 and exceeds = false. f is not called if `by` is 0. Collective.
  template <class Tile, class F>
  WYRM_HD void push(Tile const& t, frontier_item item, std::int64_t by, std::int64_t gone, F const& f) const {
    std::int64_t more = t.rank() == 0 ? -gone : 0;
    graph::neighbour_list const part = item.part_of(g.neighbours(item.vertex));
    for (std::uint32_t i = 0; by != 0 && i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const v = has ? part[i + t.rank()] : 0;
      std::int64_t const before =
          has ? exec::atomic_ref<std::int64_t>(residual[v]).fetch_add(by, exec::relaxed) : std::int64_t{0};
      if (has) more += magnitude(before + by) - magnitude(before);
      f(v, has && exceeds(before + by, v));
    }
    more = exec::sum(t, more);
    if (t.rank() == 0) add_to(state->residual_norm, more, exec::thread_number(t));
  }
  /// Whether pushing may end, while no thread pushes; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool is_below_target(Tile const& t) const {
    return is_below_target(exec::sum(t, norm_in_places(t.rank(), Tile::size())));
  }
  [[nodiscard]] WYRM_HD bool is_below_target(std::uint64_t left) const {
    return static_cast<double>(static_cast<std::int64_t>(left)) <= target_norm;
  }
  /// The sum of every `step`-th counter from `first` on, modulo 2^64.
  [[nodiscard]] WYRM_HD std::uint64_t norm_in_places(unsigned first, unsigned step) const {
    std::uint64_t left = 0;
    for (unsigned p = first; p < residual_state::places; p += step)
      left += static_cast<std::uint64_t>(state->residual_norm[p]);
    return left;
  }
  WYRM_HD static void add_to(std::int64_t (&places)[residual_state::places], std::int64_t by, std::uint64_t thread) {
    if (by != 0) exec::atomic_ref<std::int64_t>(places[thread % residual_state::places]).fetch_add(by, exec::relaxed);
  }
  WYRM_HD void count(std::uint64_t ranked, std::uint64_t work, std::int64_t added, std::uint64_t thread) const {
    if (work > 0)
      exec::atomic_ref<std::uint64_t>(state->done.work[thread % residual_state::places]).fetch_add(work, exec::relaxed);
    if (ranked > 0)
      exec::atomic_ref<std::uint64_t>(state->done.ranked[thread % residual_state::places])
          .fetch_add(ranked, exec::relaxed);
    add_to(state->sum, added, thread);
  }
};

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

/// Sets ranks to an initial value, and residuals accordingly.
struct start_residuals {
  rank_residuals x;
  double const* start;  // nullptr: 0
  double scale;
  std::int64_t base;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid, residual_sums& sums) const {
    if (!valid) return;
    std::int64_t const own = start != nullptr ? static_cast<std::int64_t>(start[i] * scale) : 0;
    x.restart(static_cast<graph::vertex_id>(i), own, base);
    sums.ranks += own;
    sums.residual_norm += magnitude(x.residual[i]);
  }
};

/// Adds the solution of Chebyshev's iteration to ranks: for a vertex with arcs, its degree times the sum of its
/// contribution per arc and the correction per arc; for a vertex without arcs, its residual.
struct add_solution {
  rank_residuals x;
  float const* contribution;
  double correction_per_arc;
  std::int64_t base;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid, residual_sums& sums) const {
    if (!valid) return;
    auto const v = static_cast<graph::vertex_id>(i);
    std::uint32_t const degree = x.g.degree(v);
    std::int64_t const more =
        degree > 0 ? static_cast<std::int64_t>((static_cast<double>(contribution[v]) + correction_per_arc) * degree)
                   : x.residual[v];
    x.restart(v, x.x[v] + more, base);
    sums.ranks += more;
  }
};

/// A fixed number of tiles process the items of the bins of in-neighbours: each pulls the contributions that a vertex
/// receives, and computes the residual and its norm, except for hubs.
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
    [[nodiscard]] WYRM_HD std::int64_t sum(Tile const& t, graph::vertex_id, graph::vertex_record const& row,
                                           std::uint32_t begin, std::uint32_t end, std::uint32_t lane,
                                           std::uint32_t lanes) const {
      return pull<std::int64_t, false>(t, x.sent, nullptr, row.page, begin, end, lane, lanes);
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

/// Sums |residual|, and lists the vertices with residuals above the limits.
struct list_residuals {
  rank_residuals x;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid, residual_sums& sums) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::int64_t const residual = valid ? x.residual[v] : 0;
    to.add(t, x.g, v, x.exceeds(residual, v));
    sums.residual_norm += magnitude(residual);
  }
};

/// One lane per entry of a change, before it: lists the vertices that will get or lose neighbours.
struct find_changed {
  graph::graph_view g;
  graph::graph_change change;
  frontier changed;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const changes = valid && change.has_edge(i);
    graph::edge const e = changes ? change.edges[i] : graph::edge{0, 0};
    changed.add(t, g, e.source, changes);
    changed.add(t, g, e.target, changes && !g.directed());
  }
};

/// One tile per item: repeats or reverts what the vertex has sent along its arcs.
struct resend {
  rank_residuals x;
  std::int64_t times;  // 1: repeat, -1: revert
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    x.push(t, *item, times * x.sent[item->vertex], 0, [](graph::vertex_id, bool) {});
  }
};

/// One lane per item, after the update: computes the new contribution of the vertex, and lists the vertex again,
/// because the number of its parts may have changed.
struct update_changed {
  rank_residuals x;
  frontier old;
  frontier fresh;  // uses the same marks
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const is_first = item != nullptr && item->part == 0;
    graph::vertex_id const v = is_first ? item->vertex : 0;
    if (is_first) {
      old.clear_mark(v);
      x.sent[v] = x.contribution(v);
    }
    fresh.add(t, x.g, v, is_first);
  }
};

/// One thread per vertex that a change adds: its rank is the base, its arcs, if it gets some, are yet to be processed.
struct start_added {
  rank_residuals x;
  graph::vertex_id const* added;
  std::int64_t base;
  WYRM_HD void operator()(std::size_t i) const {
    graph::vertex_id const v = added[i];
    x.x[v] = base;
    x.residual[v] = x.sent[v] = 0;
    rank_residuals::add_to(x.state->sum, base, i);
  }
};

/// One thread per vertex that a change removes, which has no arcs.
struct clear_removed {
  rank_residuals x;
  graph::vertex_id const* removed;
  WYRM_HD void operator()(std::size_t i) const {
    graph::vertex_id const v = removed[i];
    rank_residuals::add_to(x.state->sum, -x.x[v], i);
    rank_residuals::add_to(x.state->residual_norm, -magnitude(x.residual[v]), i);
    x.x[v] = x.residual[v] = x.sent[v] = 0;
  }
};

/// One lane per item: clears the mark of the vertex.
struct clear_changed {
  frontier changed;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item != nullptr && item->part == 0) changed.clear_mark(item->vertex);
  }
};

/// One lane per item of the frontier: adds the residual of the vertex to its rank, and updates its contribution.
struct take_residuals {
  rank_residuals x;
  frontier now;
  taken_residual* taken;  // of each item
  std::uint32_t* spare;   // the size of the previous frontier
  std::uint32_t most;     // number of items; if the frontier has more, it is given up, and no residual is taken
  WYRM_HD void start() const {
    *spare = 0;
    if (*now.size == 0 || x.is_below_target(x.norm_in_places(0, 1))) return;
    if (*now.size <= most)
      ++x.state->done.iterations;
    else
      x.state->done.given_up = 1;
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const goes_on = *now.size <= most && !x.is_below_target(t);
    std::int64_t r = 0;
    std::uint64_t work = 0;
    if (item != nullptr && item->part == 0) {
      graph::vertex_id const v = item->vertex;
      now.clear_mark(v);
      std::int64_t more = 0;
      r = x.residual[v];
      if (goes_on && x.exceeds(r, v)) {
        work = std::uint64_t{1} + x.g.degree(v);
        x.residual[v] = 0;
        x.x[v] += r;
        std::int64_t const fresh = x.contribution(v);
        more = fresh - x.sent[v];
        x.sent[v] = fresh;
      } else {
        r = 0;
      }
      taken[item - now.items] = {magnitude(r), more};
    }
    auto const ranked = static_cast<std::uint64_t>(cuda::std::popcount(t.ballot(r != 0)));
    std::int64_t const sum = exec::sum(t, r);
    work = exec::sum(t, work);
    if (t.rank() == 0) x.count(ranked, work, sum, exec::thread_number(t) / 32);
  }
};

/// One tile per item of the frontier: pushes the change of the contribution to neighbours.
struct push_residuals {
  rank_residuals x;
  frontier now;
  taken_residual const* taken;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    taken_residual const own = taken[item - now.items - item->part];
    if (own.magnitude == 0) return;
    x.push(t, *item, own.more, item->part == 0 ? own.magnitude : 0,
           [&](graph::vertex_id v, bool exceeds) { next.add(t, x.g, v, exceeds); });
  }
};

}  // namespace wyrm::algorithms::detail
