// SPDX-License-Identifier: Apache-2.0
// What incremental_pagerank stores: ranks, residuals and contributions in memory of the space, the frontiers of
// residuals to push, and the numbers that follow from them: the units of ranks, the limits of residuals, and the bounds
// of errors. See incremental_pagerank for all of these.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "../maintained_pagerank.hpp"
#include "frontier.hpp"
#include "grow.hpp"
#include "rank_passes.hpp"
#include "rank_residuals.hpp"
#include "rank_sources.hpp"
#include "rank_weights.hpp"
#include "rounds.hpp"
#include "row_bins.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// About 65 bytes per vertex and 0.2 per arc; with weights 16 more per vertex, with sources 8. Not thread-safe.
template <class Space>
class rank_store {
 public:
  /// Checks the options, as incremental_pagerank does. Has no memory for frontiers yet, see reserve().
  rank_store(Space const& space, graph::graph_view const& g, incremental_pagerank_options const& o)
      : space_(space),
        options_(o),
        vertices_(g.vertices()),
        present_(g.present_vertices()),
        base_vertices_(present_),
        room_(vertices_),
        sources_(space, g, o.sources, "incremental_pagerank"),
        values_(space, arrays() * room_),
        totals_(space, o.weighted ? room_ : 0),
        marks_(space, words()),
        changed_(space),
        taken_(space),
        state_(space, 1),
        rounds_(space, &state_.data()->sizes),
        parts_(space) {
    if (!(o.damping >= 0 && o.damping <= 0.99) || !(o.tolerance > 0 && o.tolerance <= 2) || o.max_iterations == 0 ||
        !(o.full_run >= 0))
      throw error(
          error_code::bad_argument,
          "incremental_pagerank: damping must be in [0, 0.99], the tolerance in (0, 2], max_iterations at least "
          "1, and full_run at least 0");
    if (o.weighted) weight_inspector<Space>::require_numbers(g, "incremental_pagerank");
    // All ranks change by at most 2 in total, and temporarily by at most 2 d / (1 - d) more.
    unit_ = std::ldexp(1.0, 63 - static_cast<int>(std::ceil(std::log2(4 / (1 - o.damping)))));
    clear_state();
  }

  [[nodiscard]] Space const& space() const { return space_; }
  [[nodiscard]] incremental_pagerank_options const& options() const { return options_; }
  [[nodiscard]] std::size_t vertices() const { return vertices_; }
  /// The number of vertices that are in the graph.
  [[nodiscard]] std::size_t present() const { return present_; }
  [[nodiscard]] std::int64_t const* ranks() const { return values_.data(); }
  [[nodiscard]] bool is_personal() const { return sources_.is_given(); }
  /// Whether all sources were removed: all ranks are 0.
  [[nodiscard]] bool has_no_source() const { return is_personal() && sources_.size() == 0; }
  /// Whether there are weights or sources.
  [[nodiscard]] bool is_general() const { return options_.weighted || is_personal(); }

  /// Whether all ranks must be computed anew for this change.
  [[nodiscard]] bool needs_new_ranks(graph::graph_change const& change) const {
    if (change.replaces_all || !change.has_vertices()) return change.replaces_all;
    if (is_personal()) return sources_.has_any(change.removed, change.removed_size);
    std::size_t const present = present_ + change.added_size - change.removed_size;
    return present_ == 0 || present == 0 || !is_base_for(present);
  }

  // Memory.

