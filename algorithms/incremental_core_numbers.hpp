// SPDX-License-Identifier: Apache-2.0
// The core numbers of a changing graph (see core_numbers.hpp), exactly, after any batch of insertions and erasures.
// Each vertex has a bound, at first its core number before the batch. Bounds are feasible if each vertex has at least
// as many neighbours of at least its own bound as that bound says. The core numbers are the greatest feasible bounds:
// those of at least k induce a graph in which all degrees are at least k. There are two phases, both in the graph after
// the batch:
//
// 1. Falls. Bounds of vertices with too few such neighbours fall until all are feasible (Montresor, De Pellegrini,
//    Miorandi, IEEE TPDS 2013; Lu, Zhou, Zhang, Stanley, Nature Communications 7, 2016: any order reaches the greatest
//    feasible bounds that are not above the first ones). First only an end of an erased edge can have too few, if its
//    bound was not above that of the other end; later only a vertex that fell, and its neighbours.
// 2. Rises. A round raises bounds by one: for each k at once, those of the largest set of vertices of bound k each of
//    which has more than k neighbours in the set or of greater bounds. Bounds stay feasible. Rounds end when none
//    rises.
//
// The rounds end with the core numbers: if some bounds are less than core numbers, take the vertices with the least of
// these bounds, k. Each has more than k neighbours of core numbers above k, whose bounds are above k, or k and below
// their core numbers. So all of these vertices can rise.
//
// A round finds all vertices that can rise by a search from few vertices through vertices of the same bound k that have
// more than k neighbours of bounds of at least k. Let C be a connected part of a set that can rise from k.
//
// - In the first round, some vertex of C has an inserted edge to a neighbour whose bound is not less; the search begins
//   with all such vertices. Proof: let A be the vertices of C with core number k before the batch. A is not empty, or
//   phase 1 had left the bounds of C greater. If A had no such edge, each vertex of A would have had more than k
//   neighbours in A or of core numbers above k before the batch, and so a core number above k itself.
// - In each later round, some vertex of C has risen in the round before; the search begins with all vertices that have.
//   Proof: otherwise all of C had bound k in the round before, and could have risen in it, together with those that
//   did.
//
// Insertions are searched like this, one edge at a time, by Sariyuce, Gedik, Jacques-Silva, Wu, Catalyurek (PVLDB 6,
// 2013) and Li, Yu, Mao (IEEE TKDE 26, 2014).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "core_numbers.hpp"
#include "detail/core_changes.hpp"
#include "detail/frontier.hpp"
#include "detail/grow.hpp"
#include "detail/requirements.hpp"
#include "detail/rounds.hpp"

namespace wyrm::algorithms {

struct incremental_core_numbers_options {
  /// All core numbers are computed anew after a batch with more entries than this share of the vertices, and when the
  /// phases have examined more than this share of the vertices, or need 64 steps over frontiers and more than this
  /// share of those of the last full run besides. 0: after each batch that is not empty; infinity: never.
  double full_run = 0.25;
};

/// The core numbers of an any_graph; see maintain_core_numbers.
class maintained_core_numbers : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// 0 for a vertex that is not in the graph. O(vertices).
  [[nodiscard]] virtual core_numbers_result result() const = 0;
  /// Whether the last change led to a full run.
  [[nodiscard]] virtual bool recomputed() const = 0;
};

/// The core numbers of one changing undirected graph; see graph/maintained_result.hpp. Self-loops do not count. About
/// 65 bytes per vertex and 1/7 byte per arc. A batch costs the rows of the vertices that it concerns and of those that
/// are reached from them (see above), with three launches for each step of a fall and two for each step of a search, or
/// one for several small steps; the host synchronises at least twice for each unit by which a core number rises. The
/// cost does not depend on the size of the graph, but connected vertices of equal core numbers may be a large part of
/// it: see full_run. A full run is O(vertices + arcs).
template <class Space>
class incremental_core_numbers final : public maintained_core_numbers {
 public:
  /// Computes the core numbers of the graph. Throws error(bad_argument) for a directed graph, and for a share that is
  /// less than 0 or not a number.
  incremental_core_numbers(Space const& space, graph::graph_view const& g,
                           incremental_core_numbers_options const& o = {})
      : maintained_core_numbers("incremental_core_numbers", g, space.identity()),
        space_(space),
        options_(o),
        vertices_(g.vertices()),
        bound_(space),
        count_(space),
        marks_(space),
        lists_{list(space), list(space)},
        rounds_(space, detail::visits::again),
        full_(space),
        state_(space, 1) {
    detail::require_undirected(g, "incremental_core_numbers");
    if (!(o.full_run >= 0))
      throw error(error_code::bad_argument,
                  "incremental_core_numbers: full_run is negative or not a number; pass a share of the vertices, 0 for "
                  "a full run after each batch, or infinity");
    if (vertices_ == 0) return;
    reserve(vertices_, g.arcs());
    run_all(g);
  }
  template <class Graph>
  explicit incremental_core_numbers(Graph const& g, incremental_core_numbers_options const& o = {})
      : incremental_core_numbers(g.space(), g.view(), o) {}

