// SPDX-License-Identifier: Apache-2.0
// The PageRank of a changing graph, by residuals (Ohsaka, Maehara, Kawarabayashi, KDD 2015; Zhang, Lofgren, Goel, KDD
// 2016). The residual of a vertex is the difference to its rank; it stays at the vertex until it exceeds a limit, and
// is then added to the rank and pushed along the arcs of the vertex. A batch changes residuals only at neighbours of
// the vertices that get or lose neighbours.
//
// Ranks are stored unscaled: x = (1 - d)/n + d A x has no term that depends on all vertices, and x divided by its sum
// is the PageRank in which dangling vertices (those without out-neighbours) jump to any vertex. So a change does not
// affect distant vertices. The n of this base may be any number, because ranks are scaled, so it stays when vertices
// are added or removed: a vertex that is added has the rank (1 - d)/n, and no residual. All ranks are computed anew
// when there are more than n vertices, or less than half as many.
//
// Jumps may go to given sources instead, in proportion to their weights p: the base of a vertex is (1 - d) p(v) then,
// and x divided by its sum is the PageRank in which dangling vertices jump to the sources, too: scaling returns to them
// what dangling vertices have lost. A source that is removed leaves the set, and all ranks are computed anew.
//
// All values are integers, in units of about 2^-59: sums do not depend on the order of additions, and each run gives
// the same ranks. What a vertex has sent along each of its arcs is stored, so that
//
//   residual(v) = base - x(v) + sum over u -> v of sent(u)        sent(u) = d x(u) / degree(u), rounded
//
// holds exactly after any number of batches. An update reverts what the vertices that it changes have sent, and repeats
// it for the neighbours after the update. With weights, a vertex sends d x(u) in total, rounded, and along an arc the
// part of that total that the weight of the arc is in the sum of the weights of its row, rounded again: a function of
// stored values, so that it is reverted exactly as long as the graph shows the old weights. A vertex is changed also by
// a batch that gives one of its arcs another weight (graph_change::revalued).
//
// The norm of the residuals, the sum of their absolute values, is maintained as well: an atomic addition to a residual
// returns its previous value. If the norm is e, the unscaled ranks are within e / (1 - d) of the true ones in the L1
// norm. The scaled ranks are within this bound plus the difference of the sum of ranks to the true sum, both divided by
// the sum. That difference is at most e / (1 - d), too. In an undirected graph it is less, and known: the sum of the
// residuals, divided by 1 - d, because what is pushed never reaches a vertex that sends nothing. So that sum is
// maintained, and a vertex without neighbours has no residual: its rank is its base.
//
// Nothing is pushed while the bound is at most d / (1 - d) times the tolerance, which is also the bound of pagerank();
// so a small batch often requires no push. Otherwise residuals above a limit are pushed until the bound is half of
// that, or, after a batch with a far greater error, nine tenths. A quarter of the allowed norm is distributed evenly
// over all vertices, and a quarter in proportion to their degrees, which are the cost of a push. These values are the
// limits; so if no residual exceeds its limit, the bound is small enough. If only few vertices have residuals, greater
// limits are enough: so limits are first computed as for a graph with few vertices, and decreased in steps while the
// bound is too large. If a batch changes most ranks, a pull along all arcs is less work than pushing. In an undirected
// graph all ranks are then corrected by an iteration; its steps reduce the error as much as three steps of a full run
// (see detail/chebyshev.hpp); in a directed graph by a full run that starts from the current ranks, or, with weights or
// sources, by steps that add the residuals of all vertices to their ranks and compute them anew; each reduces the norm
// by d. The same steps are used in an undirected graph where weights differ so much that the iteration fails: at once
// if the weights of a row have a sum below 2^-60, other than 0, or above 2^60.
//
// Pushing a residual r sends at most d |r| + degree units in total. So with limits above degree / (1 - d) each push
// reduces the norm, and pushing ends. These least limits bound the tolerance that can be reached: see the options. If d
// is 0, nothing is sent, and limits are not needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/rank_correction.hpp"
#include "detail/rank_residuals.hpp"
#include "detail/rank_store.hpp"
#include "detail/weights.hpp"
#include "maintained_pagerank.hpp"