  /// Ensures room for n vertices.
  void grow(std::size_t n) {
    if (n <= room_) return;
    std::size_t const room = exec::grown_room(room_, n);
    exec::buffer<std::int64_t, Space> values(space_, arrays() * room);
    exec::buffer<double, Space> totals(space_, options_.weighted ? room : 0);
    exec::buffer<std::uint32_t, Space> marks(space_, (room + 31) / 32);
    space_.fill(marks.data(), 0, marks.bytes());
    for (std::size_t k = 0; k < arrays() && vertices_ > 0; ++k)
      space_.copy(values.data() + k * room, values_.data() + k * room_, vertices_ * sizeof(std::int64_t));
    if (options_.weighted && vertices_ > 0) space_.copy(totals.data(), totals_.data(), vertices_ * sizeof(double));
    values_ = std::move(values);
    totals_ = std::move(totals);
    marks_ = std::move(marks);
    room_ = room;
  }
  /// Requests the memory of frontiers for a graph with n ids and this many arcs, when this many vertices change.
  void reserve(std::size_t n, std::uint64_t arcs, std::size_t changed) {
    rounds_.reserve(n, arcs);
    taken_.reserve(frontier::capacity(n, arcs));
    changed_.reserve(frontier::capacity(std::min(n, changed), arcs));
    if (options_.weighted) parts_.reserve(changed_.size());
  }
  /// Sets the numbers of vertices to those of the graph, for which there is room. Returns the old number of ids.
  std::size_t resize(graph::graph_view const& g) {
    present_ = g.present_vertices();
    return std::exchange(vertices_, g.vertices());
  }
  /// Sets the values of ids from `first` on to 0.
  void clear_ids(std::size_t first) const {
    if (first >= vertices_) return;
    for (std::size_t k = 0; k < arrays(); ++k)
      space_.fill(values_.data() + k * room_ + first, 0, (vertices_ - first) * sizeof(std::int64_t));
    if (options_.weighted) space_.fill(totals_.data() + first, 0, (vertices_ - first) * sizeof(double));
  }
  /// The graph has no ids any more, so sources have left the set.
  void forget_all() {
    sources_.clear();
    clear_state();
  }
  /// Prepares arrays for computing all ranks anew: adapts the base, and clears marks and state.
  void restart(graph::graph_view const& g) {
    if (!is_base_for(present_)) base_vertices_ = present_ < base_vertices_ ? present_ : present_ + present_ / 4;
    arcs_ = 0;
    sum_ = 1;
    space_.fill(marks_.data(), 0, marks_.bytes());
    clear_state();
    if (is_personal()) sources_.write_bases(g, (1 - options_.damping) * unit_, bases());
    if (options_.weighted) space_.fill(totals_.data(), 0, vertices_ * sizeof(double));
  }

  // The state, and frontiers.

  [[nodiscard]] residual_state* state() const { return state_.data(); }
  [[nodiscard]] residual_state read_state() const { return exec::read(space_, state_.data()); }
  /// The rounds of pushes; their frontiers are vertices with residuals above the limits.
  [[nodiscard]] detail::rounds<Space>& rounds() { return rounds_; }
  /// Whether there are residuals to push.
  [[nodiscard]] bool has_to_push(residual_state const& s) const { return rounds_.items_left(s.sizes) > 0; }
  /// After pushes: if no residuals are left to push, all marks are clear, and the current and the next frontier are
  /// empty, so that list_all() need not clear them.
  void note_pushes(residual_state const& s) { may_have_to_push_ = has_to_push(s); }
  /// What the vertices of the current frontier have taken.
  [[nodiscard]] taken_residual* taken() const { return taken_.data(); }
  /// The vertices that a batch changes, before it, and after it; the latter are in the list of the next round.
  [[nodiscard]] frontier changed() const { return {marks_.data(), changed_.data(), &state_.data()->changed}; }
  [[nodiscard]] frontier changed_afterwards() const {
    return {changed().marks, rounds_.next().items, rounds_.next().size};
  }
  void clear(frontier const& f) const {
    space_.fill(f.size, 0, sizeof(*f.size));
    if (f.has_parts != nullptr) space_.fill(f.has_parts, 0, sizeof(*f.has_parts));
  }
  /// Empties all lists, and forgets what was done for the last batch.
  void clear_lists() const { space_.fill(state_.data(), 0, offsetof(residual_state, sum)); }
  template <unsigned W, class F>
  void over(frontier const& f, F const& work) const {
    for_each_item<W>(space_, f, work);
  }
  [[nodiscard]] rank_residuals residuals(graph::graph_view const& g) const {
    double const error = max_error(sum_) - rounding_error(g, sum_);
    double const of_limits = coarseness_ * error / 8;  // so that limits alone keep the error below half of it
    double const least = options_.damping > 0 ? 1 / (1 - options_.damping) : 0;
    std::int64_t* const x = values_.data();
    return {g,
            x,
            x + room_,
            x + 2 * room_,
            state_.data(),
            options_.damping,
            std::max(of_limits / static_cast<double>(vertices_), least),
            std::max(of_limits / arcs_, least),
            ignores_target_ ? -1 : aim_ * error,
            base(),
            bases(),
            options_.weighted ? totals_.data() : nullptr};
  }
  /// Adds up the weights of the rows of a frontier, and computes what its vertices send. The state says afterwards
  /// whether a weight is invalid.
  void update_totals(rank_residuals const& x, frontier const& f) const {
    space_.fill(&state_.data()->first_invalid, 0xff, sizeof(std::uint64_t));
    over<8>(f, add_up_part{x.g, f.items, parts_.data(), &state_.data()->first_invalid});
    over<32>(f, detail::update_totals{x, f.items, parts_.data()});
  }
  /// Reverts or repeats what the vertices of a frontier have sent; repeating clears their marks.
  void resend(frontier const& f, rank_residuals const& x, bool reverts) const {
    if (options_.weighted)
      over<8>(f, detail::resend<true>{x, f, reverts});
    else
      over<8>(f, detail::resend<false>{x, f, reverts});
  }

