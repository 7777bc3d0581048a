// SPDX-License-Identifier: Apache-2.0
// The PageRank of a graph that changes, by residuals (Ohsaka, Maehara, Kawarabayashi, KDD 2015; Zhang, Lofgren, Goel,
// KDD 2016): what a vertex is short of its rank lies with it until it is worth passing on, and then goes out along its
// arcs. A batch makes residuals at the neighbours of the vertices whose degree it changes, and nowhere else.
//
// Ranks are kept without their scale: x = (1 - d)/n + d A x has no term that all vertices share, and x over its sum is
// the PageRank in which vertices without out-neighbours jump anywhere. So a change far away concerns nobody.
//
// Arcs have no weights here: that a vertex sends the same along all of its arcs is what residuals rest on. By weights
// rank anew, with pagerank().
//
// All values are integers, of a unit of about 2^-59: sums do not depend on the order of their terms, and each run gives
// the same ranks. A vertex has sent the same along all of its arcs, what that is in all is kept, so that
//
//   residual(v) = base - x(v) + sum over u -> v of sent(u)        sent(u) = d x(u) / degree(u), rounded
//
// holds exactly after any number of batches; an update takes back what the vertices that it changes have sent, and
// sends it again to the neighbours they have then.
//
// How much is left in all, the sum of the sizes of residuals, is kept as well: whoever adds to a residual learns what
// it was. With e left the ranks are within e / (1 - d) of the true ones in the L1 norm, and scaled within that and what
// their sum is short of, over their sum; that is at most twice as much. Nothing is passed on while this is at most
// d / (1 - d) times the tolerance, the bound of pagerank() as well: a small batch often needs nothing. Otherwise
// residuals above a limit go out until it is at most half as much; the limit is half even and half by degree (for what
// it costs to pass it on), and so low that with all below it enough has gone. Where a batch is felt everywhere it is
// less work to pull, along all arcs, than to send: in an undirected graph what all ranks are short of, by an iteration
// whose steps do as much as three of a full run each (see detail/chebyshev.hpp); the ranks of a directed one by a
// full run that starts with those there are.
//
// Passing on a residual r sends at most d |r| + degree units in all; so limits of more than degree / (1 - d) make what
// is left smaller each iterations_left, and everything ends. They bound the tolerance: see the options. Where d is 0
// nothing is sent, and there need be no limits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/chebyshev.hpp"
#include "detail/frontier.hpp"
#include "detail/rank_residuals.hpp"
#include "maintained_result.hpp"
#include "pagerank.hpp"

