// SPDX-License-Identifier: Apache-2.0
// Algorithms that work in rounds: a round processes a frontier and fills the next one, until a frontier is empty. The
// host enqueues several rounds before it reads whether the last frontier is empty; rounds after the last non-empty
// frontier do nothing. Each vertex is in at most one frontier, over all calls of run(); or in any number of them, but
// in each at most once.
//
// On a device a launch takes longer than a round of a small frontier. So a team of tiles (exec/team.hpp) does many such
// rounds in one launch, until a frontier is empty, or is so large that a launch for it alone is faster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"

namespace wyrm::algorithms::detail {

/// In memory of the space. The frontiers of rounds take turns at these sizes.
struct frontier_sizes {
  std::uint32_t items[3];      // of the current frontier, the next one, and the one to reset, in turn
  std::uint32_t small_rounds;  // that the last team has done
  std::uint32_t has_parts[3];  // frontier::has_parts
};

/// Whether a team processes a frontier of so many items, of which it may get at most `limit`. LeavesHubs: whether it
/// leaves most frontiers with hubs, vertices in several parts, to launches for them alone.
template <bool LeavesHubs>
[[nodiscard]] WYRM_HD constexpr bool fits_team(std::uint32_t items, std::uint32_t has_parts, std::uint32_t limit) {
  return items <= (LeavesHubs && has_parts != 0 ? limit / 8 : limit);
}

inline constexpr unsigned has_parts_offset = 4;  // of frontier::has_parts from frontier::size
static_assert(offsetof(frontier_sizes, has_parts) == has_parts_offset * sizeof(std::uint32_t));

template <class Work>
struct work_of_round {
  Work work;
  std::uint32_t* spare;  // size of the previous frontier; reset, with has_parts, because the next round counts there
  WYRM_HD void start() const {
    *spare = 0;
    spare[has_parts_offset] = 0;
    if constexpr (requires { work.start(); }) work.start();
  }
  WYRM_HD graph::packed_record const* rows() const requires requires(Work const& w) { w.rows(); }
  { return work.rows(); }
  template <class Tile>
  WYRM_HD auto begin(Tile const& t) const requires requires(Work const& w) {
    w.begin(t);
  }
  { return work.begin(t); }
  template <class Tile, class... Own>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item, Own&... own) const {
    if constexpr (requires { Work::lanes_per_item; })
      work(t, item, own...);
    else
      work(t, *item, own...);
  }
};

/// F::lanes_per_item, see work_on(); 0 if there is no such member.
template <class F>
inline constexpr unsigned lanes_per_item = 0;
template <class F>
requires requires { F::lanes_per_item; }
inline constexpr unsigned lanes_per_item<F> = F::lanes_per_item;
template <class Work>
inline constexpr unsigned lanes_per_item<work_of_round<Work>> = lanes_per_item<Work>;

/// The frontiers of all rounds, which take turns at two lists and three sizes.
struct frontier_turns {
  std::uint32_t* marks[2];
  frontier_item* items[2];
  frontier_sizes* sizes;
  [[nodiscard]] WYRM_HD std::uint32_t* size(unsigned turn) const { return sizes->items + turn % 3; }
  [[nodiscard]] WYRM_HD frontier at(unsigned turn) const {
    return {marks[turn % 2], items[turn % 2], size(turn), size(turn) + has_parts_offset};
  }
};

/// The work of a round, from that of all rounds: sets the member `next`, and if there are such members, `now`, and the
/// number of the round by set_number(). If the work has a member before(now) or after(now), the round has three steps:
/// the object that before() returns, for each item; the work itself; the object that after() returns, with one lane per
/// item, and nullptr for lanes without an item. A member before_parts(now) instead of before(now): the object does
/// nothing for vertices in one part, and small rounds leave the first step out if all are in one part.
///
/// The work gets an item, and the object of before() or before_parts() a pointer to one, with a tile of 8 lanes. If
/// they have a member lanes_per_item, both get a pointer, with a tile of 32 lanes for one or several items, and nullptr
/// for lanes without one; see over_items. If the work has a member leaves_hubs, see fits_team().
template <class Work>
[[nodiscard]] WYRM_HD Work work_on(Work work, std::uint32_t number, frontier const& now, frontier const& next) {
  work.next = next;
  if constexpr (requires { work.now; }) work.now = now;
  if constexpr (requires { work.set_number(number); }) work.set_number(number);
  return work;
}

