// SPDX-License-Identifier: Apache-2.0
// Local moves: vertices move to the neighbouring community where they raise modularity, or another objective
// (objectives.hpp), most (Blondel et al., J. Stat. Mech. 2008). Many vertices move at the same time, and yet each round
// that moves vertices improves the objective (move_round.hpp, exit_flows.hpp).
//
// Modularity times the square of the sum of all degrees is an integer, and so are all gains. So comparisons are exact,
// and sums do not depend on the order of additions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "exit_flows.hpp"
#include "frontier.hpp"
#include "move_round.hpp"
#include "objectives.hpp"
#include "propose_on_host.hpp"
#include "thread_tables.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// Owns the memory of rounds: 12 bytes per arc for hash tables (on a host 8 bytes per vertex for each thread), 1/16
/// byte per arc for lists, about 90 per vertex, for the map equation 120. If a memory manager has less room, there are
/// hash tables for a window of vertices at a time, with at least 24 bytes per vertex.
template <class Space>
class modularity_moves {
 public:
  explicit modularity_moves(Space const& space)
      : space_(space),
        bulk_(space),
        offsets_(space),
        degree_(space),
        volume_(space, exec::use_rate::high),
        traffic_(space, exec::use_rate::high),
        table_label_(space),
        table_weight_(space),
        cuts_(space),
        host_tables_(space),
        proposal_(space),
        outside_(space),
        exits_(space),
        saved_volume_(space),
        saved_exits_(space),
        books_(space),
        saved_books_(space),
        book_marks_(space),
        result_(space, 1),
        lists_{vertex_list<Space>(space), vertex_list<Space>(space)} {}

  /// Prepares rounds on rows, and lists all rows that are not empty in now(). Returns the sum of all degrees.
  std::uint64_t prepare(weighted_rows const& rows) {
    std::size_t const n = rows.g.vertices();
    reserve(n, rows.g.arcs());
    if constexpr (exec::has_tiles<Space>) {
      offsets_.find(rows.g);
      space_.fill(result_.data(), 0, result_.bytes());
      exec::for_each(space_, n, find_hubs{rows.g, result_.data()});
      has_hubs_ = exec::read(space_, &result_.data()->has_hubs) != 0;
    }
    space_.fill(degree_.data(), 0, n * sizeof(std::uint64_t));
    now().fill(rows.g);
    for_each_item<8>(space_, now().view(), add_up_rows{rows, degree_.data()});
    return total_ = bulk_.sum(degree_.data(), n);
  }
  void reserve(std::size_t n, std::uint64_t arcs) {
    bulk_.reserve(n);
    degree_.reserve(n);
    volume_.reserve(n);
    traffic_.reserve(n);
    proposal_.reserve(n);
    if constexpr (exec::has_tiles<Space>) {
      offsets_.reserve(n);
      reserve_tables(n, places(n, arcs));
    } else {
      host_tables_.reserve(n, arcs);
    }
    for (vertex_list<Space>& list : lists_) list.reserve(n, arcs);
  }
  /// The memory for the map equation.
  void reserve_flows(std::size_t n) {
    for (auto* values : {&outside_, &exits_, &saved_volume_, &saved_exits_}) values->reserve(n);
  }
  /// The vertices that the next round processes.
  [[nodiscard]] vertex_list<Space>& now() { return lists_[turn_ % 2]; }
  [[nodiscard]] std::uint64_t const* degrees() const { return degree_.data(); }
  /// The volumes of labels; 0 for unused labels.
  std::uint64_t* compute_volumes(graph::vertex_id const* label, std::size_t n) {
    return compute_volumes(degree_.data(), label, n);
  }
  /// The same for other masses of vertices than degrees.
  std::uint64_t* compute_volumes(std::uint64_t const* mass, graph::vertex_id const* label, std::size_t n) {
    space_.fill(volume_.data(), 0, n * sizeof(std::uint64_t));
    exec::for_each(space_, n, add_up_volumes{mass, label, volume_.data()});
    return volume_.data();
  }

