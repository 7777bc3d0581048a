// SPDX-License-Identifier: Apache-2.0
// The near-far method for shortest paths (Davidson, Baxter, Garland, Owens, "Work-Efficient Parallel GPU Methods for
// Single-Source Shortest Paths", IPDPS 2014), which is delta-stepping (Meyer and Sanders, J. Algorithms 2003) with two
// buckets. A vertex whose distance falls below a limit is near: its arcs are relaxed in the next round. The others wait
// in the far pile. When no vertex is near, the limit rises, and the pile is split by it.
//
// The limit rises on the device, so the host enqueues many rounds and splits before it waits; and a team of tiles does
// many of them in one launch while they are small (rounds.hpp). The limit rises from the least distance in the pile by
// delta, which adapts (delta_rules): it doubles if rounds had too few vertices to keep all lanes busy, or on a CPU if
// splits cost more than rounds, and is halved if they had many, as a smaller delta relaxes fewer arcs of distances that
// are not final.
//
// The pile contains every vertex whose distance is finite and not below the limit: such a distance was written by a
// lane that then added the vertex. It may also contain vertices that have become near since; a split drops them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <limits>
#include <type_traits>

#include "../../exec/atomic.hpp"
#include "../../exec/load.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

// A distance is stored as the bits of a double: those of doubles that are not negative have the same order, and the
// minimum of integers is one atomic operation.
[[nodiscard]] WYRM_HD inline std::uint64_t bits_of(double distance) {
  return cuda::std::bit_cast<std::uint64_t>(distance);
}
[[nodiscard]] WYRM_HD inline double distance_of(std::uint64_t bits) { return cuda::std::bit_cast<double>(bits); }
inline constexpr std::uint64_t infinite_bits = 0x7ff0000000000000;

/// The lengths of the arcs out of a vertex: their weights, or 1 each.
class length_row {
 public:
  WYRM_HD length_row(graph::packed_record const& row, graph::number_type type) : weights_(row, type) {}
  [[nodiscard]] WYRM_HD double operator[](std::uint32_t i) const {
    return weights_.type == graph::number_type::none ? 1 : weights_.weight(i);
  }

 private:
  value_row weights_;
};

/// In device memory; the host reads it.
struct near_far_state {
  std::uint64_t limit;      // of near vertices
  std::uint64_t before;     // the limit before the last split
  std::uint64_t least_far;  // no vertex of the far pile is nearer
  double delta;
  std::uint64_t items;     // of frontiers since the last split
  std::uint32_t rounds;    // with such items
  std::uint32_t far_size;  // entries of the far pile
  std::uint32_t to_split;  // entries of the list that is being split
  std::uint32_t turn;      // the index of the list that is the far pile
};

/// Vertices, each listed once. Distances fall and the limit rises, so a vertex that has been near never becomes far,
/// and keeps its mark.
struct far_pile {
  graph::vertex_id* lists[2];
  std::uint32_t* marks;
  near_far_state* state;

