// SPDX-License-Identifier: Apache-2.0
// The first step of an update: determines which arcs of a source group change the graph, and which page the vertex
// needs. The visible state of the graph does not change. A tile plans a group. In a sparse batch most groups have one
// or two arcs, so most lanes of a tile would be idle. Therefore a lane plans each short group of a sparse batch, and
// tiles plan the long groups, which are listed. plan_large_groups.hpp plans groups that are too large for a tile to
// sort.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/page_size.hpp"
#include "../view.hpp"
#include "hubs.hpp"
#include "page_edit.hpp"

namespace wyrm::graph::detail {

// Special values of group_plan::capacity: the vertex keeps its page,
inline constexpr std::uint32_t keep = 0xffffffff;                 // which must still be changed;
inline constexpr std::uint32_t done = 0xfffffffe;                 // which has been changed;
inline constexpr std::uint32_t hub_in_place = 0xfffffffd;         // and must be put on the list of hubs;
inline constexpr std::uint32_t listed_hub_in_place = 0xfffffffc;  // and is on that list
[[nodiscard]] WYRM_HD constexpr bool is_capacity(std::uint32_t c) { return c < listed_hub_in_place; }

/// The common first members of all plans. Steps that depend on the allocator use only these, so they are compiled once.
struct plan_head {
  vertex_id* page;         // the page to allocate; after the merge, the page to release
  std::uint32_t capacity;  // of that page, or one of the special values above if there is none to allocate
  std::uint32_t changed;   // number of neighbours that are added or erased; in a mixed_plan: added
};

/// Whether the vertex moves to another page, or has no neighbours left and needs no page. Otherwise its page is changed
/// in place.
[[nodiscard]] WYRM_HD inline bool has_page_to_move_to(plan_head const& plan) {
  return plan.capacity != keep && (plan.page != nullptr || plan.capacity == 0);
}

/// The plan of a source group. Targets and positions of the arcs that change the graph are at the front of the group.
struct alignas(16) group_plan : plan_head {
  std::uint32_t edges;     // changes that count as edges (undirected: one of the two directions)
  std::uint32_t distinct;  // different arcs of the source group that count as edges
  std::uint32_t is_heavy;  // not 0: the group is in the list of heavy changes
  std::uint32_t replaced;  // not 0: `page` was replaced during the plan, and its capacity is replaced - 1

  WYRM_HD void add_to(update_status::sums& all) const {
    all.arcs += changed;
    all.edges += edges;
    all.distinct += distinct;
  }
};
[[nodiscard]] WYRM_HD constexpr group_plan no_change() { return {{nullptr, keep, 0}, 0, 0, 0, 0}; }

/// The plan of a source group of an entry_batch (update_kind::mixed). Ids, positions and values of added neighbours are
/// at the front of the group. Positions and values of neighbours whose values change are at its end, in descending
/// order. Positions of erased neighbours are at the front of entry_batch::erased.
struct alignas(16) mixed_plan : plan_head {
  std::uint32_t erased;  // numbers of neighbours
  std::uint32_t updated;
  std::uint32_t edges;  // numbers of edges (undirected: one of the two directions): added,
  std::uint32_t erased_edges;
  std::uint32_t updated_edges;
  std::uint32_t missing;   // to erase, but not in the graph
  std::uint32_t distinct;  // different edges of the group
  std::uint32_t is_heavy;  // as in group_plan

  [[nodiscard]] WYRM_HD bool changes() const { return (changed | erased | updated) != 0; }
  WYRM_HD void add_to(update_status::sums& all) const {
    all.arcs += std::uint64_t{changed} - erased;
    all.edges += edges;
    all.erased += erased_edges;
    all.updated += updated_edges;
    all.missing += missing;
    all.distinct += distinct;
  }
};

static_assert(sizeof(group_plan) == 32 && sizeof(mixed_plan) == 48);

/// The plans of a batch, of any kind.
class plan_list {
 public:
  plan_list(group_plan* plans, update_kind kind) : first_(plans), bytes_(sizeof(group_plan)), kind_(kind) {}
  explicit plan_list(mixed_plan* plans) : first_(plans), bytes_(sizeof(mixed_plan)), kind_(update_kind::mixed) {}