namespace wyrm::algorithms {

/// The PageRank of one changing graph; see graph/maintained_result.hpp. Jumps, also those of dangling vertices, go to
/// any vertex with the same probability, or to options::sources. About 100 bytes per vertex and 0.2 per arc, 0.4 per
/// arc of a directed graph; with weights 16 more per vertex, with sources 8. In-neighbours are used if the graph has
/// them. A batch costs O(degrees of the vertices that get or lose neighbours, or arcs of other weights). If the
/// residuals exceed the tolerance then, it also costs O(vertices + degrees of the vertices with pushed residuals, for
/// each push), or O((vertices + arcs) steps). Vertices that are added cost O(1) each, amortised; those that are removed
/// cost what the erasure of their edges costs, and a full run if a source is among them.
///
/// A weight must be finite, and not negative: a graph to which this result is attached refuses changes with others.
template <class Space>
class incremental_pagerank final : public maintained_pagerank {
 public:
  /// Computes the ranks of the graph. Throws error(bad_argument) for options out of range; for a source that is not in
  /// the graph, or weights of sources that are negative, not finite or 0 in total; and, if `weighted`, for a graph
  /// whose values are no numbers, or a value that is negative or not finite.
  incremental_pagerank(Space const& space, graph::graph_view const& g, incremental_pagerank_options const& o = {})
      : maintained_pagerank("incremental_pagerank", g, space.identity()), store_(space, g, o), correction_(space) {
    if (g.vertices() == 0) return;
    reserve(g, g.vertices(), g.arcs(), g.vertices());
    rank_all(g);
  }
  template <class Graph>
  explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
      : incremental_pagerank(g.space(), g.view(), o) {}

  [[nodiscard]] std::vector<double> rank() const override {
    std::vector<std::int64_t> const values = exec::copy_out(space(), store_.ranks(), store_.vertices());
    // Exact: the sum of all values is less than 2^63.
    auto const sum = static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
    std::vector<double> all(values.begin(), values.end());
    double const without =
        store_.present() > 0 && !store_.is_personal() ? 1 / static_cast<double>(store_.present()) : 0;
    for (double& r : all) r = sum > 0 ? r / sum : without;
    return all;
  }
  [[nodiscard]] unsigned iterations() const override { return iterations_; }
  [[nodiscard]] bool converged() const override { return converged_; }
  [[nodiscard]] std::uint64_t ranked() const override { return ranked_; }
  [[nodiscard]] double error_bound() const override { return error_bound_; }
  [[nodiscard]] bool needs_values() const override { return options().weighted; }
  [[nodiscard]] bool needs_weights() const override { return options().weighted; }

 private:
  void on_before(graph::graph_view const& g, graph::graph_change const& change) override {
    anew_ = store_.needs_new_ranks(change);
    std::size_t const n = std::max<std::size_t>(store_.vertices(), change.vertices);
    if (n == 0) return;
    store_.grow(n);
    std::size_t const changed = change.size + change.revalued_size;
    reserve(g, n, change.max_arcs, anew_ ? n : changed * (g.directed() ? 1 : 2));
    change_ = change;
    if (anew_ || change.size == 0) return;
    correction_.begin(change.may_insert() ? detail::rank_change::after_insertions
                                          : detail::rank_change::after_erasures);
    exec::for_each_lane<32>(space(), change.size, detail::find_changed{g, change.edges, store_.changed()});
    if (options().weighted)
      exec::for_each_lane<32>(space(), change.revalued_size,
                              detail::find_changed{g, change.revalued, store_.changed()});
    store_.resend(store_.changed(), store_.residuals(g), true);
  }
  void on_after(graph::graph_view const& g) override {
    correction_.forget_steps();
    std::size_t const before = store_.resize(g);
    if (store_.vertices() == 0) return forget_all();
    if (anew_) return rank_all(g);
    detail::frontier const fresh = store_.changed_afterwards();
    detail::rank_residuals const x = store_.residuals(g);
    store_.clear_ids(before);
    exec::for_each(space(), change_.added_size, detail::start_added{x, change_.added});
    store_.template over<32>(store_.changed(), detail::update_changed{x, store_.changed(), fresh});
    if (options().weighted) store_.update_totals(x, fresh);
    store_.resend(fresh, x, false);
    store_.clear_lists();
    exec::for_each(space(), change_.removed_size, detail::clear_removed{x, change_.removed});
    finish(g, g.has_in_neighbours(), false);
  }
  void on_undo(graph::graph_view const& g) override {
    if (store_.vertices() == 0 || anew_) return;
    store_.resend(store_.changed(), store_.residuals(g), false);
    store_.clear_lists();
  }

  [[nodiscard]] Space const& space() const { return store_.space(); }
  [[nodiscard]] incremental_pagerank_options const& options() const { return store_.options(); }
  // Requests all memory for a graph with n ids and this many arcs, when this many vertices change.
  void reserve(graph::graph_view const& g, std::size_t n, std::uint64_t arcs, std::size_t changed) {
    store_.reserve(n, arcs, changed);
    correction_.reserve(g, store_.is_general(), n, arcs);
  }
  void forget_all() {
    store_.forget_all();
    iterations_ = 0;
    ranked_ = 0;
    error_bound_ = 0;
    converged_ = true;
  }
  // Computes all ranks anew. The memory is reserved.
  void rank_all(graph::graph_view const& g) {
    skip_push_from_ = std::numeric_limits<double>::infinity();
    store_.restart(g);
    correction_.compute(store_, g);
    finish(g, false, true);
  }

