// SPDX-License-Identifier: Apache-2.0
// The residuals of incremental_pagerank, and the kernels that change some of them; see there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "rank_weights.hpp"
#include "rounds.hpp"
#include "row_bins.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

[[nodiscard]] WYRM_HD inline std::int64_t magnitude(std::int64_t residual) {
  return residual < 0 ? -residual : residual;
}

/// In device memory; the host reads it.
struct residual_state {
  /// Counters per sum: a device performs one atomic addition to an address at a time.
  static constexpr unsigned places = 64;
  struct work_of_batch {
    std::uint64_t iterations;  // rounds in which a residual was taken
    std::uint64_t counted;     // the work up to the last of these
    std::uint64_t ranked[places];
    std::uint64_t work[places];    // pushed vertices and their arcs
    std::uint64_t listed[places];  // the same of vertices that a pass over all of them has listed, each time
    std::uint64_t given_up;
  };
  work_of_batch done;
  frontier_sizes sizes;                // of the frontiers of residuals to push
  std::uint32_t changed;               // number of items of vertices that a batch changes
  std::int64_t sum[places];            // of x
  std::int64_t residual_norm[places];  // the sum of |residual|; a residual that is taken counts until it is pushed
  std::int64_t residual_sum[places];   // of the same residuals
  bin_ends bins;                       // of the rows, if they are requested
  double all_weights;                  // see chebyshev_solver::prepare()
  double out_of_range;                 // the same
  double solution_norm;                // see measure_solution
  std::uint32_t arrived;               // of tile_sums; 0 between launches
  std::uint64_t first_invalid;         // as weight_summary::first_invalid, of the rows that a batch changes

  /// The sum of counters, modulo 2^64: a single counter may have wrapped around, or be far greater than the sum.
  /// Collective.
  template <class Tile, class T>
  [[nodiscard]] WYRM_HD static T sum_of(Tile const& t, T const (&counts)[places]) {
    std::uint64_t mine = 0;
    for (unsigned p = t.rank(); p < places; p += Tile::size()) mine += static_cast<std::uint64_t>(counts[p]);
    return static_cast<T>(exec::sum(t, mine));
  }
  /// The same on the host.
  template <class T>
  [[nodiscard]] static double total(T const (&counts)[places]) {
    return static_cast<double>(sum_of(exec::scalar_tile{}, counts));
  }
  /// A bound of the error of ranks, times 1 - d: the norm of the residuals, which bounds the error of unscaled ranks,
  /// and a bound of the error of their sum. In an undirected graph vertices that send nothing have no residuals, and
  /// all others push d times theirs; so the sum of the residuals is the error of that sum, times 1 - d. Collective; the
  /// same on the host and on a device.
  template <class Tile>
  [[nodiscard]] WYRM_HD double error(Tile const& t, bool directed) const {
    auto const norm = static_cast<std::uint64_t>(sum_of(t, residual_norm));
    auto const of_sum = static_cast<std::uint64_t>(magnitude(sum_of(t, residual_sum)));
    return static_cast<double>(norm + (directed ? norm : of_sum));
  }
};

/// The residual that a vertex has added to its rank, and what it sends for it.
struct taken_residual {
  std::int64_t residual;
  std::int64_t more;  // the change of `sent`
};

struct rank_residuals;

/// The weights of a part of the arcs of a vertex.
class weighted_arcs {
 public:
  WYRM_HD inline weighted_arcs(rank_residuals const& x, graph::vertex_id v, std::ptrdiff_t begin);
  /// How much more the vertex sends along arc i when it sends `to` in total instead of `from`.
  [[nodiscard]] WYRM_HD std::int64_t change(std::uint32_t i, std::int64_t from, std::int64_t to) const {
    double const w = row_.weight(begin_ + i);
    return sent_along(to, w, total_) - sent_along(from, w, total_);
  }

 private:
  value_row row_;
  double total_;
  std::uint32_t begin_;
};

/// The arrays and limits of all kernels. x, residual and sent have one value per vertex, in the units of
/// incremental_pagerank.
struct rank_residuals {
  static constexpr unsigned least_lanes = 8;  // of an item, see push()
  graph::graph_view g;
  std::int64_t* x;  // the unscaled ranks
  std::int64_t* residual;
  std::int64_t* sent;  // along each arc of the vertex; with weights what it sends in total, see sent_along()
  residual_state* state;
  double damping;
  double limit;          // of the residual of any vertex
  double limit_per_arc;  // added for each arc of the vertex
  double target_error;   // pushing ends when the error is at most this; negative: never because of the error
  std::int64_t base;     // of each vertex, if there are no `bases`
  std::int64_t const* bases;
  double* totals;  // of the weights of the arcs of a vertex, see weight_total; nullptr: arcs have no weights

