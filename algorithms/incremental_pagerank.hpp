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
// the sum; that is at most twice as much. Nothing is pushed while this bound is at most d / (1 - d) times the
// tolerance, which is also the bound of pagerank(); so a small batch often requires no push. Otherwise residuals above
// a limit are pushed until the bound is at most half of that. Half of the allowed norm is distributed evenly over all
// vertices, and half in proportion to their degrees, which are the cost of a push. These values are the limits; so if
// no residual exceeds its limit, the norm is small enough. If a batch changes most ranks, a pull along all arcs is less
// work than pushing. In an undirected graph all ranks are then corrected by an iteration; its steps reduce the error as
// much as three steps of a full run (see detail/chebyshev.hpp); in a directed graph by a full run that starts from the
// current ranks. With weights or sources, steps add the residuals of all vertices to their ranks and compute them anew;
// each reduces the norm by d, and needs no memory but that of the bins of rows.
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
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/chebyshev.hpp"
#include "detail/frontier.hpp"
#include "detail/grow.hpp"
#include "detail/rank_passes.hpp"
#include "detail/rank_residuals.hpp"
#include "detail/rank_sources.hpp"
#include "detail/rank_weights.hpp"
#include "detail/row_bins.hpp"
#include "detail/weights.hpp"
#include "pagerank.hpp"

namespace wyrm::algorithms {

struct incremental_pagerank_options {
  double damping = 0.85;  // d, in [0, 0.99]
  /// In (0, 2]. A tolerance below 3 10^-18 / (d (1 - d)^2) times the number of vertices and arcs may not be reached,
  /// which converged() reports: per vertex and arc 2 10^-16 for d = 0.85 and 3 10^-14 for d = 0.99; nor one below
  /// 10^-15, or 4 10^-15 with weights. If few vertices have out-neighbours, this bound is greater by a factor of
  /// 1 / (1 - d).
  double tolerance = 1e-9;
  unsigned max_iterations = 500;  // per batch, at least 1; residuals that remain are left to the next batch
  /// If a batch has pushed more than this fraction of all vertices and arcs, or a frontier has more items than this
  /// fraction of the vertices, the residuals of all vertices are processed at once, which costs less then. Needs
  /// in-neighbours.
  double full_run = 0.05;
  /// As pagerank_options::weighted. Each change checks the weights of the rows that it changes.
  bool weighted = false;
  /// Personalised PageRank: the targets of all jumps, as of personalised_pagerank(). Empty: jumps go to any vertex. A
  /// source that is removed from the graph leaves the set for good; without any source left all ranks are 0.
  std::vector<weighted_source> sources = {};
};

/// The ranks of an any_graph; see maintain_pagerank.
class maintained_pagerank : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// The rank of each vertex; the sum is 1, or 0 if the graph has no vertices, or all sources were removed.
  /// O(vertices).
  [[nodiscard]] virtual std::vector<double> rank() const = 0;
  /// Of the last batch, or of the constructor. iterations(): how many rounds of pushes and steps of full runs there
  /// were. converged(): whether the tolerance is reached; error_bound() is then at most d / (1 - d) times the
  /// tolerance, up to a few roundings of 1. ranked(): how many residuals were processed in total.
  [[nodiscard]] virtual unsigned iterations() const = 0;
  [[nodiscard]] virtual bool converged() const = 0;
  [[nodiscard]] virtual std::uint64_t ranked() const = 0;
  /// A bound of the L1 distance to the true ranks.
  [[nodiscard]] virtual double error_bound() const = 0;
};