namespace wyrm::algorithms {

struct incremental_pagerank_options {
  double damping = 0.85;  // d, in [0, 0.99]
  /// In (0, 2]. Less than 3 10^-18 / (d (1 - d)^2) times the vertices and arcs, which is 2 10^-16 for 0.85 and 3 10^-14
  /// for 0.99, may not be reached, as converged() says; nor 1 / (1 - d) times that where few have out-neighbours.
  double tolerance = 1e-9;
  unsigned max_iterations = 500;  // a batch, at least 1; what is left then is done with the next one
  /// When residuals have gone out along more than this share of the arcs in a batch, those of all vertices are taken
  /// care of at once, which costs less then. Needs in-neighbours.
  double full_run = 0.05;
};

/// The ranks of a graph whose space is chosen at run iterations_left; see maintain_pagerank.
class maintained_pagerank : public maintained_result {
 public:
  using maintained_result::maintained_result;
  /// A rank for each vertex, of the sum 1. O(vertices).
  [[nodiscard]] virtual std::vector<double> rank() const = 0;
  /// Of the last batch, or the beginning: how often residuals went out; whether enough did for the tolerance, so that
  /// error_bound() is at most d / (1 - d) times that, but for a few roundings of 1; and how many went, in all.
  [[nodiscard]] virtual unsigned iterations() const = 0;
  [[nodiscard]] virtual bool converged() const = 0;
  [[nodiscard]] virtual std::uint64_t ranked() const = 0;
  /// The ranks are within so much of the true ones in the L1 norm.
  [[nodiscard]] virtual double error_bound() const = 0;
};

/// The PageRank of one graph, which changes; see maintained_result.hpp. Jumps go anywhere, and so do those of vertices
/// without out-neighbours. About 100 bytes a vertex and 0.2 an arc, 0.4 an arc of a directed graph. In-neighbours are
/// used where they are. A batch costs O(degrees of the vertices whose neighbours it changes); if that leaves more than
/// the tolerance allows also O(vertices + degrees of those whose residual goes out, each iterations_left it does), or
/// O((vertices + arcs) steps).
template <class Space>
class incremental_pagerank final : public maintained_pagerank {
 public:
  /// Ranks the graph as it is. Throws error(bad_argument) for options out of range.
  incremental_pagerank(Space const& space, graph::graph_view const& g, incremental_pagerank_options const& o = {})
      : maintained_pagerank("incremental_pagerank", g),
        space_(space),
        options_(o),
        vertices_(g.vertices()),
        values_(space, 3 * vertices_),
        marks_(space, 2 * words()),
        items_{list(space), list(space), list(space)},
        taken_(space),
        edges_(space),
        state_(space, 1),
        solver_(space),
        full_(space) {
    if (!(o.damping >= 0 && o.damping <= 0.99) || !(o.tolerance > 0 && o.tolerance <= 2) || o.max_iterations == 0)
      throw error(error_code::bad_argument,
                  "incremental_pagerank: damping must be in [0, 0.99], the tolerance in (0, 2], and max_iterations at "
                  "least 1");
    // x changes by 2 in all, and on its way to there by 2 d / (1 - d) more at most.
    unit_ = std::ldexp(1.0, 63 - static_cast<int>(std::ceil(std::log2(4 / (1 - o.damping)))));
    converged_ = true;
    if (vertices_ == 0) return;
    space_.fill(marks_.data(), 0, marks_.bytes());
    space_.fill(state_.data(), 0, state_.bytes());
    reserve(g, g.arcs(), vertices_);
    if (g.directed() && g.has_in_neighbours()) {
      (void)run_all(g, 0, o.max_iterations);
    } else {
      start(g, nullptr, 0);
      if (!g.directed()) (void)solve_all(g, prepare(g), o.max_iterations, 8);
    }
    finish(g, false, true);
  }
  template <class Graph>
  explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
      : incremental_pagerank(g.space(), g.view(), o) {}

  [[nodiscard]] std::vector<double> rank() const override {
    std::vector<std::int64_t> const values = exec::copy_out(space_, values_.data(), vertices_);
    // Exact: all values together are less than 2^63.
    auto const sum = static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
    std::vector<double> all(values.begin(), values.end());
    for (double& r : all) r = sum > 0 ? r / sum : 1 / static_cast<double>(vertices_);
    return all;
  }
  [[nodiscard]] unsigned iterations() const override { return iterations_; }
  [[nodiscard]] bool converged() const override { return converged_; }
  [[nodiscard]] std::uint64_t ranked() const override { return ranked_; }
  [[nodiscard]] double error_bound() const override { return error_bound_; }

 private:
  using list = exec::buffer<detail::frontier_item, Space>;
  static constexpr unsigned of_changed = 2;  // among the lists