  /// Whether the residual of a vertex exceeds its limit.
  [[nodiscard]] WYRM_HD bool exceeds(std::int64_t r, std::uint32_t degree) const {
    return static_cast<double>(magnitude(r)) > limit + limit_per_arc * degree;
  }
  /// The same without a degree: most residuals are below `limit`, so that it need not be read.
  [[nodiscard]] WYRM_HD bool exceeds_at(graph::vertex_id v, std::int64_t r) const {
    return static_cast<double>(magnitude(r)) > limit && exceeds(r, g.degree(v));
  }
  [[nodiscard]] WYRM_HD std::int64_t contribution(graph::vertex_id v) const {
    return contribution(v, x[v], totals != nullptr ? 0 : g.degree(v));
  }
  /// The same for a rank of v, and its degree, which is ignored if arcs have weights.
  [[nodiscard]] WYRM_HD std::int64_t contribution(graph::vertex_id v, std::int64_t rank, std::uint32_t degree) const {
    if (totals != nullptr) return totals[v] != 0 ? rounded(damping * static_cast<double>(rank)) : 0;
    return degree == 0 ? 0 : rounded(damping * static_cast<double>(rank) / degree);
  }
  /// What the share of an arc is divided by: the sum of weights, or the degree; 0 for a vertex that sends nothing.
  [[nodiscard]] WYRM_HD double divisor(graph::vertex_id v) const { return totals != nullptr ? totals[v] : g.degree(v); }
  /// The base of an absent vertex is 0.
  [[nodiscard]] WYRM_HD std::int64_t base_of(graph::vertex_id v) const {
    return !g.is_present(v) ? 0 : bases != nullptr ? bases[v] : base;
  }
  /// Sets the rank of v to `own`, its contribution accordingly, and its residual to base - own: as if it had received
  /// no contribution.
  WYRM_HD void restart(graph::vertex_id v, std::int64_t own) const {
    x[v] = own;
    sent[v] = contribution(v);
    residual[v] = base_of(v) - own;
  }
  /// Adds what the vertex of an item sends along each of its arcs to the residual of the neighbour, when `sent` changes
  /// from `from` to `to`, and subtracts `gone`, the residual that the vertex has taken, from the norm and the sum. Each
  /// item has consecutive lanes, a power of two; lanes without one pass nullptr. All lanes call f(v, exceeds) with
  /// arrays of several neighbours, so f may be collective; where there is no neighbour, v = 0 and exceeds = false. f is
  /// not called if nothing changes. Weighted: whether arcs have weights. Collective.
  template <bool Weighted, class Tile, class F>
  WYRM_HD void push(Tile const& t, frontier_item const* item, std::int64_t from, std::int64_t to, std::int64_t gone,
                    F const& f) const {
    constexpr unsigned at_once = Tile::size() > 1 ? 4 : 1;  // additions that are issued before the first one returns
    unsigned const lanes = lanes_of_item<least_lanes>(t, item);
    unsigned const lane = t.rank() % lanes;
    std::int64_t more = lane == 0 ? -magnitude(gone) : 0;
    std::int64_t all_by = lane == 0 ? -gone : 0;
    graph::vertex_id const source = item != nullptr ? item->vertex : 0;
    graph::neighbour_list all{};
    graph::neighbour_list part{};
    if (item != nullptr && from != to) {
      all = g.neighbours(source);
      part = item->part_of(all);
    }
    [[maybe_unused]] weighted_arcs const arcs(*this, source, part.data - all.data);
    graph::vertex_id next[at_once];  // ids are loaded ahead
    auto const load_from = [&](std::uint32_t first) {
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const at = first + k * lanes + lane;
        next[k] = at < part.size ? part[at] : 0;
      }
    };
    load_from(0);
    for (std::uint32_t i = 0; t.any(i < part.size); i += lanes * at_once) {
      graph::vertex_id v[at_once];
      std::int64_t by[at_once];
      std::int64_t before[at_once];
      bool exceeds_limit[at_once];
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint32_t const at = i + k * lanes + lane;
        bool const has = at < part.size;
        v[k] = next[k];
        by[k] = has ? to - from : 0;
        if constexpr (Weighted)
          if (has) by[k] = arcs.change(at, from, to);
      }
      for (unsigned k = 0; k < at_once; ++k)
        before[k] = by[k] != 0 ? exec::atomic_ref<std::int64_t>(residual[v[k]]).fetch_add(by[k], exec::relaxed)
                               : std::int64_t{0};
      load_from(i + lanes * at_once);
      for (unsigned k = 0; k < at_once; ++k) {
        all_by += by[k];
        more += magnitude(before[k] + by[k]) - magnitude(before[k]);
        exceeds_limit[k] = by[k] != 0 && exceeds_at(v[k], before[k] + by[k]);
      }
      f(v, exceeds_limit);
    }
    more = exec::sum(t, more);
    all_by = exec::sum(t, all_by);
    if (t.rank() != 0) return;
    add_to(state->residual_norm, more, exec::thread_number(t));
    add_to(state->residual_sum, all_by, exec::thread_number(t));
  }
  /// In an undirected graph: takes the residual of a vertex that sends nothing. So such vertices have no residuals,
  /// which residual_state::error() relies on.
  WYRM_HD void take_if_mute(graph::vertex_id v) const {
    if (g.directed() || divisor(v) != 0) return;
    std::int64_t const r = residual[v];
    x[v] += r;
    residual[v] = 0;
    add_to(state->sum, r, v);
    add_to(state->residual_norm, -magnitude(r), v);
    add_to(state->residual_sum, -r, v);
  }
  /// Whether pushing may end, while no thread pushes; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool is_below_target(Tile const& t) const {
    return state->error(t, g.directed()) <= target_error;
  }
  template <class T>
  WYRM_HD static void add_to(T (&places)[residual_state::places], T by, std::uint64_t thread) {
    if (by != 0) exec::atomic_ref<T>(places[thread % residual_state::places]).fetch_add(by, exec::relaxed);
  }
  WYRM_HD void count(std::uint64_t ranked, std::uint64_t work, std::int64_t added, std::uint64_t thread) const {
    add_to(state->done.work, work, thread);
    add_to(state->done.ranked, ranked, thread);
    add_to(state->sum, added, thread);
  }
};

