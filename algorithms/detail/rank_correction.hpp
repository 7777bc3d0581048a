// SPDX-License-Identifier: Apache-2.0
// Corrects all ranks of incremental_pagerank at once, where a batch changes most of them: by Chebyshev's iteration
// (chebyshev.hpp) in an undirected graph, and by a full run that starts from the current ranks in a directed one. In a
// directed graph with weights or sources, and where sums of weights are extreme, steps over all vertices correct them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../exec/launch.hpp"
#include "../../graph/view.hpp"
#include "../pagerank.hpp"
#include "chebyshev.hpp"
#include "frontier.hpp"
#include "rank_passes.hpp"
#include "rank_residuals.hpp"
#include "rank_store.hpp"
#include "row_bins.hpp"

namespace wyrm::algorithms::detail {

/// Which batch is corrected.
enum class rank_change : std::uint8_t { after_erasures, after_insertions, all_anew };

/// Memory: that of chebyshev_solver, of pagerank_ranker, or of row_bins. Not thread-safe.
template <class Space>
class rank_correction {
 public:
  explicit rank_correction(Space const& space) : space_(space), solver_(space), full_(space), bins_(space) {}

  /// Requests the memory for a graph with n ids and this many arcs.
  void reserve(graph::graph_view const& g, bool is_general, std::size_t n, std::uint64_t arcs) {
    if (!g.directed())
      solver_.reserve(n, arcs);
    else if (g.has_in_neighbours() && is_general)
      bins_.reserve(n, arcs, limits);
    else if (g.has_in_neighbours())
      full_.reserve(n, arcs);
  }
  void begin(rank_change change) { change_ = change; }
  /// How many steps there were since forget_steps().
  [[nodiscard]] unsigned steps() const { return steps_; }
  void forget_steps() { steps_ = 0; }

  /// Computes all ranks anew, as far as passes over all vertices can; store: after restart().
  void compute(rank_store<Space>& store, graph::graph_view const& g) {
    change_ = rank_change::all_anew;
    unsigned const most = store.options().max_iterations;
    if (!store.is_general() && g.directed() && g.has_in_neighbours()) {
      (void)run(store, g, 0, most);
      return;
    }
    store.start(g, nullptr, 0);
    if (store.options().weighted) add_up_weights_of_all(store, g);
    if (!g.has_in_neighbours() || store.has_no_source()) return;
    residual_state const before = g.directed() ? store.read_state() : prepare(store, g);
    (void)correct(store, g, before, true, most, 8);
  }
  /// Corrects all ranks in at most this many steps. state: of the store; is_prepared: after prepare(). margin: see
  /// solve().
  residual_state correct(rank_store<Space>& store, graph::graph_view const& g, residual_state const& state,
                         bool is_prepared, unsigned steps_left, double margin) {
    has_solved_ = false;
    if (g.directed() && !store.is_general()) return run(store, g, residual_state::total(state.sum), steps_left);
    if (g.directed())
      return step(store, g, state, bins_.make(g.in_records(), store.vertices(), g.arcs(), limits), steps_left);
    residual_state const seen = is_prepared ? state : prepare(store, g);
    return solver_.can_solve(store.residuals(g), seen) ? solve(store, g, seen, steps_left, margin)
                                                       : step(store, g, seen, solver_.bins(seen), steps_left);
  }
  /// Prepares correct() for an undirected graph, and reads the state that it needs.
  residual_state prepare(rank_store<Space> const& store, graph::graph_view const& g) {
    solver_.prepare(store.residuals(g));
    return store.read_state();
  }
  /// Whether the last correct() was by Chebyshev's iteration: all residuals above the limits are to be listed then.
  [[nodiscard]] bool has_solved() const { return has_solved_; }

 private:
  static constexpr bin_limits limits{32, 256, 1024, 1024};