  [[nodiscard]] WYRM_HD plan_head& operator[](std::size_t s) const {
    return *reinterpret_cast<plan_head*>(reinterpret_cast<unsigned char*>(first_) + s * bytes_);
  }
  /// The number of neighbours that plan s erases.
  [[nodiscard]] WYRM_HD std::uint32_t erased(std::size_t s) const {
    if (kind_ == update_kind::mixed) return static_cast<mixed_plan const&>((*this)[s]).erased;
    return kind_ == update_kind::erase ? (*this)[s].changed : 0;
  }
  [[nodiscard]] WYRM_HD std::uint32_t added(std::size_t s) const {
    return kind_ == update_kind::erase ? 0 : (*this)[s].changed;
  }
  WYRM_HD void add_to(std::size_t s, update_status::sums& all) const {
    if (kind_ == update_kind::mixed)
      static_cast<mixed_plan const&>((*this)[s]).add_to(all);
    else
      static_cast<group_plan const&>((*this)[s]).add_to(all);
  }
  [[nodiscard]] WYRM_HD update_kind kind() const { return kind_; }

 private:
  plan_head* first_;
  std::uint32_t bytes_;  // of a plan
  update_kind kind_;
};

template <update_kind Op>
[[nodiscard]] WYRM_HD std::uint32_t degree_after(std::uint32_t degree, std::uint32_t changed) {
  return Op == update_kind::insert ? degree + changed : degree - changed;
}
[[nodiscard]] WYRM_HD inline std::uint32_t degree_after(std::uint32_t degree, mixed_plan const& plan) {
  return degree + plan.changed - plan.erased;
}
/// Whether a change takes too much work for one lane.
template <update_kind Op>
[[nodiscard]] WYRM_HD bool is_heavy(std::uint32_t degree, std::uint32_t changed) {
  constexpr std::uint32_t most = 32;  // maximum degree for one lane
  return changed > few || degree > most || degree_after<Op>(degree, changed) > most;
}

/// An arc of a source group that is ranked: its target, and its position in the page if it changes the graph.
struct ranked_arc {
  static constexpr std::uint32_t no_change = 0xffffffff;
  vertex_id target;
  std::uint32_t at;
};

/// Lists of source groups of a sparse batch, in any order; their lengths are in the status. With lists, work of one
/// kind is processed by full tiles instead of single lanes in many tiles.
struct group_lists {
  std::uint32_t* long_groups;    // groups of more than `few` arcs
  group_part* parts;             // parts of groups that are longer than a tile
  ranked_arc* ranked;            // sorted arcs of these groups; one entry per arc of the batch
  std::uint32_t* reallocations;  // groups whose vertices need another page, or need no page after the update
  std::uint32_t* heavy_changes;  // groups with heavy changes, see is_heavy
};

/// Appends source group s of each lane to the lists. Collective.
template <class Tile>
WYRM_HD void append(Tile const& t, group_lists const& lists, update_status& status, unsigned which, std::size_t s,
                    bool moves, bool is_heavy) {
  std::uint32_t const reallocations = t.ballot(moves);
  std::uint32_t const heavy = t.ballot(is_heavy);
  if ((reallocations | heavy) == 0) return;
  std::uint64_t at = 0;
  if (t.rank() == 0)
    at = exec::atomic_ref<std::uint64_t>(status.lists[which])
             .fetch_add(std::uint64_t{static_cast<std::uint32_t>(cuda::std::popcount(reallocations))} << 32 |
                            static_cast<std::uint32_t>(cuda::std::popcount(heavy)),
                        exec::relaxed);
  at = t.shfl(at, 0);
  if (moves) lists.reallocations[(at >> 32) + exec::rank_in(t, reallocations)] = static_cast<std::uint32_t>(s);
  if (is_heavy)
    lists.heavy_changes[static_cast<std::uint32_t>(at) + exec::rank_in(t, heavy)] = static_cast<std::uint32_t>(s);
}

/// What a vertex that changes does if its page has room: the capacity of another page of this size, or `keep` or
/// hub_in_place. in_place: see batch_view.
[[nodiscard]] WYRM_HD inline std::uint32_t capacity_with_room(vertex_record const& r, std::uint32_t degree, bool shared,
                                                              std::uint32_t in_place) {
  if (shared || r.degree > in_place || degree > in_place) return r.capacity;
  return is_hub(r.degree, degree) ? hub_in_place : keep;
}
/// The capacity of the page to allocate for a vertex with `changed` changes, whose page may be shared with a snapshot;
/// `keep`: none. in_place: see batch_view.
template <update_kind Op>
[[nodiscard]] WYRM_HD std::uint32_t capacity_to_allocate(vertex_record const& r, std::uint32_t changed, bool shared,
                                                         std::uint32_t in_place) {
  std::uint32_t const degree = degree_after<Op>(r.degree, changed);
  if (changed == 0) return keep;
  if (!keeps_page(r.capacity, degree)) return capacity_for(degree);
  return capacity_with_room(r, degree, shared, in_place);
}

struct found_arc {
  std::uint32_t at;  // the first neighbour that is not less than the target
  bool changes;      // whether the arc changes the graph
};
/// at: the lower bound of the target in the page.
template <update_kind Op>
[[nodiscard]] WYRM_HD found_arc found_at(vertex_record const& r, vertex_id target, std::uint32_t at) {
  bool const there = at < r.degree && r.page[at] == target;
  return {at, there == (Op == update_kind::erase)};
}
template <update_kind Op>
[[nodiscard]] WYRM_HD found_arc find_arc(vertex_record const& r, vertex_id target) {
  return found_at<Op>(r, target, lower_bound(r.page, r.degree, target));
}
/// The position of the target if the arc is not a duplicate and changes the graph; else ranked_arc::no_change.
template <update_kind Op>
[[nodiscard]] WYRM_HD std::uint32_t position_of_change(vertex_record const& r, vertex_id target, bool counts) {
  found_arc const found = counts ? find_arc<Op>(r, target) : found_arc{0, false};
  return found.changes ? found.at : ranked_arc::no_change;
}
/// Records an arc that changes the graph, as change k of the source group that begins at `begin`.
template <update_kind Op>
WYRM_HD void record_arc(batch_view const& batch, std::uint32_t begin, std::uint32_t k, vertex_id target,
                        std::uint32_t at) {
  if (Op == update_kind::insert) batch.targets[begin + k] = target;
  batch.positions[begin + k] = Op == update_kind::insert ? at + k : at;
}

/// Sorts n values; `spare` has room for n values. Returns the array that has the result. Collective. O(n log^2 n) work.
template <class Tile, class T>
[[nodiscard]] WYRM_HD T* sort(Tile const& t, T* values, T* spare, std::uint32_t n) {
  constexpr std::uint32_t width = Tile::size();
  if constexpr (width == 1)
    if (n <= 32) {  // insertion sort
      for (std::uint32_t i = 1; i < n; ++i) {
        T const mine = values[i];
        std::uint32_t at = i;
        for (; at > 0 && values[at - 1] > mine; --at) values[at] = values[at - 1];
        values[at] = mine;
      }
      return values;
    }
  // Sorts runs of as many values as the tile has lanes: each lane counts the values that precede its own.
  if constexpr (width > 1)
    for (std::uint32_t base = 0; base < n; base += width) {
      std::uint32_t const i = base + t.rank();
      T const mine = i < n ? values[i] : static_cast<T>(~T{0});  // no vertex has this id, so these are last
      std::uint32_t before = 0;
      for (std::uint32_t lane = 0; lane < width; ++lane) {
        T const other = t.shfl(mine, lane);
        before += other < mine || (other == mine && lane < t.rank());
      }
      if (i < n) values[base + before] = mine;
    }
  t.sync();
  // Merges pairs of runs repeatedly: the position of a value is its position in its run plus the number of values in
  // the other run that precede it.
  for (std::uint32_t run = width; run < n; run *= 2) {
    for (std::uint32_t i = t.rank(); i < n; i += width) {
      std::uint32_t const pair = i - i % (2 * run);
      bool const left = i - pair < run;
      std::uint32_t const other = left ? pair + run : pair;
      std::uint32_t const size = other >= n ? 0 : n - other < run ? n - other : run;
      T const mine = values[i];
      std::uint32_t const before = lower_bound(values + other, size, left ? mine : mine + 1);
      spare[(left ? i : i - run) + before] = mine;
    }
    t.sync();
    T* const sorted = spare;
    spare = values;
    values = sorted;
  }
  return values;
}

template <class T>
WYRM_HD void order(T& a, T& b) {
  T const less = a < b ? a : b;
  b = a < b ? b : a;
  a = less;
}
/// Sorts the values of one lane, without branches.
template <class T>
WYRM_HD void sort_few(T (&values)[few]) {
  static_assert(few == 4);
  order(values[0], values[1]);
  order(values[2], values[3]);
  order(values[0], values[2]);
  order(values[1], values[3]);
  order(values[1], values[2]);
}

/// lower_bound for n values at once, so that the memory accesses of the searches overlap.
template <std::uint32_t Most>
WYRM_HD void lower_bounds(vertex_id const* page, std::uint32_t degree, vertex_id const (&values)[Most], std::uint32_t n,
                          std::uint32_t (&at)[Most]) {
  for (std::uint32_t& a : at) a = 0;
  std::uint32_t left = degree;
  for (std::uint32_t half; left > 1; left -= half) {
    half = left / 2;
    for (std::uint32_t k = 0; k < Most; ++k)
      if (k < n) at[k] += static_cast<std::uint32_t>(page[at[k] + half - 1] < values[k]) * half;
  }
  if (left == 0) return;
  for (std::uint32_t k = 0; k < Most; ++k)
    if (k < n) at[k] += page[at[k]] < values[k];
}

/// Plans source groups. Insertion: writes the new targets, ascending, to the front of the source group, and their final
/// positions in the page to the front of its positions. Erasure: writes the positions in the page of the targets that
/// are present. Sparse: also fills the lists, and the sums that release_pages computes otherwise. Ranked: see
/// rank_arcs.
template <update_kind Op, bool Sparse, bool Ranked>
struct plan_groups {
  batch_view batch;
  packed_record* records;
  group_plan* plans;
  update_status* status;
  unsigned which;
  bool undirected;
  group_lists lists;
  snapshot_records newest;  // see is_shared

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    if (s < status->groups(which) && !status->is_refused()) plan(t, s);
  }
  template <class Tile>
  WYRM_HD void plan(Tile const& t, std::size_t s) const {
    source_group const g = batch.groups[s];
    vertex_record const r = records[g.source];
    group_plan plan = g.size <= Tile::size() ? plan_few(t, g, r) : plan_many(t, g, r);
    plan.capacity = capacity_to_allocate<Op>(r, plan.changed, is_shared(newest, g.source, r.page), batch.in_place);
    if constexpr (Sparse) {
      list(t, s, r, plan, t.rank() == 0);
      // The second table has the same edges.
      if (t.rank() == 0 && which == 0) status->sum_up(t, plan.changed, plan.edges, plan.distinct);
    }
    if (t.rank() == 0) plans[s] = plan;
  }
  /// Appends the planned source group of each valid lane to the lists to which it belongs. Collective.
  template <class Tile>
  WYRM_HD void list(Tile const& t, std::size_t s, vertex_record const& r, group_plan& plan, bool valid) const {
    plan.is_heavy = valid && plan.changed > 0 && is_heavy<Op>(r.degree, plan.changed);
    append(t, lists, *status, which, s, valid && plan.capacity != keep, plan.is_heavy != 0);
  }
  /// The plan for a short source group, by one lane.
  [[nodiscard]] WYRM_HD group_plan plan_short(source_group const& g, vertex_record const& r) const {
    vertex_id targets[few];
    for (std::uint32_t k = 0; k < few; ++k) targets[k] = k < g.size ? batch.targets[g.begin + k] : 0xffffffff;
    sort_few(targets);
    std::uint32_t at[few];
    lower_bounds(r.page, r.degree, targets, g.size, at);
    group_plan plan = no_change();
    for (std::uint32_t k = 0; k < few; ++k) {
      if (k >= g.size || (k > 0 && targets[k] == targets[k - 1])) continue;
      bool const changes = found_at<Op>(r, targets[k], at[k]).changes;
      bool const counted = !undirected || g.source <= targets[k];
      if (changes) record_arc<Op>(batch, g.begin, plan.changed, targets[k], at[k]);
      plan.changed += changes;
      plan.edges += changes && counted;
      plan.distinct += counted;
    }
    plan.capacity = capacity_to_allocate<Op>(r, plan.changed, is_shared(newest, g.source, r.page), batch.in_place);
    return plan;
  }

