// SPDX-License-Identifier: Apache-2.0
// Communities of a changing graph by label propagation (Raghavan, Albert, Kumara, Phys. Rev. E 76, 2007), in the
// asynchronous form, which ends when each vertex has a label that is among the most frequent ones of its neighbours.
// (label_propagation.hpp has the synchronous form with a fixed number of iterations, which need not come to an end.)
// After a change, only the ends of its edges vote again, and then the neighbours of vertices that got another label.
//
// In a round, each vertex of a list counts the labels of its neighbours. If a label has more votes than that of the
// vertex, it wants the label with the most votes, the smallest one of several. Of neighbours that want other labels one
// moves, drawn by a hash of the vertices and the round, which counts from 0 for each change. So no two neighbours move
// in the same round, and each move adds at least one to the number of edges whose ends have the same label. The rounds
// therefore end. Vertices that wait are in the next list, and so are the neighbours of those that moved: all others had
// a label with the most votes when they voted last, and their votes have not changed since.
//
// At the beginning all vertices want other labels, and to wait for all neighbours would take hundreds of rounds. So
// there are 16 free rounds first, in which each vertex that wants a label moves with a chance of one half. They prove
// nothing, but leave few vertices for the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/grow.hpp"
#include "detail/label_votes.hpp"
#include "detail/labels.hpp"
#include "detail/requirements.hpp"
#include "detail/rounds.hpp"

namespace wyrm::algorithms {

struct incremental_label_propagation_options {
  /// The greatest number of rounds after a change, and for the first labels. The vertices that are still to vote then
  /// do so after the next change, which may be an empty batch.
  std::uint32_t max_rounds = 1000;
};

/// The communities of an any_graph; see maintain_label_propagation.
class maintained_label_propagation : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// The label of each vertex; its own id if it has no neighbours other than itself, or is not in the graph.
  /// O(vertices).
  [[nodiscard]] virtual std::vector<graph::vertex_id> label() const = 0;
  /// Whether each label is among the most frequent ones of the neighbours.
  [[nodiscard]] virtual bool converged() const = 0;
  /// The rounds after the last change.
  [[nodiscard]] virtual std::uint32_t rounds() const = 0;
};

/// The communities of one changing graph; see graph/maintained_result.hpp. Labels depend on the sequence of changes,
/// and are the same in each space. The vertices of a label need not be connected. In a directed graph in-neighbours
/// vote as well, so an arc in both directions counts twice; self-loops do not vote. Each change continues from the
/// labels before it, which is always less work than to begin anew; clear(), build() and a catch_up() to fewer ids begin
/// anew. About 50 bytes per vertex and 15 bytes per arc, 30 in a directed graph. A change costs the rows of its ends,
/// and of the neighbours of vertices that get another label, in six launches per round; the host synchronises after 4,
/// 8, and then each 16 rounds.
template <class Space>
class incremental_label_propagation final : public maintained_label_propagation {
 public:
  /// Propagates the labels of the graph, from an own label of each vertex. Throws error(bad_argument) for a directed
  /// graph without in-neighbours, and for max_rounds 0.
  incremental_label_propagation(Space const& space, graph::graph_view const& g,
                                incremental_label_propagation_options const& o = {})
      : maintained_label_propagation("incremental_label_propagation", g, space.identity()),
        space_(space),
        options_(o),
        vertices_(g.vertices()),
        label_(space),
        best_(space),
        own_(space),
        yields_(space),
        table_begins_(space),
        table_labels_(space),
        table_votes_(space),
        rounds_(space, detail::visits::again),
        state_(space, 1) {
    detail::require_in_neighbours(g, "incremental_label_propagation");
    if (o.max_rounds == 0)
      throw error(error_code::bad_argument, "incremental_label_propagation: max_rounds is 0; allow at least one round");
    if (vertices_ == 0) return;
    reserve(g, vertices_, g.arcs());
    begin(g);
  }
  template <class Graph>
  explicit incremental_label_propagation(Graph const& g, incremental_label_propagation_options const& o = {})
      : incremental_label_propagation(g.space(), g.view(), o) {}

  [[nodiscard]] std::vector<graph::vertex_id> label() const override {
    return exec::copy_out(space_, label_.data(), vertices_);
  }
  [[nodiscard]] bool converged() const override { return seen_.left == 0; }
  [[nodiscard]] std::uint32_t rounds() const override { return seen_.rounds; }

 private:
  static constexpr std::uint32_t free_rounds = 16;  // see label_votes

  void on_before(graph::graph_view const& g, graph::graph_change const& change) override {
    // A graph without ids may have in-neighbours or not, as far as its view tells.
    detail::require_in_neighbours(g, "incremental_label_propagation");
    std::size_t const n = std::max<std::size_t>(vertices_, change.vertices);
    change_ = change;
    if (n > 0) reserve(g, n, change.max_arcs);
  }
  void on_after(graph::graph_view const& g) override {
    std::size_t const before = std::exchange(vertices_, g.vertices());
    if (vertices_ == 0) {
      if (before > 0) rounds_.begin(room_, voters_room_);  // vertices that were still to vote do not exist any more
      seen_ = {};
      return;
    }
    if (change_.replaces_all) return begin(g);
    if (before < vertices_)
      exec::for_each(space_, vertices_ - before,
                     detail::number_from{label_.data() + before, static_cast<graph::vertex_id>(before)});
    if (!converged()) return propagate_all(g, 0);
    seen_.rounds = 0;
    if (change_.size == 0) return;
    exec::for_each_lane<32>(space_, change_.size, detail::list_ends{rows(g), change_, rounds_.now()});
    propagate(g, 0);
  }
  void on_undo(graph::graph_view const&) override {}