  void on_before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) override {
    if (vertices_ == 0) return;
    edges_.reserve(batch.size());
    std::size_t const arcs = batch.size() * (g.directed() ? 1 : 2);
    reserve(g, g.arcs() + (what == change::insertion ? arcs : 0), arcs);
    if (batch.empty()) return;
    after_ = what == change::insertion ? 1 : 0;
    exec::copy_in<graph::edge>(space_, edges_.data(), batch);
    exec::for_each_lane<32>(space_, batch.size(),
                            detail::find_changed{g, edges_.data(), what == change::insertion, changed_frontier()});
    over<8>(changed_frontier(), detail::resend{residuals(g), -1});
  }
  void on_after(graph::graph_view const& g) override {
    if (vertices_ == 0) return;
    detail::frontier const fresh{changed_frontier().marks, frontier(1).items, frontier(1).size};
    detail::rank_residuals const x = residuals(g);
    over<32>(changed_frontier(), detail::update_changed{x, changed_frontier(), fresh});
    over<8>(fresh, detail::resend{x, 1});
    over<32>(fresh, detail::clear_changed{fresh});
    clear(fresh);
    clear(changed_frontier());
    finish(g, g.has_in_neighbours(), false);
  }
  void on_undo(graph::graph_view const& g) override {
    if (vertices_ == 0) return;
    over<8>(changed_frontier(), detail::resend{residuals(g), 1});
    over<32>(changed_frontier(), detail::clear_changed{changed_frontier()});
    clear(changed_frontier());
  }

  [[nodiscard]] std::size_t words() const { return (vertices_ + 31) / 32; }
  /// This (0), and the next (1).
  [[nodiscard]] detail::frontier frontier(unsigned later) const {
    return {marks_.data(), items_[(turn_ + later) % 2].data(), size(later)};
  }
  [[nodiscard]] std::uint32_t* size(unsigned later) const { return state_.data()->sizes + (turn_ + later) % 3; }
  [[nodiscard]] detail::frontier changed_frontier() const {
    return {marks_.data() + words(), items_[of_changed].data(), &state_.data()->changed};
  }
  void clear(detail::frontier const& f) const { space_.fill(f.size, 0, sizeof(*f.size)); }
  template <unsigned W, class F>
  void over(detail::frontier const& f, F const& work) const {
    detail::for_each_item<W>(space_, f, work);
  }
  [[nodiscard]] detail::rank_residuals residuals(graph::graph_view const& g) const {
    double const enough = max_norm(g) / 2;
    double const least = options_.damping > 0 ? 1 / (1 - options_.damping) : 0;
    std::int64_t* const x = values_.data();
    return {g,
            x,
            x + vertices_,
            x + 2 * vertices_,
            state_.data(),
            options_.damping,
            std::max(enough / 2 / static_cast<double>(vertices_), least),
            std::max(enough / 2 / arcs_, least),
            ignores_target_ ? -1 : enough};
  }
  /// How far off ranks may be for the tolerance, times 1 - d, in units; what may be left whatever their sum does.
  [[nodiscard]] double max_error(double sum_of_ranks) const {
    return options_.damping * options_.tolerance * sum_of_ranks;
  }
  [[nodiscard]] double max_norm(graph::graph_view const& g) const {
    return (max_error(sum_) - rounding_error(g, sum_)) / 2;
  }
  /// How far off they may be as what is sent is rounding_error: twice half a unit an arc, and what four operations on
  /// doubles lose.
  [[nodiscard]] double rounding_error(graph::graph_view const& g, double sum_of_ranks) const {
    if (options_.damping == 0 || g.arcs() == 0) return 0;
    return static_cast<double>(g.arcs()) + 8 * 0x1p-53 * options_.damping * sum_of_ranks;
  }
  [[nodiscard]] bool is_within(graph::graph_view const& g, double distance, double sum_of_ranks) const {
    return distance + rounding_error(g, sum_of_ranks) <= max_error(sum_of_ranks);
  }
  /// How far off they are at the most. What their sum is short of follows from the sum of residuals after
  /// solve_all(): vertices without neighbours have no residuals then, and all others pass on d of theirs.
  static double error_of(detail::residual_state const& s, bool is_corrected) {
    return all(s.residual_norm) + (is_corrected ? std::abs(all(s.residual_sum)) : all(s.residual_norm));
  }
  // All memory that a graph of so many arcs needs, when so many vertices change. Each buffer is asked for its own size:
  // one that could not grow is empty.
  void reserve(graph::graph_view const& g, std::uint64_t arcs, std::size_t changed) {
    std::size_t const least = detail::frontier::capacity(vertices_, arcs);
    auto const reserve_room = [&](auto& buffer) {
      if (buffer.size() < least) buffer.reserve(detail::frontier::capacity(vertices_, arcs + arcs / 4));
    };
    items_[of_changed].reserve(detail::frontier::capacity(std::min(vertices_, changed), arcs));
    for (unsigned i = 0; i < 2; ++i) reserve_room(items_[i]);
    reserve_room(taken_);
    if (!g.directed())
      solver_.reserve(vertices_, arcs);
    else if (g.has_in_neighbours())
      full_.reserve(vertices_, arcs);
  }