  void add_up_weights_of_all(rank_store<Space>& store, graph::graph_view const& g) {
    frontier const all = store.rounds().next();
    store.clear(all);
    exec::for_each_lane<32>(space_, store.vertices(), list_vertices{g, all});
    store.update_totals(store.residuals(g), all);
    store.clear(all);
  }
  // Corrects all ranks of an undirected graph by Chebyshev's iteration, until the error is allowed, or all steps are
  // used; and by step(), if an attempt does not halve the norm, because of rounding or of weights that differ by orders
  // of magnitude. state: after prepare(). The steps aim at an error `margin` times smaller than allowed. The residuals
  // that remain are evenly distributed; with a margin of 8 hardly any exceeds its limit, so that the next batch may
  // only change ranks nearby.
  residual_state solve(rank_store<Space>& store, graph::graph_view const& g, residual_state state, unsigned steps_left,
                       double margin) {
    double const d = store.options().damping;
    for (bool is_first = true;; is_first = false) {
      rank_residuals const x = store.residuals(g);
      double const before = residual_state::total(state.residual_norm);
      if (before == 0) return state;
      double& shortfall = shortfall_[static_cast<unsigned>(change_)];
      double const sum = residual_state::total(state.sum);
      double const ratio = margin * shortfall * before / store.max_error(std::max(sum, store.least_sum()));
      // One step does not reduce the norm.
      unsigned const steps = std::min({steps_left, solver_.max_steps, std::max(2u, solver_.steps(d, ratio))});
      float const* const contribution = solver_.solve(x, state, steps);
      solver_.add(x, state, contribution, store.most_change());
      store.pull_all(g, solver_.bins());
      state = store.read_state();
      steps_left -= steps;
      steps_ += steps;
      double const left = residual_state::total(state.residual_norm);
      double const new_sum = residual_state::total(state.sum);
      (void)store.set_limits(g, new_sum);
      // Too few steps cost more than one step too many, so a high shortfall decreases slowly.
      double const seen = 1.1 * solver_.gain(d, steps) * left / before;
      if (is_first) shortfall = std::clamp(std::max(seen, 0.6 * shortfall), 0.2, 8.0);
      has_solved_ = state.solution_norm <= store.most_change();
      if (has_solved_ &&
          (store.is_within(g, state.error(exec::scalar_tile{}, g.directed()), new_sum) || steps_left == 0))
        return state;
      if (has_solved_ && 2 * left <= before) continue;
      if (has_solved_ && left > before) {  // worse than without ranks
        store.start(g, nullptr, 0);
        state = store.read_state();
      }
      has_solved_ = false;
      return step(store, g, state, solver_.bins(), steps_left);
    }
  }
  // Corrects all ranks by a full run that starts from the current ranks of the sum `sum`.
  residual_state run(rank_store<Space>& store, graph::graph_view const& g, double sum, unsigned steps_left) {
    double const d = store.options().damping;
    if (sum > 0) exec::for_each(space_, store.vertices(), scale_ranks{store.ranks(), 1 / sum, full_.rank()});
    pagerank_run const done = full_.run(g,
                                        {.damping = d,
                                         .tolerance = store.options().tolerance / 4,
                                         .max_iterations = steps_left,
                                         .hubs_first_from = ~std::uint64_t{0}},  // which would request memory
                                        sum > 0);
    steps_ += done.iterations;
    store.start(g, full_.rank(), (1 - d) / (1 - d + d * full_.dangling()) * store.scale());
    store.pull_all(g, full_.bins());
    store.list_all(g);
    return store.read_state();
  }
  // Corrects all ranks by steps, until the norm is a fraction of the allowed one, so that later changes stay local, or
  // rounding keeps it from falling. Each step adds every residual to its rank, and computes the residuals anew. seen:
  // the state before that; in: the bins of in-neighbours.
  residual_state step(rank_store<Space>& store, graph::graph_view const& g, residual_state const& seen,
                      row_bins_view const& in, unsigned steps_left) {
    constexpr unsigned at_once = 16;  // steps before the host reads the state
    double const d = store.options().damping;
    double left = residual_state::total(seen.residual_norm);
    double sum_of_ranks = std::max(residual_state::total(seen.sum), store.least_sum());
    while (steps_left > 0 && left > 0) {
      double const ratio = std::max(8 * left / store.max_error(sum_of_ranks), 1.0);
      double const needed = d > 0 ? std::ceil(std::log(ratio) / -std::log(d)) : 1;
      auto const steps =
          static_cast<unsigned>(std::clamp(needed, 1.0, static_cast<double>(std::min(steps_left, at_once))));
      double const before = left;
      for (unsigned i = 0; i < steps; ++i) {
        for_each_vertex(space_, store.vertices(), take_all_residuals{store.residuals(g)});
        store.pull_all(g, in);
      }
      steps_left -= steps;
      steps_ += steps;
      residual_state const state = store.read_state();
      left = residual_state::total(state.residual_norm);
      sum_of_ranks = residual_state::total(state.sum);
      if (store.is_within(g, 3 * state.error(exec::scalar_tile{}, g.directed()), sum_of_ranks) ||
          left >= 0.999 * before)
        break;
    }
    (void)store.set_limits(g, sum_of_ranks);
    store.list_all(g);
    return store.read_state();
  }

  Space space_;
  chebyshev_solver<Space> solver_;  // if the graph is undirected
  pagerank_ranker<Space> full_;     // if the graph is directed
  row_bins<Space> bins_;            // if it is, and there are weights or sources
  unsigned steps_ = 0;
  bool has_solved_ = false;
  // For each rank_change: the ratio of the norm that the last solve() left to the norm expected after its steps.
  double shortfall_[3] = {2, 2, 2};
  rank_change change_ = rank_change::all_anew;
};

}  // namespace wyrm::algorithms::detail