  [[nodiscard]] static detail::voting_rows rows(graph::graph_view const& g) { return detail::voting_rows{g}; }
  // Requests all memory for a graph with n ids and this many arcs.
  void reserve(graph::graph_view const& g, std::size_t n, std::uint64_t arcs) {
    std::uint64_t const voters = (g.directed() ? 2 : 1) * arcs;
    if (is_reserved_ && n <= room_ && voters <= voters_room_) return;
    std::size_t const room = exec::grown_room(room_, n);
    std::uint64_t const voters_room = voters <= voters_room_ ? voters_room_ : voters + voters / 4;
    is_reserved_ = false;  // a request that fails empties a buffer
    rounds_.begin(room, voters_room);
    std::size_t const slots = voters_room + voters_room / 2 + room;  // see vote_table::slots_for
    table_labels_.reserve(slots);
    table_votes_.reserve(slots);
    if (room > room_) {
      exec::buffer<graph::vertex_id, Space> label(space_, room);
      exec::buffer<std::uint64_t, Space> best(space_, room);
      exec::buffer<std::uint32_t, Space> own(space_, room);
      exec::buffer<std::uint32_t, Space> yields(space_, (room + 31) / 32);
      exec::buffer<std::uint64_t, Space> table_begins(space_, room);
      space_.fill(best.data(), 0, best.bytes());
      space_.fill(own.data(), 0, own.bytes());
      space_.fill(yields.data(), 0, yields.bytes());
      if (room_ > 0) space_.copy(label.data(), label_.data(), room_ * sizeof(graph::vertex_id));
      label_ = std::move(label);
      best_ = std::move(best);
      own_ = std::move(own);
      yields_ = std::move(yields);
      table_begins_ = std::move(table_begins);
      room_ = room;
    }
    space_.fill(table_labels_.data(), 0xff, table_labels_.size() * sizeof(graph::vertex_id));
    space_.fill(table_votes_.data(), 0, table_votes_.size() * sizeof(std::uint32_t));
    voters_room_ = voters_room;
    is_reserved_ = true;
  }
  // From an own label of each vertex.
  void begin(graph::graph_view const& g) {
    exec::for_each(space_, vertices_, detail::init_labels{label_.data()});
    propagate_all(g, free_rounds);
  }
  // All vertices vote. Those that need not keep their labels.
  void propagate_all(graph::graph_view const& g, std::uint32_t free) {
    rounds_.begin(room_, voters_room_);
    exec::for_each_lane<32>(space_, vertices_, detail::list_voting{rows(g), label_.data(), rounds_.now()});
    propagate(g, free);
  }
  // The vertices in rounds_.now() vote.
  void propagate(graph::graph_view const& g, std::uint32_t free) {
    space_.fill(state_.data(), 0, state_.bytes());
    detail::label_votes x{rows(g),
                          label_.data(),
                          best_.data(),
                          own_.data(),
                          yields_.data(),
                          table_begins_.data(),
                          {table_labels_.data(), table_votes_.data(), 0},
                          state_.data(),
                          0,
                          free};
    for (std::uint32_t at_once = 4;; at_once = std::min(2 * at_once, 16u)) {
      std::uint32_t const end = x.round + std::min(at_once, options_.max_rounds - x.round);
      for (; x.round != end; ++x.round) enqueue(x);
      seen_ = exec::read(space_, state_.data());
      if (converged() || x.round == options_.max_rounds) return;
    }
  }
  void enqueue(detail::label_votes const& x) {
    detail::frontier const now = rounds_.now();
    detail::for_each_item<32>(space_, now, detail::place_tables{x, now});
    detail::for_each_item<8>(space_, now, detail::gather_votes{x});
    detail::for_each_item<8>(space_, now, detail::find_best_labels{x});
    if (!x.is_free()) detail::for_each_item<8>(space_, now, detail::find_yielding{x});
    rounds_.enqueue(detail::list_voters{x, rounds_.next()});
    detail::for_each_item<32>(space_, now, detail::settle_labels{x, rounds_.now().size});
  }

  Space space_;
  incremental_label_propagation_options options_;
  std::size_t vertices_;
  std::size_t room_ = 0;           // for so many vertices
  std::uint64_t voters_room_ = 0;  // and so many entries of rows
  bool is_reserved_ = false;       // whether rounds_ and the tables have that room
  exec::buffer<graph::vertex_id, Space> label_;
  exec::buffer<std::uint64_t, Space> best_;  // see label_votes
  exec::buffer<std::uint32_t, Space> own_;
  exec::buffer<std::uint32_t, Space> yields_;
  exec::buffer<std::uint64_t, Space> table_begins_;
  exec::large_buffer<graph::vertex_id, Space> table_labels_;  // empty between rounds
  exec::large_buffer<std::uint32_t, Space> table_votes_;
  detail::rounds<Space> rounds_;
  exec::buffer<detail::voting_state, Space> state_;
  detail::voting_state seen_{};  // after the last change
  graph::graph_change change_;   // the one that is being made
};

template <class Graph>
explicit incremental_label_propagation(Graph const& g, incremental_label_propagation_options const& o = {})
    -> incremental_label_propagation<std::decay_t<decltype(g.space())>>;

/// Maintains communities of an any_graph by label propagation.
[[nodiscard]] std::unique_ptr<maintained_label_propagation> maintain_label_propagation(
    graph::any_graph const& g, incremental_label_propagation_options const& o = {});

}  // namespace wyrm::algorithms