  struct moves {
    std::uint64_t count;
    bool ended;  // before the limit of rounds
  };
  /// Moves the vertices in now(), and vertices that their moves affect, until no move improves the objective or too few
  /// do. Labels are less than the number of vertices. Each round with moves improves the objective.
  moves run(weighted_rows const& rows, graph::vertex_id* label, std::uint32_t max_rounds = 1000,
            move_rules rules = {}) {
    if (rules.map_equation) return repeat(rows, label, max_rounds, rules, find_flows(rows, label, rules));
    if (rules.quadratic.chance == 0) rules.quadratic = {total_, 1};
    return repeat(rows, label, max_rounds, rules, rules.quadratic);
  }

 private:
  // Rounds; they continue only if 1/32 of the first vertices move in a window.
  static constexpr std::uint32_t window = 16;
  static constexpr unsigned most_at_once = 4;
  [[nodiscard]] static std::size_t places(std::size_t n, std::uint64_t arcs) { return arcs + arcs / 2 + n + 1; }

  // The tables are accessed at random, so they are on the device. Tables that were made for as many places are kept.
  void reserve_tables(std::size_t n, std::uint64_t wanted) {
    std::uint64_t size = wanted;
    if (space_.manager() != nullptr) {
      constexpr std::size_t bytes = sizeof(graph::vertex_id) + sizeof(std::uint32_t);
      std::uint64_t const least = std::min(wanted, 2 * longest_table(n));
      size = std::min(table_label_.size(), table_weight_.size());
      if (size < least || wanted > tables_for_)
        size = std::max(least, std::min<std::uint64_t>(wanted, space_.manager()->room_for_arrays() / 2 / bytes));
      if (size < wanted) cuts_.reserve(windows_for(n, wanted, size));
    }
    table_label_.reserve(size);
    table_weight_.reserve(size);
    tables_for_ = std::max(tables_for_, wanted);
  }
  [[nodiscard]] static std::uint64_t longest_table(std::size_t n) { return places(1, n); }
  // Places from one window to the next, as a table that begins in a window may end after it.
  [[nodiscard]] static std::uint64_t step_of_windows(std::size_t n, std::uint64_t size) {
    return size - longest_table(n);
  }
  [[nodiscard]] static std::size_t windows_for(std::size_t n, std::uint64_t all, std::uint64_t size) {
    return (all - 1) / step_of_windows(n, size) + 1;
  }
  // As many tables at a time as fit.
  void cut_windows(std::size_t n, std::uint64_t arcs) {
    windows_.assign(1, {0, static_cast<graph::vertex_id>(n), 0});
    std::uint64_t const all = places(n, arcs);
    std::uint64_t const size = table_weight_.size();
    if (all <= size) return;
    std::size_t const count = windows_for(n, all, size);
    exec::for_each(
        space_, count,
        cut_tables{offsets_.data(), static_cast<graph::vertex_id>(n), step_of_windows(n, size), cuts_.data()});
    windows_ = exec::copy_out(space_, cuts_.data(), count);
  }
  map_objective find_flows(weighted_rows const& rows, graph::vertex_id const* label, move_rules const& rules) {
    std::size_t const n = rows.g.vertices();
    reserve_flows(n);
    exec::for_each(space_, n, find_outside{rows, degree_.data(), outside_.data()});
    space_.fill(exits_.data(), 0, n * sizeof(std::uint64_t));
    vertex_list<Space>& all = lists_[(turn_ + 1) % 2];
    all.fill(rows.g);
    for_each_item<8>(space_, all.view(), add_up_exits{rows, label, exits_.data()});
    map_objective objective{outside_.data(), exits_.data(), bulk_.sum(exits_.data(), n), rules.terms};
    if (rules.within == nullptr) return objective;
    for (auto* values : {&books_, &saved_books_}) values->reserve(n);
    book_marks_.reserve(n);
    space_.fill(books_.data(), 0, n * sizeof(std::uint64_t));
    space_.fill(book_marks_.data(), 0, n * sizeof(std::uint32_t));
    for_each_item<8>(space_, all.view(), add_up_exits{rows, rules.within, books_.data()});
    exec::for_each(space_, n, add_up_books{exits_.data(), rules.within, books_.data()});
    objective.within = rules.within;
    objective.books = books_.data();
    return objective;
  }
  void clear_tables(std::size_t n, std::uint64_t arcs) {
    if constexpr (exec::has_tiles<Space>) {
      std::uint64_t const size = std::min<std::uint64_t>(places(n, arcs), table_weight_.size());
      space_.fill(table_label_.data(), 0xff, size * sizeof(graph::vertex_id));
      space_.fill(table_weight_.data(), 0, size * sizeof(std::uint32_t));
      cut_windows(n, arcs);
    } else {
      (void)host_tables_.cleared();
    }
  }
  template <class Objective>
  moves repeat(weighted_rows const& rows, graph::vertex_id* label, std::uint32_t max_rounds, move_rules const& rules,
               Objective objective) {
    std::uint64_t const* const mass = rules.mass == nullptr ? degree_.data() : rules.mass;
    std::size_t const n = rows.g.vertices();
    space_.fill(traffic_.data(), 0, n * sizeof(std::uint64_t));
    space_.fill(proposal_.data(), 0, n * sizeof(move_proposal));
    clear_tables(n, rows.g.arcs());
    lists_[(turn_ + 1) % 2].clear(rows.g);
    move_round r{rows,
                 mass,
                 label,
                 compute_volumes(mass, label, n),
                 traffic_.data(),
                 offsets_.data(),
                 table_label_.data(),
                 table_weight_.data(),
                 {0, static_cast<graph::vertex_id>(n), 0},
                 proposal_.data(),
                 result_.data(),
                 0,
                 move_proposal::max_refused,
                 rules};
    moves done{0, false};
    std::uint32_t left = now().size();
    std::uint64_t const few = left / 32;
    std::uint64_t before = 0;
    unsigned at_once = 1;
    while (left > 0 && r.number < max_rounds) {
      if (rules.exhaustive) {
        // As few vertices refuse each other's moves less often, waiting would only take time.
        r.most_refused = std::min<std::uint32_t>(move_proposal::max_refused, std::bit_width(left) - 1);
      } else if (r.number % window == 0 && r.number > 0) {
        if (done.count - before <= few) break;
        before = done.count;
      }
      // The host reads the result of several rounds at once if each of them has few vertices.
      unsigned const rounds = std::min({at_once, window - r.number % window, max_rounds - r.number});
      space_.fill(result_.data(), 0, result_.bytes());
      std::uint32_t moved = 0;
      for (unsigned i = 0; i < rounds; ++i, ++r.number) moved = round(r, objective, left);
      if constexpr (!std::is_same_v<Objective, map_objective>) moved = exec::read(space_, &result_.data()->moved);
      done.count += moved;
      left = now().size();
      bool const reads_each = std::is_same_v<Objective, map_objective>;
      at_once = reads_each || left > few ? 1 : std::min(2 * at_once, most_at_once);
    }
    done.ended = left == 0 || r.number < max_rounds;
    return done;
  }
  // Calls f(tile, item) for all items, of which there are about `items`: with wide tiles, where these are few, or rows
  // are long. The items that take longest are the parts of the rows of hubs.
  template <class F>
  void for_each(move_round const& r, frontier const& from, std::uint32_t items, F const& f) {
    if constexpr (exec::has_tiles<Space>) {
      std::size_t const tiles_at_once = space_.lanes_for(from.size) / Space::template tile_size<32>;
      std::uint64_t const mean_degree = r.rows.g.arcs() / r.rows.g.vertices();
      if (items <= 2 * tiles_at_once * std::max<std::uint64_t>(1, mean_degree / 8))
        return for_each_item_wide(space_, from, f);
    }
    for_each_item<8>(space_, from, f);
  }
  // Returns the number of moves of the map equation; others are added up in result_. items: about the number of those
  // in now().
  template <class Objective>
  std::uint32_t round(move_round const& r, Objective& objective, std::uint32_t items) {
    frontier const from = now().view();
    vertex_list<Space>& next = lists_[(turn_ + 1) % 2];
    if constexpr (exec::has_tiles<Space>) {
      if (has_hubs_) for_each_item<32>(space_, from, begin_round{r, from});
      for (table_window const& window : windows_) {
        move_round of_window = r;
        of_window.window = window;
        if (has_hubs_) {
          for_each(r, from, items, gather_links{of_window});
          for_each(r, from, items, find_gains<Objective>{of_window, objective});
          for_each(r, from, items, find_targets<Objective>{of_window, objective});
        } else {
          for_each(r, from, items, propose_move<Objective>{of_window, objective, from});
        }
      }
    } else {
      for_each_item<32>(space_, from, begin_round{r, from});
      for_each_item<8>(space_, from, propose_on_host<Objective>{r, objective, host_tables_.view()});
    }
    for_each_item<32>(space_, from, gather_traffic{r});
    if constexpr (std::is_same_v<Objective, map_objective>)
      for_each_item<32>(space_, from, save_modules{r, objective, saved()});
    for_each_item<32>(space_, from, decide_moves<Objective>{r, objective});
    std::uint32_t moved = 0;
    if constexpr (std::is_same_v<Objective, map_objective>) moved = change_flows(r, from, objective);
    for_each_item<32>(space_, from, apply_moves{r});
    next.reset_size();
    for_each(r, from, items, list_next{r, next.view()});
    ++turn_;
    return moved;
  }
  [[nodiscard]] saved_modules saved() const {
    return {saved_volume_.data(), saved_exits_.data(), saved_books_.data(), book_marks_.data()};
  }
  // Changes exits, or undoes the moves that were decided. Returns their number, or 0.
  std::uint32_t change_flows(move_round const& r, frontier const& from, map_objective& objective) {
    for_each_item<8>(space_, from, change_exits{r, objective});
    for_each_item<32>(space_, from, compare_costs{r, objective, saved()});
    round_result const got = exec::read(space_, result_.data());
    // If sets have indices of their own, the cost includes them, and got.exits is 0.
    std::uint64_t const exits = objective.all_exits + got.exits;
    if (static_cast<std::int64_t>(got.cost) + objective.terms.index(exits) <
        objective.terms.index(objective.all_exits)) {
      objective.all_exits = exits;
      return got.moved;
    }
    for_each_item<32>(space_, from, undo_moves{r, objective, saved()});
    return 0;
  }