/// The PageRank of one changing graph; see graph/maintained_result.hpp. Jumps, also those of dangling vertices, go to
/// any vertex with the same probability, or to options::sources. About 100 bytes per vertex and 0.2 per arc, 0.4 per
/// arc of a directed graph; with weights 16 more per vertex, with sources 8. In-neighbours are used if the graph has
/// them. A batch costs O(degrees of the vertices that get or lose neighbours, or arcs of other weights). If the
/// residuals exceed the tolerance then, it also costs O(vertices + degrees of the vertices with pushed residuals, for
/// each push), or O((vertices + arcs) steps). Vertices that are added cost O(1) each, amortised; those that are removed
/// cost what the erasure of their edges costs, and a full run if a source is among them.
///
/// A weight that is negative or not finite is known only after the change of the graph, which then throws
/// error(bad_argument) with the arc; the graph has the change, and this result is outdated.
template <class Space>
class incremental_pagerank final : public maintained_pagerank {
 public:
  /// Computes the ranks of the graph. Throws error(bad_argument) for options out of range; for a source that is not in
  /// the graph, or weights of sources that are negative, not finite or 0 in total; and, if `weighted`, for a graph
  /// whose values are no numbers, or a value that is negative or not finite.
  incremental_pagerank(Space const& space, graph::graph_view const& g, incremental_pagerank_options const& o = {})
      : maintained_pagerank("incremental_pagerank", g, space.identity()),
        space_(space),
        options_(o),
        vertices_(g.vertices()),
        present_(g.present_vertices()),
        base_vertices_(present_),
        room_(vertices_),
        sources_(space, g, o.sources, "incremental_pagerank"),
        values_(space, arrays() * room_),
        totals_(space, o.weighted ? room_ : 0),
        marks_(space, 2 * words()),
        items_{list(space), list(space), list(space)},
        taken_(space),
        state_(space, 1),
        parts_(space),
        solver_(space),
        full_(space),
        bins_(space) {
    if (!(o.damping >= 0 && o.damping <= 0.99) || !(o.tolerance > 0 && o.tolerance <= 2) || o.max_iterations == 0)
      throw error(error_code::bad_argument,
                  "incremental_pagerank: damping must be in [0, 0.99], the tolerance in (0, 2], and max_iterations at "
                  "least 1");
    if (o.weighted) detail::weight_inspector<Space>::require_numbers(g, "incremental_pagerank");
    // All ranks change by at most 2 in total, and temporarily by at most 2 d / (1 - d) more.
    unit_ = std::ldexp(1.0, 63 - static_cast<int>(std::ceil(std::log2(4 / (1 - o.damping)))));
    converged_ = true;
    space_.fill(state_.data(), 0, state_.bytes());
    if (vertices_ == 0) return;
    reserve(g, vertices_, g.arcs(), vertices_);
    rank_all(g);
  }
  template <class Graph>
  explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
      : incremental_pagerank(g.space(), g.view(), o) {}

  [[nodiscard]] std::vector<double> rank() const override {
    std::vector<std::int64_t> const values = exec::copy_out(space_, values_.data(), vertices_);
    // Exact: the sum of all values is less than 2^63.
    auto const sum = static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
    std::vector<double> all(values.begin(), values.end());
    for (double& r : all)
      r = sum > 0 ? r / sum : present_ > 0 && !is_personal() ? 1 / static_cast<double>(present_) : 0;
    return all;
  }
  [[nodiscard]] unsigned iterations() const override { return iterations_; }
  [[nodiscard]] bool converged() const override { return converged_; }
  [[nodiscard]] std::uint64_t ranked() const override { return ranked_; }
  [[nodiscard]] double error_bound() const override { return error_bound_; }
  [[nodiscard]] bool needs_values() const override { return options_.weighted; }

 private:
  using list = exec::buffer<detail::frontier_item, Space>;
  static constexpr unsigned of_changed = 2;  // index in items_ of the vertices that a batch changes