  // For solve_all(), which needs what is read here.
  detail::residual_state prepare(graph::graph_view const& g) {
    solver_.prepare(residuals(g));
    return exec::read(space_, state_.data());
  }
  // What all ranks are short of is added to them, until no more is left than may be, or iterations_left is up; or not
  // half of it can be done, as what is left is lost in rounding. For an undirected graph; state: after prepare(). Its
  // residual_sum may be of before some residuals were passed on: whatever is taken off is made good for. It is aimed at
  // so much less than may be as `margin` says; what is left then lies evenly. With 8 hardly a vertex is above the
  // limits, so that the next batch may be felt nearby.
  detail::residual_state solve_all(graph::graph_view const& g, detail::residual_state state, unsigned iterations_left,
                                   double margin) {
    for (bool is_first = true;; is_first = false) {
      detail::rank_residuals const x = residuals(g);
      double const d = options_.damping;
      double const before = all(state.residual_norm);
      double& shortfall = shortfall_[after_];
      double const ratio = margin * shortfall * before / max_error(std::max(sum(state), sum_));
      unsigned const steps = std::min({iterations_left, solver_.most_steps, solver_.steps(d, ratio)});
      float const* const contribution = solver_.solve(x, state, steps);
      detail::for_each_vertex(space_, vertices_,
                              detail::add_solution{x, contribution, solver_.correction_per_arc(x, state), base()});
      pull_all(g, solver_.bins());
      state = exec::read(space_, state_.data());
      iterations_left -= steps;
      full_iterations_ += steps;
      double const left = all(state.residual_norm);
      (void)set_limits(g, sum(state));
      // To fall short costs more than a step too many: what was seen once is forgotten slowly.
      double const seen = 1.1 * solver_.gain(d, steps) * left / before;
      if (is_first) shortfall = std::clamp(std::max(seen, 0.6 * shortfall), 0.2, 8.0);
      if (is_within(g, error_of(state, true), sum(state)) || 2 * left > before || iterations_left == 0) return state;
    }
  }
  // By a full run, from the ranks there are, of the sum `sum`.
  detail::residual_state run_all(graph::graph_view const& g, double sum, unsigned iterations_left) {
    double const d = options_.damping;
    if (sum > 0) exec::for_each(space_, vertices_, detail::scale_ranks{values_.data(), 1 / sum, full_.rank()});
    pagerank_run const run =
        full_.run(g, {.damping = d, .tolerance = options_.tolerance / 4, .max_iterations = iterations_left}, sum > 0);
    full_iterations_ = run.iterations;
    start(g, full_.rank(), (1 - d) / (1 - d + d * full_.dangling()) * unit_);
    pull_all(g, full_.bins());
    list_all(g);
    return exec::read(space_, state_.data());
  }
  // Ranks are so many units, or 0; all have sent what belongs to that, and been sent nothing.
  void start(graph::graph_view const& g, double const* ranks, double unit) {
    space_.fill(state_.data()->sum, 0, sizeof(detail::residual_state::sum));
    detail::for_each_vertex(space_, vertices_, detail::start_residuals{residuals(g), ranks, unit, base()});
    (void)set_limits(g, ranks != nullptr ? unit : (1 - options_.damping) * unit_);
  }
  // What all have been sent, and what is left then.
  void pull_all(graph::graph_view const& g, detail::row_bins_view const& bins) {
    space_.fill(state_.data()->residual_norm, 0, sizeof(detail::residual_state::residual_norm));
    space_.fill(state_.data()->residual_sum, 0, sizeof(detail::residual_state::residual_sum));
    std::uint32_t const tiles = std::min(bins.items(), 8192u);
    exec::for_each_tile<32>(space_, tiles, detail::pull_residuals{residuals(g), bins, tiles});
    exec::for_each_lane<32>(space_, bins.hub_rows, detail::sum_hubs{residuals(g), bins});
  }
  [[nodiscard]] std::int64_t base() const {
    return static_cast<std::int64_t>((1 - options_.damping) / static_cast<double>(vertices_) * unit_);
  }
  // Finds out what is left, and begins a frontier with all whose residual is to be passed on.
  void list_all(graph::graph_view const& g) {
    space_.fill(marks_.data(), 0, words() * sizeof(std::uint32_t));
    space_.fill(state_.data()->residual_norm, 0, sizeof(detail::residual_state::residual_norm));
    clear(frontier(0));
    detail::for_each_vertex(space_, vertices_, detail::list_residuals{residuals(g), frontier(0)});
  }
  // They follow the number of arcs and the sum in steps, so that they rarely change. Returns whether they did.
  bool set_limits(graph::graph_view const& g, double sum) {
    double const arcs = std::exchange(arcs_, 1.5 * static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1)));
    double const least = std::exchange(sum_, std::max(sum, (1 - options_.damping) * unit_) / 1.5);
    return arcs != arcs_ || least != sum_;
  }

  // Passes on what has to be, until enough is, or all that is above the limits; or ranks all vertices, when that is
  // less work.
  void finish(graph::graph_view const& g, bool may_rank_all, bool ignores_target) {
    ignores_target_ = ignores_target;
    double const most_work = options_.full_run * static_cast<double>(vertices_ + g.arcs());
    unsigned at_once = 4;  // iterations that are started before the host looks
    bool is_listed = false;
    bool is_ranked = false;  // all at once, which has done enough
    space_.fill(&state_.data()->done, 0, sizeof(detail::residual_state::done));
    // So that nobody waits for it if this batch is like the last one.
    bool const is_prepared = may_rank_all && !g.directed() && changed_most_ranks_;
    detail::residual_state state = is_prepared ? prepare(g) : exec::read(space_, state_.data());
    changed_most_ranks_ = false;
    // As much as a batch had left that was felt everywhere: so is this one, most likely, and the next. One in seven is
    // tried.
    double const initial_norm = all(state.residual_norm);
    bool const skips_push = may_rank_all && initial_norm >= skip_push_from_;
    if (skips_push) skip_push_from_ *= 1.25;
    auto const iterations_left = [&] {
      return options_.max_iterations - full_iterations_ - static_cast<unsigned>(state.done.iterations);
    };
    auto const error_now = [&] { return error_of(state, is_ranked && !g.directed()); };
    for (;;) {
      auto const arcs = static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1));
      // A sum of less than what limits are made for at the least changes nothing.
      if ((arcs > arcs_ || arcs < arcs_ / 4 || sum(state) < sum_) && set_limits(g, sum(state))) is_listed = false;
      bool const is_given_up = may_rank_all && (skips_push || state.done.given_up != 0);
      bool const is_under_way = ignores_target || (is_listed && !is_ranked);
      bool const is_done =
          is_under_way ? all(state.residual_norm) <= residuals(g).target_norm : is_within(g, error_now(), sum(state));
      // Nobody may pass on what is below the limits.
      if (is_done || (is_listed && !is_given_up && state.sizes[turn_ % 3] == 0) || iterations_left() == 0) break;
      if (is_given_up || (may_rank_all && all(state.done.work) > most_work)) {
        if (!skips_push) skip_push_from_ = initial_norm / 4;
        state = g.directed() ? run_all(g, sum(state), iterations_left())
                             : solve_all(g, is_prepared ? state : prepare(g), iterations_left(), skips_push ? 1 : 8);
        may_rank_all = false;
        is_ranked = true;
        changed_most_ranks_ = true;
        is_listed = g.directed();
        continue;
      }
      if (!is_listed) list_all(g);
      is_ranked = false;
      is_listed = true;
      push(g, std::min(at_once, iterations_left()), may_rank_all);
      at_once = std::min(2 * at_once, 16u);
      state = exec::read(space_, state_.data());
    }
    iterations_ = options_.max_iterations - iterations_left();
    ranked_ = static_cast<std::uint64_t>(all(state.done.ranked)) + std::uint64_t{full_iterations_} * vertices_;
    full_iterations_ = 0;
    converged_ = is_within(g, error_now(), sum(state));
    constexpr double in_rank = 4 * 0x1p-53;  // for its conversion, its division and the conversion of the sum
    error_bound_ = (error_now() + rounding_error(g, sum(state))) / (1 - options_.damping) / sum(state) + in_rank;
  }
  template <class T>
  static double all(T const& counts) {
    return detail::residual_state::total(counts);
  }
  static double sum(detail::residual_state const& s) { return all(s.sum); }
  void push(graph::graph_view const& g, unsigned iterations, bool may_rank_all) {
    double const many = options_.full_run * static_cast<double>(vertices_);
    std::uint32_t const most = may_rank_all && many < 4e9 ? static_cast<std::uint32_t>(many) : ~0u;
    detail::rank_residuals const x = residuals(g);
    for (unsigned i = 0; i < iterations; ++i, ++turn_) {
      detail::frontier const now = frontier(0);
      over<32>(now, detail::take_residuals{x, now, taken_.data(), size(2), most});
      over<8>(now, detail::push_residuals{x, now, taken_.data(), frontier(1)});
    }
  }

  Space space_;
  incremental_pagerank_options options_;
  std::size_t vertices_;
  exec::buffer<std::int64_t, Space> values_;  // x, residuals, sent
  exec::buffer<std::uint32_t, Space> marks_;  // of the frontiers, and of ends
  list items_[3];
  exec::buffer<detail::taken_residual, Space> taken_;
  exec::buffer<graph::edge, Space> edges_;
  exec::buffer<detail::residual_state, Space> state_;
  detail::chebyshev_solver<Space> solver_;  // where the graph is undirected
  pagerank_ranker<Space> full_;             // where it is not
  double unit_ = 1;
  double arcs_ = 0;    // what the limits are made for: not fewer arcs,
  double sum_ = 1;     // and not a smaller sum
  unsigned turn_ = 0;  // iterations until now
  unsigned iterations_ = 0;
  unsigned full_iterations_ = 0;  // of the batch that is under way
  bool converged_ = false;
  std::uint64_t ranked_ = 0;
  double error_bound_ = 0;
  bool changed_most_ranks_ = false;  // the last batch
  double skip_push_from_ =
      std::numeric_limits<double>::infinity();  // from so much on nobody tries to pass residuals on
  // Of the last calls of solve_all() after erasures, insertions, and at the beginning: how many times more was left
  // than their steps are good for.
  double shortfall_[3] = {2, 2, 2};
  unsigned after_ = 2;  // which of these is under way
  // Whatever is left, all that exceeds the limits goes out: at first, so that changes stay local.
  bool ignores_target_ = true;
};

template <class Graph>
explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
    -> incremental_pagerank<std::decay_t<decltype(g.space())>>;

/// The same for a graph whose space is chosen at run time.
[[nodiscard]] std::unique_ptr<maintained_pagerank> maintain_pagerank(graph::any_graph const& g,
                                                                     incremental_pagerank_options const& o = {});

}  // namespace wyrm::algorithms