WYRM_HD inline weighted_arcs::weighted_arcs(rank_residuals const& x, graph::vertex_id v, std::ptrdiff_t begin)
    : row_(x.g.out_records()[v], x.g.numbers()),
      total_(x.totals != nullptr ? x.totals[v] : 0),
      begin_(static_cast<std::uint32_t>(begin)) {}

/// One lane per entry of a change, before it: lists the vertices whose arcs or weights will change.
struct find_changed {
  graph::graph_view g;
  graph::edge const* edges;  // of the change, or its revalued ones
  frontier changed;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const changes = valid && !(edges[i] == graph::graph_change::no_edge());
    graph::edge const e = changes ? edges[i] : graph::edge{0, 0};
    changed.add(t, g, e.source, changes);
    changed.add(t, g, e.target, changes && !g.directed());
  }
};

/// One tile per item: repeats or reverts what the vertex has sent along its arcs. Repeating clears its mark.
template <bool Weighted>
struct resend {
  rank_residuals x;
  frontier changed;
  bool reverts;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    if (!reverts && item->part == 0 && t.rank() == 0) changed.clear_mark(item->vertex);
    std::int64_t const all = x.sent[item->vertex];
    x.push<Weighted>(t, item, reverts ? all : 0, reverts ? 0 : all, 0, [](auto const&, auto const&) {});
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
      if (x.totals == nullptr) x.take_if_mute(v);
    }
    fresh.add(t, x.g, v, is_first);
  }
};

/// One lane per vertex: lists all of them.
struct list_vertices {
  graph::graph_view g;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    to.append(t, g, static_cast<graph::vertex_id>(v), valid);
  }
};

/// One lane per item, after add_up_part: sets the total of the weights of the vertex, and its contribution.
struct update_totals {
  rank_residuals x;
  frontier_item const* items;
  double const* parts;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0) return;
    graph::vertex_id const v = item->vertex;
    x.totals[v] = total_of_parts(parts + (item - items), frontier_item::parts(x.g.degree(v)));
    x.sent[v] = x.contribution(v);
    x.take_if_mute(v);
  }
};