  void on_before(graph::graph_view const& g, graph::graph_change const& change) override {
    std::size_t const present = present_ + change.added_size - change.removed_size;
    anew_ = change.replaces_all ||
            (change.has_vertices() && (is_personal() ? sources_.has_any(change.removed, change.removed_size)
                                                     : present_ == 0 || present == 0 || !is_base_for(present)));
    std::size_t const n = std::max<std::size_t>(vertices_, change.vertices);
    if (n == 0) return;
    grow(n);
    std::size_t const changed = change.size + change.revalued_size;
    reserve(g, n, change.max_arcs, anew_ ? n : changed * (g.directed() ? 1 : 2));
    change_ = change;
    if (anew_ || change.size == 0) return;
    after_ = change.may_insert() ? 1 : 0;
    exec::for_each_lane<32>(space_, change.size, detail::find_changed{g, change.edges, changed_frontier()});
    if (options_.weighted)
      exec::for_each_lane<32>(space_, change.revalued_size,
                              detail::find_changed{g, change.revalued, changed_frontier()});
    resend(changed_frontier(), residuals(g), true);
  }
  void on_after(graph::graph_view const& g) override {
    std::size_t const before = std::exchange(vertices_, g.vertices());
    present_ = g.present_vertices();
    if (vertices_ == 0) return forget_all();
    if (anew_) return rank_all(g);
    detail::frontier const fresh{changed_frontier().marks, frontier(1).items, frontier(1).size};
    detail::rank_residuals const x = residuals(g);
    for (std::size_t k = 0; k < arrays() && before < vertices_; ++k)
      space_.fill(x.x + k * room_ + before, 0, (vertices_ - before) * sizeof(std::int64_t));
    if (options_.weighted && before < vertices_)
      space_.fill(totals_.data() + before, 0, (vertices_ - before) * sizeof(double));
    exec::for_each(space_, change_.added_size, detail::start_added{x, change_.added});
    over<32>(changed_frontier(), detail::update_changed{x, changed_frontier(), fresh});
    if (options_.weighted) update_totals(x, fresh);
    resend(fresh, x, false);
    over<32>(fresh, detail::clear_changed{fresh});
    clear(fresh);
    clear(changed_frontier());
    exec::for_each(space_, change_.removed_size, detail::clear_removed{x, change_.removed});
    finish(g, g.has_in_neighbours(), false);
  }
  void on_undo(graph::graph_view const& g) override {
    if (vertices_ == 0 || anew_) return;
    resend(changed_frontier(), residuals(g), false);
    over<32>(changed_frontier(), detail::clear_changed{changed_frontier()});
    clear(changed_frontier());
  }

  // Whether the present base suits this number of vertices: the sum of all ranks must not exceed a unit, nor become
  // much smaller.
  [[nodiscard]] bool is_base_for(std::size_t present) const {
    return present <= base_vertices_ && present >= base_vertices_ / 2;
  }
  // Ensures room for n vertices.
  void grow(std::size_t n) {
    if (n <= room_) return;
    std::size_t const room = detail::grown_room(room_, n);
    exec::buffer<std::int64_t, Space> values(space_, arrays() * room);
    exec::buffer<double, Space> totals(space_, options_.weighted ? room : 0);
    exec::buffer<std::uint32_t, Space> marks(space_, 2 * ((room + 31) / 32));
    space_.fill(marks.data(), 0, marks.bytes());
    for (std::size_t k = 0; k < arrays() && vertices_ > 0; ++k)
      space_.copy(values.data() + k * room, values_.data() + k * room_, vertices_ * sizeof(std::int64_t));
    if (options_.weighted && vertices_ > 0) space_.copy(totals.data(), totals_.data(), vertices_ * sizeof(double));
    values_ = std::move(values);
    totals_ = std::move(totals);
    marks_ = std::move(marks);
    room_ = room;
  }
  // The graph has no ids any more, so sources have left the set.
  void forget_all() {
    sources_.clear();
    space_.fill(state_.data(), 0, state_.bytes());
    iterations_ = 0;
    ranked_ = 0;
    error_bound_ = 0;
    converged_ = true;
  }
  // Computes all ranks anew. The memory is reserved.
  void rank_all(graph::graph_view const& g) {
    if (!is_base_for(present_)) base_vertices_ = present_ < base_vertices_ ? present_ : present_ + present_ / 4;
    after_ = 2;
    arcs_ = 0;
    sum_ = 1;
    skip_push_from_ = std::numeric_limits<double>::infinity();
    space_.fill(marks_.data(), 0, marks_.bytes());
    space_.fill(state_.data(), 0, state_.bytes());
    if (is_personal()) sources_.write_bases(g, (1 - options_.damping) * unit_, bases());
    if (is_general()) {
      rank_generally(g);
    } else if (g.directed() && g.has_in_neighbours()) {
      (void)run_all(g, 0, options_.max_iterations);
    } else {
      start(g, nullptr, 0);
      if (!g.directed()) (void)solve_all(g, prepare(g), options_.max_iterations, 8);
    }
    finish(g, false, true);
  }