 private:
  WYRM_HD static found_arc find(vertex_record const& r, vertex_id target, bool valid) {
    return valid ? find_arc<Op>(r, target) : found_arc{0, false};
  }
  WYRM_HD static std::uint32_t number(std::uint32_t lanes) {
    return static_cast<std::uint32_t>(cuda::std::popcount(lanes));
  }
  // Plans a group with at most as many arcs as lanes. Without a sort: each lane counts the arcs that precede its own.
  template <class Tile>
  WYRM_HD group_plan plan_few(Tile const& t, source_group const& g, vertex_record const& r) const {
    bool const valid = t.rank() < g.size;
    vertex_id const target = valid ? batch.targets[g.begin + t.rank()] : 0;
    std::uint32_t before = 0;  // rank among all arcs, then among those that change the graph
    bool repeated = false;
    if constexpr (Tile::size() > 1)
      for (std::uint32_t lane = 0; lane < g.size; ++lane) {
        vertex_id const other = t.shfl(target, lane);
        before += other < target;
        repeated = repeated || (other == target && lane < t.rank());
      }
    bool const counts = valid && !repeated;
    auto const [at, changes] = find(r, target, counts);
    std::uint32_t const changing = t.ballot(changes);
    std::uint32_t const counted = t.ballot(counts && (!undirected || g.source <= target));
    for (std::uint32_t lanes = t.ballot(valid && !changes); lanes != 0; lanes &= lanes - 1)
      before -= t.shfl(target, exec::first_lane(lanes)) < target;
    if (changes) record_arc<Op>(batch, g.begin, before, target, at);
    return {{nullptr, keep, number(changing)}, number(changing & counted), number(counted), 0, 0};
  }