  // Passes over all vertices.

  /// Sets ranks to `ranks` in these units, or to 0, and the contributions accordingly; nothing is received yet.
  void start(graph::graph_view const& g, double const* ranks, double unit) {
    space_.fill(state_.data()->sum, 0, sizeof(residual_state::sum));
    clear_norm_and_sum();
    for_each_vertex(space_, vertices_, start_residuals{residuals(g), ranks, unit});
    (void)set_limits(g, ranks != nullptr ? unit : (1 - options_.damping) * scale());
  }
  /// Pulls the contributions that all vertices receive, and computes residuals, their norm and their sum.
  void pull_all(graph::graph_view const& g, row_bins_view const& bins) const {
    clear_norm_and_sum();
    std::uint32_t const tiles = std::min(bins.items(), 8192u);
    if (options_.weighted)
      exec::for_each_tile<32>(space_, tiles, pull_residuals<true>{residuals(g), bins, tiles});
    else
      exec::for_each_tile<32>(space_, tiles, pull_residuals<false>{residuals(g), bins, tiles});
    exec::for_each_lane<32>(space_, bins.hub_rows, sum_hubs{residuals(g), bins});
  }
  /// Starts a frontier with all vertices that have residuals above the limits. Clears the frontiers if need be.
  void list_all(graph::graph_view const& g) {
    if (std::exchange(may_have_to_push_, true)) rounds_.begin(vertices_, g.arcs());
    exec::for_each_lane<32>(space_, vertices_, list_residuals{residuals(g), rounds_.now()});
  }

  // Limits and errors.

