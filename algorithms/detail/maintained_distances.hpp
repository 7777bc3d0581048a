// SPDX-License-Identifier: Apache-2.0
// The part that maintained results with distances from one source share: when which kernels of distance_tree.hpp run,
// and when a full run is done instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/maintained_result.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "distance_tree.hpp"
#include "frontier.hpp"
#include "grow.hpp"
#include "rounds.hpp"

namespace wyrm::algorithms::detail {

/// Base: the interface of the result, which derives from graph::maintained_result. Search: full runs, with
///   lengths                         a type of distance_tree.hpp
///   Search(space, options)
///   reserve(n, arcs, parents)       requests all memory for run(g, source, parents) on a graph of this size
///   run(g, source, parents)         returns how many vertices are reached
///   lengths_of(g), needs_values()
///   distance(), parent()            of the last run, in memory of the space
template <class Base, class Space, class Search>
class maintained_distances : public Base {
 public:
  [[nodiscard]] std::size_t reached() const final { return exec::read(space_, &state_.data()->reached); }
  [[nodiscard]] graph::vertex_id source() const final { return source_; }
  [[nodiscard]] std::size_t full_runs() const final { return full_runs_; }
  [[nodiscard]] bool needs_values() const final { return search_.needs_values(); }
  [[nodiscard]] bool needs_weights() const final { return search_.needs_values(); }

 protected:
  using lengths = typename Search::lengths;
  using distance_type = typename lengths::distance;

  template <class Options>
  maintained_distances(char const* name, Space const& space, graph::graph_view const& g, Options const& o)
      : Base(name, g, space.identity()),
        space_(space),
        search_(space, o),
        source_(o.source),
        full_run_(o.full_run),
        distances_(space),
        parents_(space),
        rounds_(space, visits::again),
        marks_(space),
        items_(space),
        state_(space, 1) {
    if (o.source >= g.vertices())
      throw error(error_code::bad_argument, std::string(name) + ": the source " + std::to_string(o.source) +
                                                " is not in the graph, which has " + std::to_string(g.vertices()) +
                                                " vertices; they are numbered from 0");
    if (!(o.full_run >= 0))
      throw error(error_code::bad_argument, std::string(name) + ": full_run is " + std::to_string(o.full_run) +
                                                "; it is a fraction of the vertices, and at least 0");
    reserve(g, g.vertices(), g.arcs());
    vertices_ = g.vertices();
    run_all(g);
    full_runs_ = 0;
  }

  /// Of each vertex, in memory of the space; valid until the next change of the graph.
  [[nodiscard]] distance_type const* distances() const { return distances_.data(); }
  [[nodiscard]] std::size_t vertices() const { return vertices_; }
  [[nodiscard]] Space const& space() const { return space_; }

 private:
  void on_before(graph::graph_view const& g, graph::graph_change const& change) final {
    bool const comes_back = source_ >= vertices_ && source_ < change.vertices;
    anew_ = change.replaces_all || comes_back;
    arcs_ = changed_arcs(change, g.directed(), needs_values());
    reserve(g, std::max<std::size_t>(vertices_, change.vertices), change.max_arcs);
    if (anew_ || g.has_in_neighbours() || !arcs_.may_erase()) return;
    std::uint32_t* const cut = &state_.data()->cut;
    space_.fill(cut, 0, sizeof(*cut));
    exec::for_each(space_, arcs_.size(), find_cut<lengths>{tree(g), arcs_});
  }
  void on_after(graph::graph_view const& g) final {
    std::size_t const before = std::exchange(vertices_, g.vertices());
    if (anew_) return run_all(g);
    if (before < vertices_)
      exec::for_each(space_, vertices_ - before, begin_unreached<lengths>{distances_.data(), parents_of(g), before});
    if (arcs_.size() == 0) return;
    if (!g.has_in_neighbours() && arcs_.may_erase() && exec::read(space_, &state_.data()->cut) != 0) return run_all(g);
    update(g);
  }
  void on_undo(graph::graph_view const&) final {}