  /// The list that is the far pile; and the other one, which is being split. Without an index that is computed, so that
  /// a device keeps the object in registers.
  [[nodiscard]] WYRM_HD graph::vertex_id* list() const { return state->turn == 0 ? lists[0] : lists[1]; }
  [[nodiscard]] WYRM_HD graph::vertex_id const* list_to_split() const { return state->turn == 0 ? lists[1] : lists[0]; }
  /// Adds up to N vertices of each lane, unless they are in the pile, with their distances; collective.
  template <class Tile, unsigned N>
  WYRM_HD void add(Tile const& t, graph::vertex_id const (&v)[N], std::uint64_t const (&distance)[N],
                   bool const (&has)[N]) const {
    bool has_any = false;
    for (bool const h : has) has_any = has_any || h;
    if (!t.any(has_any)) return;
    frontier const marked{marks, nullptr, nullptr};
    bool is_new[N];
    for (unsigned k = 0; k < N; ++k) is_new[k] = has[k] && marked.set_mark(v[k]);
    keep(t, v, distance, has, is_new);
  }
  /// Lowers the least distance for up to N vertices of each lane, and lists those that are new; collective.
  template <class Tile, unsigned N>
  WYRM_HD void keep(Tile const& t, graph::vertex_id const (&v)[N], std::uint64_t const (&distance)[N],
                    bool const (&has)[N], bool const (&is_new)[N]) const {
    std::uint64_t least = infinite_bits;
    std::uint32_t mine = 0;
    for (unsigned k = 0; k < N; ++k) {
      if (has[k] && distance[k] < least) least = distance[k];
      mine += is_new[k] ? 1 : 0;
    }
    if (least < exec::load_recent(state->least_far))
      exec::atomic_ref<std::uint64_t>(state->least_far).fetch_min(least, exec::relaxed);
    std::uint32_t const below = exec::sum_below(t, mine);
    std::uint32_t const all = t.shfl(below + mine, Tile::size() - 1);
    if (all == 0) return;
    std::uint32_t first = 0;
    if (t.rank() == 0) first = exec::atomic_ref<std::uint32_t>(state->far_size).fetch_add(all, exec::relaxed);
    graph::vertex_id* at = list() + t.shfl(first, 0) + below;
    for (unsigned k = 0; k < N; ++k)
      if (is_new[k]) *at++ = v[k];
  }
};

/// Adds vertices to the far pile. A device lists each vertex in the call. A core collects vertices and the minimum of
/// their distances; flush() writes the rest.
template <class Tile>
class far_end {
 public:
  WYRM_HD explicit far_end(far_pile const& to) : to_(to) {}

  /// Like far_pile::add().
  template <unsigned N>
  WYRM_HD void add(Tile const& t, graph::vertex_id const (&v)[N], std::uint64_t const (&distance)[N],
                   bool const (&has)[N]) {
    if constexpr (Tile::size() == 1) {
      frontier const marked{to_.marks, nullptr, nullptr};
      for (unsigned k = 0; k < N; ++k)
        if (has[k]) keep(t, v[k], distance[k], true, marked.mark(v[k]));
    } else {
      to_.add(t, v, distance, has);
    }
  }
  /// Like far_pile::keep(), for one vertex of each lane.
  WYRM_HD void keep(Tile const& t, graph::vertex_id v, std::uint64_t distance, bool has, bool is_new) {
    if constexpr (Tile::size() == 1) {
      if (has && distance < least_) least_ = distance;
      if (!is_new) return;
      found_.vertices[found_.size++] = v;
      if (found_.is_full()) list();
    } else {
      graph::vertex_id const vertices[] = {v};
      std::uint64_t const distances[] = {distance};
      bool const are_kept[] = {has};
      bool const are_new[] = {is_new};
      to_.keep(t, vertices, distances, are_kept, are_new);
    }
  }
  WYRM_HD void flush(Tile const&) {
    if constexpr (Tile::size() == 1) {
      if (least_ < exec::load_recent(to_.state->least_far))
        exec::atomic_ref<std::uint64_t>(to_.state->least_far).fetch_min(least_, exec::relaxed);
      if (found_.size > 0) list();
    }
  }

 private:
  struct nothing {};
  WYRM_HD void list() {
    graph::vertex_id* const at =
        to_.list() + exec::atomic_ref<std::uint32_t>(to_.state->far_size).fetch_add(found_.size, exec::relaxed);
    for (std::uint32_t i = 0; i < found_.size; ++i) at[i] = found_.vertices[i];
    found_.size = 0;
  }

  far_pile const& to_;
  std::uint64_t least_ = infinite_bits;
  std::conditional_t<Tile::size() == 1, found_vertices, nothing> found_;
};

/// The near and the far vertices that a tile finds.
template <class Tile>
struct near_far_ends {
  frontier_end<Tile> near;
  far_end<Tile> far;
  WYRM_HD void flush(Tile const& t) {
    near.flush(t);
    far.flush(t);
  }
};