  /// Limits follow the number of arcs and the sum of ranks in steps, so that they rarely change. set_limits() takes a
  /// step, update_limits() only if one is due: if the sum is below the least sum that limits are computed for, they may
  /// stay. Both return whether limits have changed.
  bool set_limits(graph::graph_view const& g, double sum) {
    double const arcs = std::exchange(arcs_, 1.5 * static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1)));
    double const least = std::exchange(sum_, std::max(sum, (1 - options_.damping) * scale()) / 1.5);
    return arcs != arcs_ || least != sum_;
  }
  bool update_limits(graph::graph_view const& g, double sum) {
    auto const arcs = static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1));
    return (arcs > arcs_ || arcs < arcs_ / 4 || sum < sum_) && set_limits(g, sum);
  }
  /// The least sum of ranks that limits are computed for.
  [[nodiscard]] double least_sum() const { return sum_; }
  /// The factor of all limits, at least 1.
  void set_coarseness(double factor) { coarseness_ = factor; }
  /// The part of the allowed error at which pushing ends.
  void set_aim(double part) { aim_ = part; }
  /// Whether to push all residuals that exceed the limits, whatever the norm is: when all ranks are computed anew, so
  /// that later changes stay local.
  void ignore_target(bool ignores) { ignores_target_ = ignores; }
  /// The sum of unscaled ranks if no vertex is dangling.
  [[nodiscard]] double scale() const {
    if (is_personal()) return unit_;
    return static_cast<double>(std::max<std::size_t>(present_, 1)) /
           static_cast<double>(std::max<std::size_t>(base_vertices_, 1)) * unit_;
  }
  /// The greatest sum of changes that a correction of all ranks may need: twice the sum of ranks, and a part for its
  /// rounding. No sum overflows then.
  [[nodiscard]] double most_change() const { return 2.5 * unit_; }
  /// The error of ranks that the tolerance allows, times 1 - d, in units.
  [[nodiscard]] double max_error(double sum_of_ranks) const {
    return options_.damping * options_.tolerance * sum_of_ranks;
  }
  /// The error of ranks due to rounding, times 1 - d.
  [[nodiscard]] double all_rounding(graph::graph_view const& g, double sum_of_ranks) const {
    return options_.damping == 0 ? rounding_of_bases() : rounding_error(g, sum_of_ranks);
  }
  [[nodiscard]] bool is_within(graph::graph_view const& g, double distance, double sum_of_ranks) const {
    return distance + rounding_error(g, sum_of_ranks) <= max_error(sum_of_ranks);
  }

 private:
  // They are next to each other.
  void clear_norm_and_sum() const {
    static_assert(offsetof(residual_state, residual_sum) ==
                  offsetof(residual_state, residual_norm) + sizeof(residual_state::residual_norm));
    space_.fill(state_.data()->residual_norm, 0,
                sizeof(residual_state::residual_norm) + sizeof(residual_state::residual_sum));
  }
  void clear_state() const { space_.fill(state_.data(), 0, state_.bytes()); }
  // Whether the present base suits this number of vertices: the sum of all ranks must not exceed a unit, nor become
  // much smaller.
  [[nodiscard]] bool is_base_for(std::size_t present) const {
    return present <= base_vertices_ && present >= base_vertices_ / 2;
  }
  [[nodiscard]] std::int64_t base() const {
    return static_cast<std::int64_t>((1 - options_.damping) /
                                     static_cast<double>(std::max<std::size_t>(base_vertices_, 1)) * unit_);
  }
  // The number of arrays in values_.
  [[nodiscard]] std::size_t arrays() const { return is_personal() ? 4 : 3; }
  [[nodiscard]] std::int64_t* bases() const { return is_personal() ? values_.data() + 3 * room_ : nullptr; }
  [[nodiscard]] std::size_t words() const { return (room_ + 31) / 32; }
  // The error of ranks due to rounding of what is sent: twice half a unit per arc, and the errors of four operations on
  // doubles; with weights also twice half a unit per vertex, and the errors of 16 operations; and that of the bases. 0
  // if nothing is sent, as the tolerance allows no error then.
  [[nodiscard]] double rounding_error(graph::graph_view const& g, double sum_of_ranks) const {
    if (options_.damping == 0) return 0;
    if (g.arcs() == 0) return rounding_of_bases();
    double const operations = options_.weighted ? 32 : 8;
    auto const rounded = static_cast<double>(g.arcs() + (options_.weighted ? vertices_ : 0));
    return rounding_of_bases() + rounded + operations * 0x1p-53 * options_.damping * sum_of_ranks;
  }
  // The bases of sources have the error of half a unit each, and those of two operations.
  [[nodiscard]] double rounding_of_bases() const {
    return is_personal() ? static_cast<double>(sources_.size()) + 4 * 0x1p-53 * (1 - options_.damping) * unit_ : 0;
  }

  Space space_;
  incremental_pagerank_options options_;
  std::size_t vertices_;
  std::size_t present_;        // vertices that are in the graph
  std::size_t base_vertices_;  // n in the base (1 - d)/n
  std::size_t room_;           // for so many vertices
  rank_sources<Space> sources_;
  exec::buffer<std::int64_t, Space> values_;  // x, residuals, sent, and the bases if there are sources
  exec::buffer<double, Space> totals_;        // of weights
  exec::buffer<std::uint32_t, Space> marks_;  // of the vertices that a batch changes
  exec::buffer<frontier_item, Space> changed_;
  exec::buffer<taken_residual, Space> taken_;
  exec::buffer<residual_state, Space> state_;
  detail::rounds<Space> rounds_;
  exec::buffer<double, Space> parts_;  // sums of weights of the parts of rows
  double unit_ = 1;
  double arcs_ = 0;               // limits are computed for at most this many arcs,
  double sum_ = 1;                // and at least this sum
  double coarseness_ = 1;         // see set_coarseness()
  double aim_ = 0.5;              // see set_aim()
  bool ignores_target_ = true;    // see ignore_target()
  bool may_have_to_push_ = true;  // whether frontiers may have items or marks
};

}  // namespace wyrm::algorithms::detail