  // The same with weights or sources.
  void rank_generally(graph::graph_view const& g) {
    if (options_.weighted) space_.fill(totals_.data(), 0, vertices_ * sizeof(double));
    start(g, nullptr, 0);
    if (options_.weighted) {
      clear(frontier(1));
      exec::for_each_lane<32>(space_, vertices_, detail::list_vertices{g, frontier(1)});
      update_totals(residuals(g), frontier(1));
      clear(frontier(1));
    }
    double const all_residuals = (1 - options_.damping) * scale();
    if (g.has_in_neighbours() && !has_no_source()) (void)step_all(g, all_residuals, scale(), options_.max_iterations);
  }

  static constexpr detail::bin_limits limits{32, 256, 1024, 1024};
  [[nodiscard]] bool is_personal() const { return sources_.is_given(); }
  // Whether all sources were removed: all ranks are 0.
  [[nodiscard]] bool has_no_source() const { return is_personal() && sources_.size() == 0; }
  [[nodiscard]] bool is_general() const { return options_.weighted || is_personal(); }
  // The number of arrays in values_.
  [[nodiscard]] std::size_t arrays() const { return is_personal() ? 4 : 3; }
  [[nodiscard]] std::int64_t* bases() const { return is_personal() ? values_.data() + 3 * room_ : nullptr; }
  // Adds up the weights of the rows of a frontier, and computes what its vertices send. The state says afterwards
  // whether a weight is invalid.
  void update_totals(detail::rank_residuals const& x, detail::frontier const& f) const {
    space_.fill(&state_.data()->first_invalid, 0xff, sizeof(std::uint64_t));
    over<8>(f, detail::add_up_part{x.g, f.items, parts_.data(), &state_.data()->first_invalid});
    over<32>(f, detail::update_totals{x, f.items, parts_.data()});
  }
  void resend(detail::frontier const& f, detail::rank_residuals const& x, bool reverts) const {
    if (options_.weighted)
      over<8>(f, detail::resend<true>{x, reverts});
    else
      over<8>(f, detail::resend<false>{x, reverts});
  }
  [[nodiscard]] std::size_t words() const { return (room_ + 31) / 32; }
  /// The current frontier (0), or the next one (1).
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
    double const target = max_norm(g) / 2;
    double const least = options_.damping > 0 ? 1 / (1 - options_.damping) : 0;
    std::int64_t* const x = values_.data();
    return {g,
            x,
            x + room_,
            x + 2 * room_,
            state_.data(),
            options_.damping,
            std::max(target / 2 / static_cast<double>(vertices_), least),
            std::max(target / 2 / arcs_, least),
            ignores_target_ ? -1 : target,
            base(),
            bases(),
            options_.weighted ? totals_.data() : nullptr};
  }
  /// The error of ranks that the tolerance allows, times 1 - d, in units; max_norm(): the norm of residuals that is
  /// allowed for any sum of ranks.
  [[nodiscard]] double max_error(double sum_of_ranks) const {
    return options_.damping * options_.tolerance * sum_of_ranks;
  }
  [[nodiscard]] double max_norm(graph::graph_view const& g) const {
    return (max_error(sum_) - rounding_error(g, sum_)) / 2;
  }
  /// The error of ranks due to rounding of what is sent: twice half a unit per arc, and the errors of four operations
  /// on doubles; with weights also twice half a unit per vertex, and the errors of 16 operations; and that of the
  /// bases. 0 if nothing is sent, as the tolerance allows no error then.
  [[nodiscard]] double rounding_error(graph::graph_view const& g, double sum_of_ranks) const {
    if (options_.damping == 0) return 0;
    if (g.arcs() == 0) return rounding_of_bases();
    double const operations = options_.weighted ? 32 : 8;
    auto const rounded = static_cast<double>(g.arcs() + (options_.weighted ? vertices_ : 0));
    return rounding_of_bases() + rounded + operations * 0x1p-53 * options_.damping * sum_of_ranks;
  }
  /// The bases of sources have the error of half a unit each, and those of two operations.
  [[nodiscard]] double rounding_of_bases() const {
    return is_personal() ? static_cast<double>(sources_.size()) + 4 * 0x1p-53 * (1 - options_.damping) * unit_ : 0;
  }
  [[nodiscard]] bool is_within(graph::graph_view const& g, double distance, double sum_of_ranks) const {
    return distance + rounding_error(g, sum_of_ranks) <= max_error(sum_of_ranks);
  }
  /// A bound of the error of ranks, times 1 - d. After solve_all() the error of the sum of ranks follows from the sum
  /// of residuals: vertices without neighbours have no residuals then, and all others push d times theirs.
  static double error_of(detail::residual_state const& s, bool is_corrected) {
    return all(s.residual_norm) + (is_corrected ? std::abs(all(s.residual_sum)) : all(s.residual_norm));
  }
  // Requests all memory for a graph with n ids and this many arcs, when this many vertices change. The size of each
  // buffer is checked separately, because a buffer is empty after a failed request.
  void reserve(graph::graph_view const& g, std::size_t n, std::uint64_t arcs, std::size_t changed) {
    std::size_t const least = detail::frontier::capacity(n, arcs);
    auto const reserve_room = [&](auto& buffer) {
      if (buffer.size() < least) buffer.reserve(detail::frontier::capacity(n, arcs + arcs / 4));
    };
    items_[of_changed].reserve(detail::frontier::capacity(std::min(n, changed), arcs));
    for (unsigned i = 0; i < 2; ++i) reserve_room(items_[i]);
    reserve_room(taken_);
    if (options_.weighted) parts_.reserve(items_[of_changed].size());
    if (is_general()) {
      if (g.has_in_neighbours()) bins_.reserve(n, arcs, limits);
    } else if (!g.directed())
      solver_.reserve(n, arcs);
    else if (g.has_in_neighbours())
      full_.reserve(n, arcs);
  }

  // Prepares solve_all(), and reads the state that it needs.
  detail::residual_state prepare(graph::graph_view const& g) {
    solver_.prepare(residuals(g));
    return exec::read(space_, state_.data());
  }
  // Corrects all ranks of an undirected graph by Chebyshev's iteration, until the error is allowed, all iterations are
  // used, or an attempt does not halve the norm because of rounding. state: after prepare(). Its sum of residuals may
  // be older than some pushes, because any amount that is subtracted is solved for exactly. The steps aim at an error
  // `margin` times smaller than allowed. The residuals that remain are evenly distributed; with a margin of 8 hardly
  // any exceeds its limit, so that the next batch may only change ranks nearby.
  detail::residual_state solve_all(graph::graph_view const& g, detail::residual_state state, unsigned iterations_left,
                                   double margin) {
    for (bool is_first = true;; is_first = false) {
      detail::rank_residuals const x = residuals(g);
      double const d = options_.damping;
      double const before = all(state.residual_norm);
      if (before == 0) return state;
      double& shortfall = shortfall_[after_];
      double const ratio = margin * shortfall * before / max_error(std::max(sum(state), sum_));
      unsigned const steps = std::min({iterations_left, solver_.max_steps, solver_.steps(d, ratio)});
      float const* const contribution = solver_.solve(x, state, steps);
      detail::for_each_vertex(space_, vertices_,
                              detail::add_solution{x, contribution, solver_.correction_per_arc(x, state)});
      pull_all(g, solver_.bins());
      state = exec::read(space_, state_.data());
      iterations_left -= steps;
      full_iterations_ += steps;
      double const left = all(state.residual_norm);
      (void)set_limits(g, sum(state));
      // Too few steps cost more than one step too many, so a high shortfall decreases slowly.
      double const seen = 1.1 * solver_.gain(d, steps) * left / before;
      if (is_first) shortfall = std::clamp(std::max(seen, 0.6 * shortfall), 0.2, 8.0);
      if (is_within(g, error_of(state, true), sum(state)) || 2 * left > before || iterations_left == 0) return state;
    }
  }
  // Corrects all ranks by a full run that starts from the current ranks of the sum `sum`.
  detail::residual_state run_all(graph::graph_view const& g, double sum, unsigned iterations_left) {
    double const d = options_.damping;
    if (sum > 0) exec::for_each(space_, vertices_, detail::scale_ranks{values_.data(), 1 / sum, full_.rank()});
    pagerank_run const run = full_.run(g,
                                       {.damping = d,
                                        .tolerance = options_.tolerance / 4,
                                        .max_iterations = iterations_left,
                                        .hubs_first_from = ~std::uint64_t{0}},  // which would request memory
                                       sum > 0);
    full_iterations_ = run.iterations;
    start(g, full_.rank(), (1 - d) / (1 - d + d * full_.dangling()) * scale());
    pull_all(g, full_.bins());
    list_all(g);
    return exec::read(space_, state_.data());
  }
  // Corrects all ranks by steps, until the norm is a fraction of the allowed one, so that later changes stay local, or
  // rounding keeps it from falling. Each step adds every residual to its rank, and computes the residuals anew. left:
  // the norm before that; sum_of_ranks: about the sum of all ranks.
  detail::residual_state step_all(graph::graph_view const& g, double left, double sum_of_ranks,
                                  unsigned iterations_left) {
    constexpr unsigned at_once = 16;  // steps before the host reads the state
    detail::row_bins_view const in = bins_.make(g.in_records(), vertices_, g.arcs(), limits);
    detail::residual_state state{};
    while (iterations_left > 0 && left > 0) {
      double const ratio = std::max(8 * left / max_error(sum_of_ranks), 1.0);
      double const needed = options_.damping > 0 ? std::ceil(std::log(ratio) / -std::log(options_.damping)) : 1;
      auto const steps =
          static_cast<unsigned>(std::clamp(needed, 1.0, static_cast<double>(std::min(iterations_left, at_once))));
      double const before = left;
      for (unsigned i = 0; i < steps; ++i) {
        detail::for_each_vertex(space_, vertices_, detail::take_all_residuals{residuals(g)});
        pull_all(g, in);
      }
      iterations_left -= steps;
      full_iterations_ += steps;
      state = exec::read(space_, state_.data());
      left = all(state.residual_norm);
      sum_of_ranks = sum(state);
      if (is_within(g, 3 * error_of(state, false), sum(state)) || left >= 0.999 * before) break;
    }
    (void)set_limits(g, sum_of_ranks);
    list_all(g);
    return exec::read(space_, state_.data());
  }
  // Sets ranks to `ranks` in these units, or to 0, and the contributions accordingly; nothing is received yet.
  void start(graph::graph_view const& g, double const* ranks, double unit) {
    space_.fill(state_.data()->sum, 0, sizeof(detail::residual_state::sum));
    detail::for_each_vertex(space_, vertices_, detail::start_residuals{residuals(g), ranks, unit});
    (void)set_limits(g, ranks != nullptr ? unit : (1 - options_.damping) * scale());
  }
  // Pulls the contributions that all vertices receive, and computes residuals, their norm and their sum.
  void pull_all(graph::graph_view const& g, detail::row_bins_view const& bins) {
    space_.fill(state_.data()->residual_norm, 0, sizeof(detail::residual_state::residual_norm));
    space_.fill(state_.data()->residual_sum, 0, sizeof(detail::residual_state::residual_sum));
    std::uint32_t const tiles = std::min(bins.items(), 8192u);
    if (options_.weighted)
      exec::for_each_tile<32>(space_, tiles, detail::pull_residuals<true>{residuals(g), bins, tiles});
    else
      exec::for_each_tile<32>(space_, tiles, detail::pull_residuals<false>{residuals(g), bins, tiles});
    exec::for_each_lane<32>(space_, bins.hub_rows, detail::sum_hubs{residuals(g), bins});
  }
  [[nodiscard]] std::int64_t base() const {
    return static_cast<std::int64_t>((1 - options_.damping) /
                                     static_cast<double>(std::max<std::size_t>(base_vertices_, 1)) * unit_);
  }
  // The sum of unscaled ranks if no vertex is dangling.
  [[nodiscard]] double scale() const {
    if (is_personal()) return unit_;
    return static_cast<double>(std::max<std::size_t>(present_, 1)) /
           static_cast<double>(std::max<std::size_t>(base_vertices_, 1)) * unit_;
  }
  // Computes the norm, and starts a frontier with all vertices that have residuals above the limits.
  void list_all(graph::graph_view const& g) {
    space_.fill(marks_.data(), 0, words() * sizeof(std::uint32_t));
    space_.fill(state_.data()->residual_norm, 0, sizeof(detail::residual_state::residual_norm));
    clear(frontier(0));
    detail::for_each_vertex(space_, vertices_, detail::list_residuals{residuals(g), frontier(0)});
  }
  // Limits follow the number of arcs and the sum of ranks in steps, so that they rarely change. Returns whether they
  // changed.
  bool set_limits(graph::graph_view const& g, double sum) {
    double const arcs = std::exchange(arcs_, 1.5 * static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1)));
    double const least = std::exchange(sum_, std::max(sum, (1 - options_.damping) * scale()) / 1.5);
    return arcs != arcs_ || least != sum_;
  }

  // Pushes residuals until the error is small enough, or, if limits ignore the target, until none exceeds its limit; or
  // processes all vertices at once when that is less work.
  void finish(graph::graph_view const& g, bool may_rank_all, bool ignores_target) {
    ignores_target_ = ignores_target;
    double const max_work = options_.full_run * static_cast<double>(vertices_ + g.arcs());
    unsigned at_once = 4;  // iterations that are enqueued before the host reads the state
    bool is_listed = false;
    bool is_ranked = false;  // all vertices were processed at once, and nothing was pushed since
    space_.fill(&state_.data()->done, 0, sizeof(detail::residual_state::done));
    // Saves a synchronisation if this batch changes most ranks as the last one did.
    bool const solves = !g.directed() && !is_general();
    bool const is_prepared = may_rank_all && solves && changed_most_ranks_;
    detail::residual_state state = is_prepared ? prepare(g) : exec::read(space_, state_.data());
    if (options_.weighted)
      detail::weight_inspector<Space>::require_valid(space_, g, state.first_invalid, "incremental_pagerank");
    changed_most_ranks_ = false;
    // An earlier batch with such a norm changed most ranks, and this one most likely does, too. The threshold rises
    // each time, so that about one batch in seven is pushed nevertheless.
    double const initial_norm = all(state.residual_norm);
    bool const skips_push = may_rank_all && initial_norm >= skip_push_from_;
    if (skips_push) skip_push_from_ *= 1.25;
    auto const iterations_left = [&] {
      return options_.max_iterations - full_iterations_ - static_cast<unsigned>(state.done.iterations);
    };
    auto const error_now = [&] { return error_of(state, is_ranked && solves); };
    for (;;) {
      auto const arcs = static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1));
      // If the sum is below the least sum that limits are computed for, the limits do not change.
      if ((arcs > arcs_ || arcs < arcs_ / 4 || sum(state) < sum_) && set_limits(g, sum(state))) is_listed = false;
      bool const is_given_up = may_rank_all && (skips_push || state.done.given_up != 0);
      bool const is_under_way = ignores_target || (is_listed && !is_ranked);
      bool const is_done = has_no_source() || (is_under_way ? all(state.residual_norm) <= residuals(g).target_norm
                                                            : is_within(g, error_now(), sum(state)));
      // Residuals below the limits must not be pushed.
      if (is_done || (is_listed && !is_given_up && state.sizes[turn_ % 3] == 0) || iterations_left() == 0) break;
      if (is_given_up || (may_rank_all && all(state.done.work) > max_work)) {
        if (!skips_push) skip_push_from_ = initial_norm / 4;
        if (is_general())
          state = step_all(g, all(state.residual_norm), sum(state), iterations_left());
        else
          state = g.directed() ? run_all(g, sum(state), iterations_left())
                               : solve_all(g, is_prepared ? state : prepare(g), iterations_left(), skips_push ? 1 : 8);
        may_rank_all = false;
        is_ranked = true;
        changed_most_ranks_ = true;
        is_listed = !solves;
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
    converged_ = is_within(g, error_now(), sum(state)) || has_no_source();
    constexpr double in_rank = 4 * 0x1p-53;  // errors of its conversion, its division, and the conversion of the sum
    error_bound_ = 0;
    double const rounding = options_.damping == 0 ? rounding_of_bases() : rounding_error(g, sum(state));
    if (sum(state) > 0) error_bound_ = (error_now() + rounding) / (1 - options_.damping) / sum(state) + in_rank;
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
      if (options_.weighted)
        over<8>(now, detail::push_residuals<true>{x, now, taken_.data(), frontier(1)});
      else
        over<8>(now, detail::push_residuals<false>{x, now, taken_.data(), frontier(1)});
    }
  }

  Space space_;
  incremental_pagerank_options options_;
  std::size_t vertices_;
  std::size_t present_;        // vertices that are in the graph
  std::size_t base_vertices_;  // n in the base (1 - d)/n
  std::size_t room_;           // for so many vertices
  detail::rank_sources<Space> sources_;
  exec::buffer<std::int64_t, Space> values_;  // x, residuals, sent, and the bases if there are sources
  exec::buffer<double, Space> totals_;        // of weights
  exec::buffer<std::uint32_t, Space> marks_;  // of the frontiers, and of the vertices that a batch changes
  list items_[3];
  exec::buffer<detail::taken_residual, Space> taken_;
  exec::buffer<detail::residual_state, Space> state_;
  exec::buffer<double, Space> parts_;       // sums of weights of the parts of rows
  detail::chebyshev_solver<Space> solver_;  // if the graph is undirected
  pagerank_ranker<Space> full_;             // if the graph is directed
  detail::row_bins<Space> bins_;            // with weights or sources, instead of the last two
  double unit_ = 1;
  double arcs_ = 0;    // limits are computed for at most this many arcs,
  double sum_ = 1;     // and at least this sum
  unsigned turn_ = 0;  // iterations so far
  unsigned iterations_ = 0;
  unsigned full_iterations_ = 0;  // of the batch that is being applied
  bool converged_ = false;
  std::uint64_t ranked_ = 0;
  double error_bound_ = 0;
  bool changed_most_ranks_ = false;                                  // by the last batch
  double skip_push_from_ = std::numeric_limits<double>::infinity();  // the initial norm from which pushing is skipped
  // After erasures, after insertions, and in rank_all(): the ratio of the norm that the last solve_all() left to
  // the norm expected after its steps.
  double shortfall_[3] = {2, 2, 2};
  unsigned after_ = 2;  // index of the current case
  // Push all residuals that exceed the limits, whatever the norm is: in rank_all(), so that later changes stay local.
  bool ignores_target_ = true;
  graph::graph_change change_;  // the one that is being made
  bool anew_ = false;           // whether all ranks are computed anew after it
};

template <class Graph>
explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
    -> incremental_pagerank<std::decay_t<decltype(g.space())>>;

/// Maintains the PageRank of an any_graph.
[[nodiscard]] std::unique_ptr<maintained_pagerank> maintain_pagerank(graph::any_graph const& g,
                                                                     incremental_pagerank_options const& o = {});

}  // namespace wyrm::algorithms