/// One tile per item of the near vertices: relaxes their arcs. A distance that falls while the arcs of its vertex are
/// relaxed adds the vertex to the next frontier, so a tile may use a distance of the beginning of the round.
struct relax_arcs {
  graph::graph_view g;
  graph::number_type type;
  std::uint64_t* distances;
  frontier now;
  frontier next;
  far_pile far;

  [[nodiscard]] WYRM_HD graph::packed_record const* rows() const { return g.out_records(); }
  WYRM_HD void start() const {
    far.state->items += *now.size;
    far.state->rounds += *now.size > 0 ? 1 : 0;
  }
  template <class Tile>
  WYRM_HD near_far_ends<Tile> begin(Tile const&) const {
    return {frontier_end<Tile>(g, next), far_end<Tile>(far)};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item, near_far_ends<Tile>& found) const {
    // All marks are cleared in this round, and none is set or read; so a core stores a word, which needs no lock.
    if constexpr (Tile::size() == 1)
      exec::atomic_ref<std::uint32_t>(now.marks[item.vertex / 32]).store(0, exec::relaxed);
    else if (t.rank() == 0 && item.part == 0)
      now.clear_mark(item.vertex);
    double const distance = distance_of(exec::load_recent(distances[item.vertex]));
    std::uint64_t const limit = far.state->limit;
    graph::packed_record const& record = g.out_records()[item.vertex];
    graph::neighbour_list const all{record.page(), record.degree};
    graph::neighbour_list const part = item.part_of(all);
    length_row const lengths(record, type);
    if constexpr (Tile::size() == 1)
      for (graph::vertex_id const v : part) exec::prefetch(distances + v);
    auto const begin = static_cast<std::uint32_t>(part.data - all.data);
    for_some_neighbours(t, g, part, item.vertex, [&]<unsigned N>(some_neighbours<N> const& some) {
      std::uint64_t through[N];
      std::uint64_t before[N];
      bool is_near[N];
      bool is_far[N];
      for (unsigned k = 0; k < N; ++k)
        through[k] = some.has[k] ? bits_of(distance + lengths[begin + some.at[k]]) : infinite_bits;
      for (unsigned k = 0; k < N; ++k) before[k] = exec::load_recent(distances[some.v[k]]);
      for (unsigned k = 0; k < N; ++k)
        if (through[k] < before[k])
          before[k] = exec::atomic_ref<std::uint64_t>(distances[some.v[k]]).fetch_min(through[k], exec::relaxed);
      bool has_any = false;
      for (unsigned k = 0; k < N; ++k) {
        is_near[k] = through[k] < before[k] && through[k] < limit;
        is_far[k] = through[k] < before[k] && through[k] >= limit;
        has_any = has_any || through[k] < before[k];
      }
      if (!t.any(has_any)) return;
      found.near.add(t, some.v, is_near);
      found.far.add(t, some.v, through, is_far);
    });
  }
};

/// When delta changes. By default it does not. Delta doubles where rounds since the last split had fewer than `few`
/// items on average, and where the far pile has more than `split_per_item` entries per item of these rounds. It is
/// halved where rounds had more than `many` items.
struct delta_rules {
  double few = 0;
  double many = std::numeric_limits<double>::infinity();
  double split_per_item = std::numeric_limits<double>::infinity();
};

/// One thread, when the far pile may have to be split: if no vertex is near, raises the limit.
struct plan_split {
  near_far_state* state;
  std::uint32_t const* near_size;
  delta_rules rules;
  WYRM_HD void operator()(std::size_t) const {
    near_far_state& s = *state;
    s.to_split = *near_size == 0 ? s.far_size : 0;
    if (s.to_split == 0) return;
    double const per_round = s.rounds > 0 ? static_cast<double>(s.items) / s.rounds : 0;
    double const items = static_cast<double>(s.items) + 1024;  // a small pile is split in no time
    if (per_round < rules.few || s.to_split > rules.split_per_item * items) s.delta *= 2;
    if (per_round > rules.many) s.delta /= 2;
    s.before = s.limit;
    std::uint64_t const raised = bits_of(distance_of(s.least_far) + s.delta);
    s.limit = raised > s.least_far ? raised : s.least_far + 1;  // the nearest vertex becomes near in any case
    s.least_far = infinite_bits;
    s.far_size = 0;
    s.turn ^= 1;
    s.items = 0;
    s.rounds = 0;
  }
};