  // Pushes residuals until the error is small enough, or, if limits ignore the target, until none exceeds its limit; or
  // processes all vertices at once when that is less work.
  void finish(graph::graph_view const& g, bool may_rank_all, bool ignores_target) {
    store_.ignore_target(ignores_target);
    bool is_listed = false;
    bool is_small = !pushed_many_;  // the frontier, as far as the host knows
    unsigned at_once = 4;           // iterations of large frontiers that are enqueued before the host reads the state
    bool is_ranked = false;         // all vertices were processed at once, and nothing was pushed since
    // Saves a synchronisation if this batch changes most ranks as the last one did.
    bool const is_prepared = may_rank_all && !g.directed() && changed_most_ranks_;
    detail::residual_state state = is_prepared ? correction_.prepare(store_, g) : store_.read_state();
    if (options().weighted)
      detail::weight_inspector<Space>::require_valid(space(), g, state.first_invalid, "incremental_pagerank");
    changed_most_ranks_ = false;
    // An earlier batch with such a norm changed most ranks, and this one most likely does, too. The threshold rises
    // each time, so that about one batch in seven is pushed nevertheless.
    double const initial_norm = all(state.residual_norm);
    bool const skips_push = may_rank_all && initial_norm >= skip_push_from_;
    if (skips_push) skip_push_from_ *= 1.25;
    auto const iterations_left = [&] {
      return options().max_iterations - correction_.steps() - static_cast<unsigned>(state.done.iterations);
    };
    auto const error_now = [&] { return state.error(exec::scalar_tile{}, g.directed()); };
    auto const is_within = [&] { return store_.is_within(g, error_now(), all(state.sum)); };
    unsigned const most_rounds = most_pushes(g);
    store_.set_aim(error_now() > many_times * store_.max_error(all(state.sum)) ? 0.9 : 0.5);
    double coarseness = ignores_target ? 1 : std::max(1.0, static_cast<double>(store_.vertices()) / vertices_nearby());
    store_.set_coarseness(coarseness);
    for (;;) {
      if (store_.update_limits(g, all(state.sum))) is_listed = false;
      bool const is_given_up =
          may_rank_all && (skips_push || state.done.given_up != 0 || state.done.iterations >= most_rounds);
      bool const is_under_way = ignores_target || (is_listed && !is_ranked);
      bool const is_done =
          store_.has_no_source() || (is_under_way ? error_now() <= store_.residuals(g).target_error : is_within());
      // Residuals below the limits must not be pushed.
      if (is_done || iterations_left() == 0) break;
      if (is_listed && !is_given_up && !store_.has_to_push(state)) {
        auto const limits = [&] { return std::pair(store_.residuals(g).limit, store_.residuals(g).limit_per_arc); };
        auto const last = limits();
        while (coarseness > 1 && limits() == last) {
          coarseness = std::max(1.0, coarseness / 16);
          store_.set_coarseness(coarseness);
        }
        if (limits() == last) break;  // also where rounding does not allow lower ones
        is_listed = false;
      }
      if (is_given_up) {
        if (!skips_push) skip_push_from_ = initial_norm / 4;
        space().fill(&store_.state()->done.given_up, 0, sizeof(std::uint64_t));
        state = correction_.correct(store_, g, state, is_prepared, iterations_left(), skips_push ? 1 : 8);
        may_rank_all = false;
        is_ranked = true;
        changed_most_ranks_ = true;
        is_listed = !correction_.has_solved();
        continue;
      }
      if (!is_listed) store_.list_all(g);
      is_ranked = false;
      is_listed = true;
      double const before = error_now();
      std::uint64_t const rounds_before = state.done.iterations;
      unsigned const rounds_left =
          may_rank_all ? most_rounds - static_cast<unsigned>(rounds_before) : iterations_left();
      state = push(g, is_small, at_once, std::min(iterations_left(), rounds_left), may_rank_all);
      is_small = store_.rounds().template is_small<detail::push_residuals<false>>(state.sizes, small());
      at_once = iterations_for(store_.residuals(g).target_error, error_now(), before,
                               static_cast<unsigned>(state.done.iterations - rounds_before));
    }
    auto const pushes = static_cast<double>(state.done.iterations);
    if (pushes > 0) pushed_many_ = all(state.done.ranked) > pushes * small();
    iterations_ = options().max_iterations - iterations_left();
    ranked_ =
        static_cast<std::uint64_t>(all(state.done.ranked)) + std::uint64_t{correction_.steps()} * store_.vertices();
    converged_ = is_within() || store_.has_no_source();
    constexpr double in_rank = 4 * 0x1p-53;  // errors of its conversion, its division, and the conversion of the sum
    double const sum = all(state.sum);
    double const error = error_now() + store_.all_rounding(g, sum);
    error_bound_ = sum > 0 ? error / (1 - options().damping) / sum + in_rank : 0;
  }
  // Limits are first computed as for so many vertices. In a batch that changes few ranks most residuals are below them.
  [[nodiscard]] double vertices_nearby() const {
    return std::clamp(512.0 * static_cast<double>(change_.size + change_.revalued_size), 512.0, 4096.0);
  }
  template <class T>
  static double all(T const& counts) {
    return detail::residual_state::total(counts);
  }
  // The most iterations of pushes before all ranks are corrected: on a device, a round of few pushes takes about as
  // long as a pull along 2^21 arcs.
  [[nodiscard]] unsigned most_pushes(graph::graph_view const& g) const {
    unsigned const all = options().max_iterations;
    if (!exec::has_tiles<Space>) return all;
    double const most = 10 * options().full_run * (12 + static_cast<double>(store_.vertices() + g.arcs()) / (1 << 18));
    return most < all ? static_cast<unsigned>(most) : all;
  }
  // The most items of a frontier that a team processes: items may have hundreds of arcs, for which it has few lanes.
  [[nodiscard]] std::uint32_t small() const { return detail::small_frontier(space()) / 4; }
  // How many iterations reduce the error to the target most likely, if the last ones have reduced it from `before`.
  static unsigned iterations_for(double target, double error, double before, unsigned iterations) {
    constexpr unsigned most = 16;
    if (!(target > 0)) return most;
    if (!(error > target)) return 1;
    if (iterations == 0 || !(error < before)) return 4;
    double const needed = std::log(error / target) / std::log(before / error) * iterations;
    return static_cast<unsigned>(std::clamp(std::ceil(1.2 * needed), 1.0, double{most}));
  }
  // Enqueues as many iterations as a team does in one launch, if the frontier is small and there is a team, or else so
  // many; but at most `left`. Returns the state after them.
  detail::residual_state push(graph::graph_view const& g, bool is_small, unsigned iterations, unsigned left,
                              bool may_rank_all) {
    double const part = may_rank_all ? options().full_run : std::numeric_limits<double>::infinity();
    constexpr auto any = std::numeric_limits<std::uint32_t>::max();
    double const items = part * static_cast<double>(store_.vertices());
    detail::push_bounds const most{items < double{any} ? static_cast<std::uint32_t>(items) : any,
                                   part * static_cast<double>(store_.vertices() + g.arcs())};
    detail::rank_residuals const x = store_.residuals(g);
    return options().weighted
               ? push(detail::push_residuals<true>{x, store_.taken(), most, {}, {}}, is_small, iterations, left)
               : push(detail::push_residuals<false>{x, store_.taken(), most, {}, {}}, is_small, iterations, left);
  }
  template <class Work>
  detail::residual_state push(Work const& work, bool is_small, unsigned iterations, unsigned left) {
    detail::rounds<Space>& rounds = store_.rounds();
    bool const has_team = is_small && rounds.enqueue_small(work, 0, small(), std::min(left, detail::most_small_rounds));
    if (!has_team) (void)rounds.enqueue(work, 0, std::min(iterations, left));
    detail::residual_state const state = store_.read_state();
    if (has_team) (void)rounds.note_small(state.sizes);
    store_.note_pushes(state);
    return state;
  }

  // Pushing ends at half of the allowed error, so that the next small batches may require no push; or just below it
  // after a batch that exceeds it so many times, which most likely is not the last one.
  static constexpr double many_times = 4;
  detail::rank_store<Space> store_;
  detail::rank_correction<Space> correction_;
  unsigned iterations_ = 0;
  bool converged_ = true;
  std::uint64_t ranked_ = 0;
  double error_bound_ = 0;
  bool changed_most_ranks_ = false;  // by the last batch
  bool pushed_many_ = false;  // by the last batch that pushed: more residuals per iteration than a team pushes at once
  double skip_push_from_ = std::numeric_limits<double>::infinity();  // the initial norm from which pushing is skipped
  graph::graph_change change_;                                       // the one that is being made
  bool anew_ = false;                                                // whether all ranks are computed anew after it
};

template <class Graph>
explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
    -> incremental_pagerank<std::decay_t<decltype(g.space())>>;

}  // namespace wyrm::algorithms