/// One thread per vertex that a change adds: its rank is the base, its arcs, if it gets some, are yet to be processed.
struct start_added {
  rank_residuals x;
  graph::vertex_id const* added;
  WYRM_HD void operator()(std::size_t i) const {
    graph::vertex_id const v = added[i];
    std::int64_t const base = x.base_of(v);
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
    rank_residuals::add_to(x.state->residual_sum, -x.residual[v], i);
    x.x[v] = x.residual[v] = x.sent[v] = 0;
  }
};

/// When a batch is given up: if a frontier has more items than this, or if more vertices and arcs were pushed, or
/// listed by passes over all vertices.
struct push_bounds {
  std::uint32_t items;
  double work;
  [[nodiscard]] WYRM_HD bool allows(std::uint64_t done) const { return static_cast<double>(done) <= work; }
};

/// One lane per item of the frontier: adds the residual of the vertex to its rank, and updates its contribution. Takes
/// no residual any more if the batch is given up, or the error is below the target: then the next frontier stays empty.
struct take_residuals {
  static constexpr unsigned lanes_per_item = 1;
  rank_residuals x;
  frontier now;
  taken_residual* taken;  // of each item
  push_bounds most;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const fits = *now.size <= most.items && most.allows(residual_state::sum_of(t, x.state->done.listed));
    bool const goes_on = fits && x.state->done.given_up == 0 && !x.is_below_target(t);
    if (item == now.items && !fits) x.state->done.given_up = 1;  // which no tile reads, then
    std::int64_t r = 0;
    std::uint64_t work = 0;
    if (item != nullptr && item->part == 0) {
      graph::vertex_id const v = item->vertex;
      now.clear_mark(v);
      std::int64_t more = 0;
      // All loads first, which take most of the time.
      std::uint32_t const degree = x.g.degree(v);
      std::int64_t const before = x.x[v];
      std::int64_t const sent = x.sent[v];
      r = x.residual[v];
      if (goes_on && x.exceeds(r, degree)) {
        work = std::uint64_t{1} + degree;
        x.residual[v] = 0;
        x.x[v] = before + r;
        std::int64_t const fresh = x.contribution(v, before + r, degree);
        more = fresh - sent;
        x.sent[v] = fresh;
      } else {
        r = 0;
      }
      taken[item - now.items] = {r, more};
    }
    auto const ranked = static_cast<std::uint64_t>(cuda::std::popcount(t.ballot(r != 0)));
    std::int64_t const sum = exec::sum(t, r);
    work = exec::sum(t, work);
    if (t.rank() == 0) x.count(ranked, work, sum, exec::thread_number(t) / 32);
  }
};

/// A round, see work_on(): pushes the changes of contributions to neighbours, after take_residuals.
template <bool Weighted>
struct push_residuals {
  static constexpr unsigned lanes_per_item = rank_residuals::least_lanes;
  static constexpr bool leaves_hubs = true;  // a team has eight multiprocessors for their atomic additions
  rank_residuals x;
  taken_residual* taken;
  push_bounds most;
  frontier now;
  frontier next;
  [[nodiscard]] WYRM_HD take_residuals before(frontier const&) const { return {x, now, taken, most}; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    if (t.any(item == now.items)) count_round(t);
    taken_residual const own = item != nullptr ? taken[item - now.items - item->part] : taken_residual{0, 0};
    if (t.all(own.residual == 0)) return;
    std::int64_t const to =
        Weighted && item != nullptr ? x.sent[item->vertex] : own.more;  // or any: only `more` matters
    x.push<Weighted>(t, item, to - own.more, to, item != nullptr && item->part == 0 ? own.residual : 0,
                     [&](auto const& v, auto const& exceeds) { next.add(t, x.g, v, exceeds); });
  }

 private:
  // The work does not depend on the order of additions; the frontier does: a residual may exceed its limit for a
  // moment.
  template <class Tile>
  WYRM_HD void count_round(Tile const& t) const {
    residual_state::work_of_batch& done = x.state->done;
    std::uint64_t const work = residual_state::sum_of(t, done.work);
    if (t.rank() != 0) return;
    if (work != done.counted) ++done.iterations;
    done.counted = work;
    if (!most.allows(work)) done.given_up = 1;
  }
};

}  // namespace wyrm::algorithms::detail