/// A fixed number of tiles: moves vertices below the limit from the far pile to the list of near ones, which is empty.
struct split_far {
  graph::graph_view g;
  std::uint64_t const* distances;
  far_pile far;
  frontier near;
  std::size_t tiles;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    near_far_state const& s = *far.state;
    graph::vertex_id const* const list = far.list_to_split();
    near_far_ends<Tile> found{frontier_end<Tile>(g, near), far_end<Tile>(far)};
    if constexpr (Tile::size() == 1) {  // a share of consecutive entries
      std::size_t const end = std::size_t{s.to_split} * (tile + 1) / tiles;
      for (std::size_t i = std::size_t{s.to_split} * tile / tiles; i < end; ++i) {
        if (i + distance_ahead < end) exec::prefetch(distances + list[i + distance_ahead]);
        move(t, list[i], true, found);
      }
      found.flush(t);
    } else {
      for (std::size_t i = tile * Tile::size(); i < s.to_split; i += tiles * Tile::size()) {
        bool const has = i + t.rank() < s.to_split;
        move(t, has ? list[i + t.rank()] : 0, has, found);
      }
    }
  }

 private:
  static constexpr std::size_t distance_ahead = 16;
  template <class Tile>
  WYRM_HD void move(Tile const& t, graph::vertex_id v, bool has, near_far_ends<Tile>& found) const {
    near_far_state const& s = *far.state;
    std::uint64_t const distance = distances[v];
    bool const is_far = has && distance >= s.limit;
    found.near.append(t, v, has && !is_far && distance >= s.before);
    found.far.keep(t, v, distance, is_far, is_far);
  }
};

/// The same work as relax_arcs, in rounds of a team, which splits the far pile if it is not large.
struct relax_near : relax_arcs {
  static constexpr std::uint32_t most_of_lane = 4;  // entries of the pile, for each lane of the team
  delta_rules rules;
  template <class Tile, class Team>
  [[nodiscard]] WYRM_HD bool refill(Tile const& t, Team const& team, frontier const& near) const {
    std::uint32_t const size = far.state->far_size;
    if (size == 0 || size > most_of_lane * team.tiles() * Tile::size()) return false;
    team.sync();  // all tiles have the size
    if (team.rank() == 0 && t.rank() == 0) plan_split{far.state, near.size, rules}(0);
    team.sync();
    split_far{g, distances, far, near, team.tiles()}(t, team.rank());
    team.sync();
    return true;
  }
};

/// One thread per vertex: the distance of all but the source is infinite.
struct begin_distances {
  std::uint64_t* distances;
  graph::vertex_id source;
  WYRM_HD void operator()(std::size_t v) const { distances[v] = v == source ? 0 : infinite_bits; }
};

/// One lane: the source is near.
struct begin_at {
  graph::graph_view g;
  graph::vertex_id source;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t, bool valid) const {
    to.append(t, g, source, valid);
  }
};

/// A sample of the lengths of arcs: one out of each of equally spaced vertices, or -1 for those without arcs.
struct sample_lengths {
  static constexpr std::size_t size = 1024;
  graph::graph_view g;
  graph::number_type type;
  double* sample;
  WYRM_HD void operator()(std::size_t i) const {
    graph::packed_record const& row = g.out_records()[i * g.vertices() / size];
    std::uint32_t const any = static_cast<std::uint32_t>(i) * 2654435761u;
    sample[i] = row.degree > 0 ? length_row(row, type)[any % row.degree] : -1;
  }
};

}  // namespace wyrm::algorithms::detail