  template <class Tile>
  WYRM_HD group_plan plan_many(Tile const& t, source_group const& g, vertex_record const& r) const {
    vertex_id const* const sorted =
        Ranked ? nullptr : sort(t, batch.targets + g.begin, batch.positions + g.begin, g.size);
    group_plan plan = no_change();
    vertex_id last = 0xffffffff;  // last target of the previous block
    for (std::uint32_t base = 0; base < g.size; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      bool const valid = i < g.size;
      ranked_arc arc{0xffffffff, ranked_arc::no_change};
      if (Ranked && valid) arc = lists.ranked[g.begin + i];
      if (!Ranked && valid) arc.target = sorted[i];
      vertex_id const left = t.shfl(arc.target, t.rank() > 0 ? t.rank() - 1 : 0);
      bool const counts = valid && arc.target != (t.rank() > 0 ? left : last);
      last = t.shfl(arc.target, Tile::size() - 1);
      if constexpr (!Ranked) arc.at = position_of_change<Op>(r, arc.target, counts);
      bool const changes = arc.at != ranked_arc::no_change;
      // All lanes have read their targets when the ballot returns, and writes go to the same or lower positions.
      std::uint32_t const changing = t.ballot(changes);
      std::uint32_t const counted = t.ballot(counts && (!undirected || g.source <= arc.target));
      if (changes) record_arc<Op>(batch, g.begin, plan.changed + exec::rank_in(t, changing), arc.target, arc.at);
      plan.changed += number(changing);
      plan.edges += number(changing & counted);
      plan.distinct += number(counted);
    }
    return plan;
  }
};