  /// Requests all memory, also of a full run; distances and parents of vertices are kept.
  void reserve(graph::graph_view const& g, std::size_t n, std::uint64_t arcs) {
    bool const has_tree = g.has_in_neighbours();
    search_.reserve(n, arcs, has_tree);
    grow(space_, distances_, vertices_, n);
    if (has_tree) grow(space_, parents_, vertices_, n);
    // Candidates have as many parts as the longer of both rows requires.
    rounds_.reserve(n, g.directed() ? 2 * arcs : arcs);
    if (marks_.size() < words(n)) {
      marks_.reserve(words(n));
      space_.fill(marks_.data(), 0, marks_.bytes());
    }
    items_.reserve(frontier::capacity(n, arcs));
  }
  [[nodiscard]] static std::size_t words(std::size_t n) { return (n + 31) / 32; }
  [[nodiscard]] graph::vertex_id* parents_of(graph::graph_view const& g) const {
    return g.has_in_neighbours() ? parents_.data() : nullptr;
  }
  [[nodiscard]] distance_tree<lengths> tree(graph::graph_view const& g) const {
    double const most = full_run_ * static_cast<double>(g.vertices());
    return {g,
            search_.lengths_of(g),
            source_,
            distances_.data(),
            parents_of(g),
            {marks_.data(), items_.data(), &state_.data()->changed},
            full_run_ < 1 && most < 4e9 ? static_cast<std::uint32_t>(most) : std::numeric_limits<std::uint32_t>::max(),
            state_.data()};
  }

  /// Updates distances and parents. All frontiers and the list of changed vertices are empty before and after it.
  void update(graph::graph_view const& g) {
    distance_tree<lengths> const of = tree(g);
    if (of.parents != nullptr && arcs_.may_erase()) {
      exec::for_each_lane<32>(space_, arcs_.size(), cut_parents<lengths>{of, arcs_, rounds_.now()});
      rounds_.run(spread_candidates<lengths>{of, {}});
      for_each_item<32>(space_, of.changed, forget_distances<lengths>{of});
      for_each_item<8>(space_, of.changed, pull_distances<lengths>{of, rounds_.now()});
    }
    if (arcs_.may_insert())
      exec::for_each_lane<32>(space_, arcs_.size(), relax_inserted<lengths>{of, arcs_, rounds_.now()});
    rounds_.run(relax_lowered<lengths>{of, {}, {}});
    if (of.parents != nullptr) {
      for_each_item_in_groups<lanes_of_distances>(space_, of.changed, find_nearer_parent<lengths>{of, false});
      if constexpr (lengths::weighted)
        for_each_item<8>(space_, of.changed, find_equal_parent<lengths>{of, rounds_.now()});
    }
    for_each_item<32>(space_, of.changed, clear_marks{of.changed});
    distance_state const state = exec::read(space_, state_.data());
    // A full run refuses lengths that are not valid, and names the first one.
    if (state.changed > of.most || state.invalid != 0) return run_all(g);
    space_.fill(of.changed.size, 0, sizeof(*of.changed.size));
    if constexpr (lengths::weighted)
      if (of.parents != nullptr && state.changed > 0) rounds_.run(offer_equal_parent<lengths>{of, {}});
  }
  void run_all(graph::graph_view const& g) {
    std::size_t const n = vertices_;
    space_.fill(state_.data(), 0, state_.bytes());
    if (n == 0) return;
    rounds_.begin(g);
    space_.fill(marks_.data(), 0, words(n) * sizeof(std::uint32_t));
    if (source_ >= n) {
      exec::for_each(space_, n, begin_unreached<lengths>{distances_.data(), parents_of(g), 0});
      return;
    }
    auto const reached = static_cast<std::uint32_t>(search_.run(g, source_, g.has_in_neighbours()));
    space_.copy(distances_.data(), search_.distance(), n * sizeof(distance_type));
    if (g.has_in_neighbours()) space_.copy(parents_.data(), search_.parent(), n * sizeof(graph::vertex_id));
    exec::write(space_, &state_.data()->reached, reached);
    ++full_runs_;
  }

  Space space_;
  Search search_;
  graph::vertex_id source_;
  double full_run_;
  std::size_t vertices_ = 0;
  exec::buffer<distance_type, Space> distances_;
  exec::buffer<graph::vertex_id, Space> parents_;
  rounds<Space> rounds_;
  exec::buffer<std::uint32_t, Space> marks_;  // of the list of vertices that change
  exec::buffer<frontier_item, Space> items_;
  exec::buffer<distance_state, Space> state_;
  std::size_t full_runs_ = 0;
  changed_arcs arcs_;  // of the change that is being made
  bool anew_ = false;  // whether a full run follows it in any case
};

}  // namespace wyrm::algorithms::detail
