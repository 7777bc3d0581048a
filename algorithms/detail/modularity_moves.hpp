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
#include "hub_tables.hpp"
#include "move_round.hpp"
#include "objectives.hpp"
#include "propose_move.hpp"
#include "propose_on_host.hpp"
#include "thread_tables.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// Owns the memory of rounds: that of hub_tables (on a host 8 bytes per vertex for each thread), 3/32 byte per arc for
/// lists, about 75 per vertex, for the map equation 110.
template <class Space>
class modularity_moves {
 public:
  explicit modularity_moves(Space const& space)
      : space_(space),
        bulk_(space),
        tables_(space),
        degree_(space),
        volume_(space, exec::use_rate::high),
        traffic_(space, exec::use_rate::high),
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
        lists_{vertex_list<Space>(space), vertex_list<Space>(space)},
        chosen_(space),
        counters_(space, 5) {}

  /// Prepares rounds on rows, and lists all rows that are not empty in now(). Returns the sum of all degrees.
  std::uint64_t prepare(weighted_rows const& rows) {
    std::size_t const n = rows.g.vertices();
    reserve_lists(n, rows.g.arcs());
    if constexpr (exec::has_tiles<Space>) kinds_ = tables_.prepare(rows.g);
    space_.fill(degree_.data(), 0, n * sizeof(std::uint64_t));
    now().fill(rows.g);
    for_each_item<8>(space_, now().view(), add_up_rows{rows, degree_.data()});
    return total_ = bulk_.sum(degree_.data(), n);
  }
  /// Requests the memory for any graph with n vertices and this many arcs.
  void reserve(std::size_t n, std::uint64_t arcs) {
    reserve_lists(n, arcs);
    if constexpr (exec::has_tiles<Space>) tables_.reserve(n, arcs);
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
  void reserve_lists(std::size_t n, std::uint64_t arcs) {
    bulk_.reserve(n);
    degree_.reserve(n);
    volume_.reserve(n);
    traffic_.reserve(n);
    proposal_.reserve(n);
    if constexpr (!exec::has_tiles<Space>) host_tables_.reserve(n, arcs);
    for (vertex_list<Space>& list : lists_) list.reserve(n, arcs);
    chosen_.reserve(frontier::capacity(n, arcs));
  }
  static constexpr unsigned most_at_once = 4;
  static constexpr unsigned movers_list = 3;  // and the next; those before are lists of proposers
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
  template <class Objective>
  moves repeat(weighted_rows const& rows, graph::vertex_id* label, std::uint32_t max_rounds, move_rules const& rules,
               Objective objective) {
    std::uint64_t const* const mass = rules.mass == nullptr ? degree_.data() : rules.mass;
    std::size_t const n = rows.g.vertices();
    space_.fill(traffic_.data(), 0, n * sizeof(std::uint64_t));
    space_.fill(proposal_.data(), 0, n * sizeof(move_proposal));
    if constexpr (exec::has_tiles<Space>)
      tables_.clear();
    else
      (void)host_tables_.cleared();
    lists_[(turn_ + 1) % 2].clear(rows.g);
    space_.fill(counters_.data(), 0, counters_.bytes());
    move_round r{rows,
                 mass,
                 label,
                 compute_volumes(mass, label, n),
                 traffic_.data(),
                 proposal_.data(),
                 result_.data(),
                 0,
                 move_proposal::max_refused,
                 rules};
    moves done{0, false};
    std::uint32_t left = now().size();
    std::uint64_t const few = left / rules.few;
    std::uint64_t before = 0;
    unsigned at_once = 1;
    while (left > 0 && r.number < max_rounds) {
      if (rules.exhaustive) {
        // As few vertices refuse each other's moves less often, waiting would only take time.
        r.most_refused = std::min<std::uint32_t>(move_proposal::max_refused, std::bit_width(left) - 1);
      } else if (r.number % rules.window == 0 && r.number > 0) {
        if (done.count - before <= few) break;
        before = done.count;
      }
      // The host reads the result of several rounds at once if each of them has few vertices.
      unsigned const rounds = std::min({at_once, rules.window - r.number % rules.window, max_rounds - r.number});
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
  // Whether each item of about so many gets 32 lanes: where they are few, or more than a few rows are longer than
  // longest_small_row, because a tile of 8 lanes takes as long as its longest row.
  [[nodiscard]] bool has_wide_tiles(move_round const& r, std::uint32_t items) const {
    if constexpr (!exec::has_tiles<Space>) return false;
    if (64 * (std::uint64_t{kinds_.medium} + kinds_.hub) >= kinds_.small) return true;
    std::size_t const tiles_at_once = space_.lanes_for(counters_.data()) / Space::template tile_size<32>;
    std::uint64_t const mean_degree = r.rows.g.arcs() / r.rows.g.vertices();
    return items <= 2 * tiles_at_once * std::max<std::uint64_t>(1, mean_degree / 8);
  }
  template <class F>
  void for_each(bool wide, frontier const& from, F const& f) {
    if constexpr (exec::has_tiles<Space>)
      if (wide) return for_each_item_wide(space_, from, f);
    for_each_item<8>(space_, from, f);
  }
  // Lists of proposers or, when all have proposed moves, of vertices that move: so these may use the same room. The
  // sizes of each kind of lists are reset by a step that uses only the other kind.
  [[nodiscard]] frontier chosen(unsigned list, std::size_t first) {
    return {nullptr, chosen_.data() + first, counters_.data() + list};
  }
  // Vertices propose moves.
  template <class Objective>
  void propose(move_round const& r, Objective const& objective, frontier const& from, bool wide) {
    if constexpr (exec::has_tiles<Space>) {
      using small = propose_move<Objective, longest_small_row>;
      using medium = propose_move<Objective, frontier_item::part_size>;
      bool const all_medium = wide || kinds_.small == 0;
      if (kinds_.hub == 0 && all_medium)
        return for_each_item_with_memory<32, medium::bytes>(space_, from, medium{r, objective, from, true});
      if (kinds_.hub == 0 && kinds_.medium == 0)
        return for_each_item_with_memory<8, small::bytes>(space_, from, small{r, objective, from, true});
      proposers const to{chosen(0, 0), chosen(1, all_medium ? 0 : kinds_.small),
                         chosen(2, std::size_t{kinds_.small} + kinds_.medium), all_medium ? 0 : longest_small_row};
      for_each_item<32>(space_, from, begin_round{r, from, to});
      if (!all_medium)
        for_each_item_with_memory<8, small::bytes>(space_, to.small, small{r, objective, to.small, false});
      if (kinds_.medium > 0 || all_medium)
        for_each_item_with_memory<32, medium::bytes>(space_, to.medium, medium{r, objective, to.medium, false});
      if (kinds_.hub == 0) return;
      for (table_window const& window : tables_.windows()) {
        hub_tables_view const tables = tables_.view(window);
        for_each_item_with_memory<32, gather_links::bytes>(space_, to.hub, gather_links{r, tables});
        for_each_item_wide(space_, to.hub, find_gains<Objective>{r, objective, tables, to.hub.items});
      }
      for_each_item_wide(space_, to.hub, find_targets{r, tables_.best(), to.hub.items});
    } else {
      for_each_item<32>(space_, from, begin_round{r, from, {}});
      for_each_item<8>(space_, from, propose_on_host<Objective>{r, objective, host_tables_.view()});
    }
  }
  // Returns the number of moves of the map equation; others are added up in result_. items: about the number of those
  // in now().
  template <class Objective>
  std::uint32_t round(move_round const& r, Objective& objective, std::uint32_t items) {
    frontier const from = now().view();
    vertex_list<Space>& next = lists_[(turn_ + 1) % 2];
    bool const wide = has_wide_tiles(r, items);
    propose(r, objective, from, wide);
    frontier const movers = chosen(movers_list, 0);
    for_each_item<32>(space_, from, gather_traffic{r, next.view().size, movers.size});
    if constexpr (std::is_same_v<Objective, map_objective>)
      for_each_item<32>(space_, from, save_modules{r, objective, saved()});
    for_each_item<32>(space_, from, decide_moves<Objective>{r, objective});
    std::uint32_t moved = 0;
    if constexpr (std::is_same_v<Objective, map_objective>) moved = change_flows(r, from, objective);
    bool const has_hub_movers = exec::has_tiles<Space> && !wide && kinds_.hub > 0;
    frontier const hub_movers =
        has_hub_movers ? chosen(movers_list + 1, std::size_t{kinds_.small} + kinds_.medium) : movers;
    for_each_item<32>(space_, from, apply_moves{r, movers, hub_movers, next.view(), counters_.data()});
    for_each(wide, movers, list_next{r, next.view()});
    if (has_hub_movers) for_each(true, hub_movers, list_next{r, next.view()});
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
  hub_tables<Space> tables_;
  row_counts kinds_{};  // on a device
  std::uint64_t total_ = 0;
  unsigned turn_ = 0;
  exec::large_buffer<std::uint64_t, Space> degree_;
  exec::large_buffer<std::uint64_t, Space> volume_;
  exec::large_buffer<std::uint64_t, Space> traffic_;
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
  vertex_list<Space> lists_[2];
  exec::large_buffer<frontier_item, Space> chosen_;
  exec::buffer<std::uint32_t, Space> counters_;  // of the lists in chosen_
};

}  // namespace wyrm::algorithms::detail