/// Work of a team: rounds from a turn on, while their frontiers have at least one and at most `limit` items; the sizes
/// receive their number. The part of the team does those of few items. If `work` has a member refill(t, team, now),
/// all tiles call it when the frontier `now` is empty. It returns whether it may have added items, the same in all
/// tiles, after a sync() in that case.
template <class Work>
struct small_rounds {
  frontier_turns turns;
  unsigned turn;
  Work work;
  std::uint32_t number;  // of the first round
  std::uint32_t limit;
  std::uint32_t most;  // rounds
  template <class Tile, class Team>
  WYRM_HD void operator()(Tile const& t, Team const& team) const {
    std::uint32_t const of_part = small_items_of_tile * team.tiles_of_part();
    std::uint32_t const few = limit < of_part ? limit : of_part;
    exec::atomic_ref<std::uint32_t> const shared(turns.sizes->small_rounds);
    std::uint32_t r = 0;
    for (;;) {
      r = run(t, team, r, few / 2, limit);  // half: so that the team and the part do not alternate
      std::uint32_t const left = items(r);
      if (left == 0 || !fits(r, left)) break;
      team.sync();  // all tiles have read the number of items
      if (team.in_part()) {
        r = run(t, team.part(), r, 0, few);
        if (team.part().rank() == 0 && t.rank() == 0) shared.store(r, exec::relaxed);
      }
      team.sync();
      r = shared.load(exec::relaxed);
    }
    if (team.rank() == 0 && t.rank() == 0) shared.store(r, exec::relaxed);
  }

 private:
  static constexpr bool leaves_hubs = requires { Work::leaves_hubs; };
  [[nodiscard]] WYRM_HD bool fits(std::uint32_t r, std::uint32_t items) const {
    return fits_team<leaves_hubs>(items, leaves_hubs ? *turns.at(turn + r).has_parts : 0, limit);
  }
  /// Of round r; 0 where the last round is done.
  [[nodiscard]] WYRM_HD std::uint32_t items(std::uint32_t r) const { return r < most ? *turns.size(turn + r) : 0; }
  /// Does rounds from round r on while they have more than `few` and at most `at_most` items, and fit a team. Returns
  /// the next one.
  template <class Tile, class Team>
  [[nodiscard]] WYRM_HD std::uint32_t run(Tile const& t, Team const& team, std::uint32_t r, std::uint32_t few,
                                          std::uint32_t at_most) const {
    while (r < most) {
      frontier const now = turns.at(turn + r);
      std::uint32_t const items = *now.size;
      if (items == 0) {
        if constexpr (requires { work.refill(t, team, now); })
          if (work.refill(t, team, now)) continue;
        break;
      }
      if (items <= few || items > at_most || !fits(r, items)) break;
      Work const of_round = work_on(work, number + r, now, turns.at(turn + r + 1));
      if constexpr (requires { of_round.before(now); }) {
        using before = decltype(of_round.before(now));
        static_assert((lanes_per_item<before> > 0) == (lanes_per_item<Work> > 0), "all tiles of a team have one size");
        step(t, team, now, of_round.before(now));
      }
      if constexpr (requires { of_round.before_parts(now); }) {
        using before = decltype(of_round.before_parts(now));
        static_assert((lanes_per_item<before> > 0) == (lanes_per_item<Work> > 0), "all tiles of a team have one size");
        if (*now.has_parts != 0) step(t, team, now, of_round.before_parts(now));
      }
      step(t, team, now, work_of_round<Work>{of_round, turns.size(turn + r + 2)});
      if constexpr (requires { of_round.after(now); }) step<1>(t, team, now, of_round.after(now));
      ++r;
    }
    return r;
  }
  template <unsigned Lanes = 0, class Tile, class Team, class F>
  WYRM_HD static void step(Tile const& t, Team const& team, frontier const& now, F const& f) {
    constexpr unsigned wanted = Lanes > 0 ? Lanes : lanes_per_item<F>;
    constexpr unsigned lanes = wanted > 0 ? wanted : Tile::size();
    over_items<lanes, F>{now.items, now.size, team.tiles(), f}(t, team.rank());
    team.sync();
  }
};