  Space space_;
  typename Space::bulk bulk_;
  row_offsets<Space> offsets_;
  std::uint64_t total_ = 0;
  unsigned turn_ = 0;
  exec::large_buffer<std::uint64_t, Space> degree_;
  exec::large_buffer<std::uint64_t, Space> volume_;
  exec::large_buffer<std::uint64_t, Space> traffic_;
  exec::buffer<graph::vertex_id, Space> table_label_;
  exec::buffer<std::uint32_t, Space> table_weight_;
  exec::buffer<table_window, Space> cuts_;
  std::uint64_t tables_for_ = 0;  // places of all rows for which there have been tables
  std::vector<table_window> windows_;
  label_tables<std::uint32_t, Space> host_tables_;
  exec::large_buffer<move_proposal, Space> proposal_;
  exec::large_buffer<std::uint64_t, Space> outside_;
  exec::large_buffer<std::uint64_t, Space> exits_;
  exec::large_buffer<std::uint64_t, Space> saved_volume_;
  exec::large_buffer<std::uint64_t, Space> saved_exits_;
  exec::large_buffer<std::uint64_t, Space> books_;
  exec::large_buffer<std::uint64_t, Space> saved_books_;
  exec::large_buffer<std::uint32_t, Space> book_marks_;
  exec::buffer<round_result, Space> result_;
  bool has_hubs_ = false;  // on a device: whether a row has several parts
  vertex_list<Space> lists_[2];
};

}  // namespace wyrm::algorithms::detail