  [[nodiscard]] core_numbers_result result() const override {
    return detail::with_degeneracy(exec::copy_out(space_, bound_.data(), vertices_));
  }
  [[nodiscard]] bool recomputed() const override { return recomputed_; }

 private:
  using list = exec::buffer<detail::frontier_item, Space>;
  static constexpr std::uint32_t most_small_steps = 64;  // before the host decides whether to go on

  void on_before(graph::graph_view const&, graph::graph_change const& change) override {
    std::size_t const n = std::max<std::size_t>(vertices_, change.vertices);
    change_ = change;
    if (n > 0) reserve(n, change.max_arcs);
  }
  void on_after(graph::graph_view const& g) override {
    std::size_t const before = std::exchange(vertices_, g.vertices());
    recomputed_ = false;
    if (vertices_ == 0) return;
    if (before < vertices_) space_.fill(bound_.data() + before, 0, (vertices_ - before) * sizeof(std::uint32_t));
    if (change_.replaces_all || is_above(change_.size, 0)) return run_all(g);
    if (change_.size == 0) return;
    space_.fill(state_.data(), 0, state_.bytes());
    turn_ = steps_ = 0;
    reached_before_ = 0;
    if (!(fall(g) && rise(g))) run_all(g);
  }
  void on_undo(graph::graph_view const&) override {}

  // Whether so many vertices, and so many steps over frontiers, are too many for the two phases.
  [[nodiscard]] bool is_above(std::uint64_t vertices, std::uint32_t steps) const {
    return static_cast<double>(vertices) > options_.full_run * static_cast<double>(vertices_) ||
           static_cast<double>(steps) > 64 + options_.full_run * static_cast<double>(steps_of_full_run_);
  }
  [[nodiscard]] static std::size_t words(std::size_t vertices) { return (vertices + 31) / 32; }
  // Requests all memory for a graph with n ids and this many arcs.
  void reserve(std::size_t n, std::uint64_t arcs) {
    if (n > room_) {
      std::size_t const room = exec::grown_room(room_, n);
      exec::buffer<std::uint32_t, Space> bound(space_, room);
      exec::buffer<std::uint32_t, Space> count(space_, room);
      exec::buffer<std::uint32_t, Space> marks(space_, words(room));
      list lists[2] = {list(space_, room), list(space_, room)};
      space_.fill(count.data(), 0, count.bytes());
      space_.fill(marks.data(), 0, marks.bytes());
      if (room_ > 0) space_.copy(bound.data(), bound_.data(), room_ * sizeof(std::uint32_t));
      bound_ = std::move(bound);
      count_ = std::move(count);
      marks_ = std::move(marks);
      std::swap(lists_[0], lists[0]);
      std::swap(lists_[1], lists[1]);
      room_ = room;
      has_rounds_ = false;
    }
    if (!has_rounds_ || arcs > arcs_room_) {
      has_rounds_ = false;  // a request that fails empties a buffer
      std::uint64_t const arcs_room = arcs <= arcs_room_ ? arcs_room_ : arcs + arcs / 4;
      rounds_.begin(room_, arcs_room);
      arcs_room_ = arcs_room;
      has_rounds_ = true;
    }
    full_.reserve(n, arcs);
  }
  [[nodiscard]] detail::core_bounds bounds(graph::graph_view const& g) const {
    return {g, bound_.data(), count_.data()};
  }
  // The vertices that the current round of rises reaches (0), or those that the next one begins with (1).
  [[nodiscard]] detail::reached_vertices reached(graph::graph_view const& g, unsigned later,
                                                 detail::frontier const& next) const {
    unsigned const which = (turn_ + later) % 2;
    return {g, {marks_.data(), lists_[which].data(), &state_.data()->listed[which]}, next};
  }