/// One tile per part of a long source group of a sparse batch: ranks the arcs of the part among all arcs of the group,
/// and looks them up. So several tiles share the work on one vertex.
template <update_kind Op>
struct rank_arcs {
  batch_view batch;
  packed_record const* records;
  update_status const* status;
  unsigned which;
  group_lists lists;
  std::size_t tiles;  // number of launched tiles

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    if (status->is_refused()) return;
    for (std::size_t p = tile; p < status->group_parts[which]; p += tiles) rank(t, lists.parts[p]);
  }

 private:
  template <class Tile>
  WYRM_HD void rank(Tile const& t, group_part const& part) const {
    source_group const g = batch.groups[part.source_group];
    vertex_id const* const targets = batch.targets + g.begin;
    std::uint32_t const i = part.first + t.rank();
    bool const valid = i < g.size;
    vertex_id const target = valid ? targets[i] : 0xffffffff;
    std::uint32_t before = 0;
    bool repeated = false;  // whether an equal target precedes it
    for (std::uint32_t base = 0; base < g.size; base += Tile::size()) {
      std::uint32_t const block = base + t.rank();
      vertex_id const mine = block < g.size ? targets[block] : 0xffffffff;  // no vertex has this id
      for (std::uint32_t lane = 0; lane < Tile::size(); ++lane) {
        vertex_id const other = t.shfl(mine, lane);
        bool const again = other == target && base + lane < i;
        before += other < target || again;
        repeated = repeated || again;
      }
    }
    if (valid) lists.ranked[g.begin + before] = {target, position_of_change<Op>(records[g.source], target, !repeated)};
  }
};