/// How often a vertex can be in a frontier. `again`: the frontiers have marks of their own in turn, and the work clears
/// the mark of each vertex of now() that it processes; other tiles may be adding the vertex to next() meanwhile.
enum class visits : std::uint8_t { once, again };

/// Owns the frontiers: 16 bytes per vertex, and 1/16 byte per arc. List: the class of their arrays. Their sizes may be
/// part of a state of the caller in memory of the space.
template <class Space, template <class, class> class List = exec::buffer>
class rounds {
 public:
  explicit rounds(Space const& space, visits how_often = visits::once)
      : rounds(space, how_often, exec::buffer<frontier_sizes, Space>(space, 1)) {
    sizes_ = own_sizes_.data();
  }
  rounds(Space const& space, frontier_sizes* sizes)
      : rounds(space, visits::once, exec::buffer<frontier_sizes, Space>(space)) {
    sizes_ = sizes;
  }

  /// Requests the memory for graphs with at most so many vertices and arcs. If all marks are clear, they stay so.
  /// Throws error(out_of_memory).
  void reserve(std::size_t vertices, std::uint64_t arcs) {
    words_ = (vertices + 31) / 32;
    if (marks_.size() < words()) {
      marks_.reserve(words());
      space_.fill(marks_.data(), 0, marks_.bytes());
    }
    for (list& items : items_) items.reserve(frontier::capacity(vertices, arcs));
  }
  /// Empties the frontiers, for a graph. Throws error(out_of_memory).
  void begin(graph::graph_view const& g) { begin(g.vertices(), g.arcs()); }
  /// The same for graphs with at most so many vertices and arcs.
  void begin(std::size_t vertices, std::uint64_t arcs) {
    reserve(vertices, arcs);
    space_.fill(marks_.data(), 0, marks_.bytes());  // also those of larger graphs
    clear();
  }
  /// Empties the frontiers; the marks stay.
  void clear() { space_.fill(sizes_, 0, sizeof(frontier_sizes)); }

  /// now(): the frontier that the next round processes; next(): the frontier that it fills.
  [[nodiscard]] frontier now() const { return turns().at(turn_); }
  [[nodiscard]] frontier next() const { return turns().at(turn_ + 1); }
  /// The number of items of now(). Waits.
  [[nodiscard]] std::uint32_t left() const { return exec::read(space_, turns().size(turn_)); }

  /// Launches f for all items of now(), as work_on() has it, which fills next(): a round.
  template <class F>
  void enqueue(F const& f) {
    step(now(), work_of_round<F>{f, turns().size(turn_ + 2)});
    turn_ = (turn_ + 1) % turns_of_period;
  }