  // Computes all core numbers anew. The memory is reserved.
  void run_all(graph::graph_view const& g) {
    steps_of_full_run_ = full_.run(g, count_.data(), bound_.data());
    recomputed_ = true;
    space_.fill(count_.data(), 0, count_.bytes());
    space_.fill(marks_.data(), 0, marks_.bytes());
    rounds_.begin(room_, arcs_room_);
  }
  // Does steps, each of which processes rounds_.now(), until there is nothing to process. Returns false if that takes
  // too many.
  template <class Work>
  [[nodiscard]] bool process(Work const& work) {
    std::uint32_t const small = detail::small_frontier(space_);
    unsigned at_once = 4;
    for (std::uint32_t const before = steps_;;) {
      auto const seen = rounds_.do_small(work, 0, small, most_small_steps);
      steps_ += seen.rounds;
      if (seen.items == 0) return true;
      if (steps_ > before) {
        detail::core_change_state const state = exec::read(space_, state_.data());
        if (is_above(state.examined + reached_before_ + state.listed[turn_ % 2], steps_)) return false;
      }
      if (seen.items <= small) continue;
      if (seen.rounds > 0) at_once = 4;  // the next frontiers may be small, too
      steps_ = rounds_.enqueue(work, steps_, at_once);
      at_once = std::min(2 * at_once, 16u);
    }
  }
  [[nodiscard]] bool fall(graph::graph_view const& g) {
    if (!change_.may_erase()) return true;
    detail::core_bounds const b = bounds(g);
    exec::for_each_lane<32>(space_, change_.size, detail::list_unsupported{b, change_, rounds_.now()});
    return process(detail::spread_falls{b, state_.data(), {}});
  }
  [[nodiscard]] bool rise(graph::graph_view const& g) {
    if (!change_.may_insert()) return true;
    detail::core_bounds const b = bounds(g);
    exec::for_each_lane<32>(space_, change_.size, detail::reach_supported{b, change_, reached(g, 0, rounds_.now())});
    for (;;) {
      detail::frontier const all = reached(g, 0, {}).all;
      if (!process(detail::spread_rises{b, all, {}})) return false;
      std::uint32_t const listed = exec::read(space_, all.size);
      if (listed == 0) return true;
      detail::for_each_item<32>(space_, all, detail::list_unraised{b, rounds_.now()});
      if (!process(detail::refuse_rises{b, {}})) return false;
      detail::for_each_item<32>(space_, all, detail::settle_rises{b, reached(g, 1, rounds_.now())});
      space_.fill(all.size, 0, sizeof(*all.size));
      reached_before_ += listed;
      ++turn_;
    }
  }

  Space space_;
  incremental_core_numbers_options options_;
  std::size_t vertices_;
  std::size_t room_ = 0;                      // for so many vertices
  std::uint64_t arcs_room_ = 0;               // and so many arcs in rounds_
  bool has_rounds_ = false;                   // whether rounds_ has that room
  exec::buffer<std::uint32_t, Space> bound_;  // core numbers, between changes
  exec::buffer<std::uint32_t, Space> count_;  // of supporters; 0 between changes
  exec::buffer<std::uint32_t, Space> marks_;  // of the vertices that a round of rises reaches; 0 between changes
  list lists_[2];
  detail::rounds<Space> rounds_;
  detail::core_peeler<Space> full_;
  exec::buffer<detail::core_change_state, Space> state_;
  unsigned turn_ = 0;                    // rounds of rises of this change
  std::uint64_t reached_before_ = 0;     // vertices, in earlier rounds of this change
  std::uint32_t steps_ = 0;              // over frontiers, of this change
  std::uint32_t steps_of_full_run_ = 0;  // of the last one
  bool recomputed_ = false;
  graph::graph_change change_;  // the one that is being made
};

template <class Graph>
explicit incremental_core_numbers(Graph const& g, incremental_core_numbers_options const& o = {})
    -> incremental_core_numbers<std::decay_t<decltype(g.space())>>;

/// Maintains the core numbers of an any_graph.
[[nodiscard]] std::unique_ptr<maintained_core_numbers> maintain_core_numbers(
    graph::any_graph const& g, incremental_core_numbers_options const& o = {});

}  // namespace wyrm::algorithms