/// Plans a sparse batch: the first long_tiles tiles plan the long source groups; each further tile processes as many
/// source groups as it has lanes, and each lane plans a short one.
template <update_kind Op, bool Ranked>
struct plan_sparse_groups {
  static constexpr unsigned resident_blocks = 4;
  plan_groups<Op, true, Ranked> step;
  std::size_t long_tiles;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    if (step.status->is_refused()) return;
    if (i < long_tiles) {
      for (std::size_t k = i; k < step.status->long_groups[step.which]; k += long_tiles)
        step.plan(t, step.lists.long_groups[k]);
    } else if (std::size_t const first = (i - long_tiles) * Tile::size(); first < step.status->groups(step.which)) {
      plan_short_groups(t, first + t.rank());
    }
  }

 private:
  template <class Tile>
  WYRM_HD void plan_short_groups(Tile const& t, std::size_t s) const {
    bool const valid = s < step.status->groups(step.which);
    source_group const g = valid ? step.batch.groups[s] : source_group{0, 0, 0};
    bool const is_short = valid && g.size <= few;
    vertex_record const r = is_short ? vertex_record(step.records[g.source]) : vertex_record{};
    group_plan plan = is_short ? step.plan_short(g, r) : no_change();
    step.list(t, s, r, plan, is_short);
    if (is_short) step.plans[s] = plan;
    std::uint32_t const arcs = exec::sum(t, plan.changed);
    std::uint32_t const edges = exec::sum(t, plan.edges);
    std::uint32_t const distinct = exec::sum(t, plan.distinct);
    if (t.rank() == 0 && step.which == 0) step.status->sum_up(t, arcs, edges, distinct);
  }
};

}  // namespace wyrm::graph::detail