  /// So many rounds, with `work` as for work_on(). `number` is that of the first one; returns the number
  /// after the last one.
  template <class Work>
  std::uint32_t enqueue(Work const& work, std::uint32_t number, unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i) {
      frontier const of = now();
      Work const of_round = work_on(work, number + i, of, next());
      if constexpr (requires { of_round.before(of); }) step(of, of_round.before(of));
      if constexpr (requires { of_round.before_parts(of); }) step(of, of_round.before_parts(of));
      enqueue(of_round);
      if constexpr (requires { of_round.after(of); }) for_each_item<32>(space_, of, of_round.after(of));
    }
    return number + rounds;
  }

  struct progress {
    std::uint32_t items;   // left(), after these rounds
    std::uint32_t rounds;  // that this call has done
  };
  /// Does rounds in one launch while now() has at least one and at most `limit` items, but at most `most` rounds, and
  /// waits. `number` is that of the first round, see work_on().
  template <class Work>
  progress do_small(Work const& work, std::uint32_t number, std::uint32_t limit,
                    std::uint32_t most = most_small_rounds) {
    if (!enqueue_small(work, number, limit, most)) return {left(), 0};
    return note_small(exec::read(space_, sizes_));
  }
  /// The same in two steps, without waiting: launches the rounds, and returns whether there is a team that does them.
  template <class Work>
  bool enqueue_small(Work const& work, std::uint32_t number, std::uint32_t limit,
                     std::uint32_t most = most_small_rounds) {
    if constexpr (exec::has_tiles<Space>)
      if (limit > 0) {
        exec::for_team<(lanes_per_item<Work> > 0 ? 32 : 8)>(
            space_, small_rounds<Work>{turns(), turn_, work, number, limit, most});
        return true;
      }
    return false;
  }
  /// After enqueue_small() has returned true: what it has done, by the sizes that the caller has read since. To be
  /// called before any other member.
  progress note_small(frontier_sizes const& seen) {
    turn_ += seen.small_rounds;
    turn_ %= turns_of_period;
    return {items_left(seen), seen.small_rounds};
  }
  /// left(), and whether a team processes that frontier, by sizes that the caller has read.
  [[nodiscard]] std::uint32_t items_left(frontier_sizes const& seen) const { return seen.items[turn_ % 3]; }
  template <class Work>
  [[nodiscard]] bool is_small(frontier_sizes const& seen, std::uint32_t limit) const {
    constexpr bool leaves_hubs = requires { Work::leaves_hubs; };
    return fits_team<leaves_hubs>(items_left(seen), seen.has_parts[turn_ % 3], limit);
  }

  /// Rounds until a frontier is empty, with `work` as for work_on(). `number` is that of the first round; returns the
  /// number of the round that would be the next one.
  template <class Work>
  std::uint32_t run(Work const& work, std::uint32_t number = 0) {
    for (unsigned at_once = 4;; at_once = std::min(2 * at_once, 16u)) {
      progress const seen = do_small(work, number, small_frontier(space_));
      number += seen.rounds;
      if (seen.items == 0) return number;
      if (seen.rounds > 0) at_once = 4;  // the next frontiers may be small, too
      number = enqueue(work, number, at_once);
    }
  }

 private:
  using list = List<frontier_item, Space>;
  rounds(Space const& space, visits how_often, exec::buffer<frontier_sizes, Space> own)
      : space_(space),
        how_often_(how_often),
        marks_(space),
        items_{list(space), list(space)},
        own_sizes_(std::move(own)) {}
  template <class F>
  void step(frontier const& of, F const& f) const {
    constexpr unsigned lanes = lanes_per_item<F>;
    if constexpr (lanes > 0)
      for_each_item_in_groups<lanes>(space_, of, f);
    else
      for_each_item<8>(space_, of, f);
  }
  // After so many rounds, lists and sizes have the same turn. An unsigned number of all rounds would wrap in the middle
  // of a period, after an hour or two of small rounds.
  static constexpr unsigned turns_of_period = 6;
  [[nodiscard]] std::size_t words() const { return how_often_ == visits::once ? words_ : 2 * words_; }
  [[nodiscard]] frontier_turns turns() const {
    std::uint32_t* const marks = marks_.data();
    return {{marks, how_often_ == visits::once ? marks : marks + words_}, {items_[0].data(), items_[1].data()}, sizes_};
  }

  Space space_;
  visits how_often_;
  std::size_t words_ = 0;  // of the marks of one frontier
  exec::buffer<std::uint32_t, Space> marks_;
  list items_[2];
  exec::buffer<frontier_sizes, Space> own_sizes_;  // unless they are the caller's
  frontier_sizes* sizes_ = nullptr;
  unsigned turn_ = 0;  // rounds so far, modulo turns_of_period
};

}  // namespace wyrm::algorithms::detail
