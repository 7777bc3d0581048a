// SPDX-License-Identifier: Apache-2.0
// The first step of an update: a tile a segment finds which of its arcs change the graph, and which page the vertex
// will need; it changes nothing that a reader could see. Segments that are larger than a tile should sort go another
// way, see skew.hpp.
#pragma once

#include <cstdint>

#include "../exec/tile.hpp"
#include "batch.hpp"
#include "page_size.hpp"
#include "status.hpp"
#include "view.hpp"

namespace wyrm::graph::detail {

enum class operation : std::uint8_t { insert, erase };

inline constexpr std::uint32_t keep = 0xffffffff;  // as a capacity: the page stays

struct segment_plan {
  vertex_id* page;         // the page to allocate; after the merge, the page to release
  std::uint32_t capacity;  // of that page; `keep` if there is none to allocate
  std::uint32_t changed;   // arcs that change the graph; their targets and positions stand first in the segment
  std::uint32_t edges;     // of these, the ones that count as edges (undirected: one of the two directions)
  std::uint32_t distinct;  // arcs of the segment that count as edges
};

/// A vertex with more neighbours than this, before or after, is a hub: it gets another page whatever changes, so that
/// many tiles can fill it.
inline constexpr std::uint32_t hub_degree = 512;

template <operation Op>
[[nodiscard]] WYRM_HD std::uint32_t degree_after(std::uint32_t degree, std::uint32_t changed) {
  return Op == operation::insert ? degree + changed : degree - changed;
}
[[nodiscard]] WYRM_HD inline bool is_hub(std::uint32_t before, std::uint32_t after) {
  return before > hub_degree || after > hub_degree;
}

/// The page to allocate for a vertex of which so many arcs change.
template <operation Op>
[[nodiscard]] WYRM_HD std::uint32_t capacity_to_allocate(vertex_record const& r, std::uint32_t changed) {
  std::uint32_t const degree = degree_after<Op>(r.degree, changed);
  if (changed == 0) return keep;
  if (!keeps_page(r.capacity, degree)) return capacity_for(degree);
  return is_hub(r.degree, degree) ? r.capacity : keep;
}

struct found_arc {
  std::uint32_t at;  // the first neighbour that is not less
  bool changes;      // the graph
};
template <operation Op>
[[nodiscard]] WYRM_HD found_arc find_arc(vertex_record const& r, vertex_id target) {
  std::uint32_t const at = lower_bound(r.page, r.degree, target);
  bool const there = at < r.degree && r.page[at] == target;
  return {at, there == (Op == operation::erase)};
}
/// Notes an arc that changes the graph, as the k-th of those of the segment that begins there.
template <operation Op>
WYRM_HD void note_arc(batch_view const& batch, std::uint32_t begin, std::uint32_t k, vertex_id target,
                      std::uint32_t at) {
  if (Op == operation::insert) batch.targets[begin + k] = target;
  batch.positions[begin + k] = Op == operation::insert ? at + k : at;
}

/// What a segment that comes later is about, to be asked for by a thread that has no others to hide the wait.
[[nodiscard]] WYRM_HD inline void const* page_of(batch_view const& batch, vertex_record const* records,
                                                 std::uint32_t segments, std::size_t s) {
  if (s >= segments) return nullptr;
  vertex_record const& r = records[batch.segments[s].source];
  return r.page + r.degree / 2;
}

/// Sorts n values; `spare` has room for as many. Returns which of the two has them then. Collective. O(n log^2 n) work.
template <class Tile>
[[nodiscard]] WYRM_HD vertex_id* sort(Tile const& t, vertex_id* values, vertex_id* spare, std::uint32_t n) {
  constexpr std::uint32_t width = Tile::size();
  if constexpr (width == 1)
    if (n <= 32) {  // by insertion
      for (std::uint32_t i = 1; i < n; ++i) {
        vertex_id const mine = values[i];
        std::uint32_t at = i;
        for (; at > 0 && values[at - 1] > mine; --at) values[at] = values[at - 1];
        values[at] = mine;
      }
      return values;
    }
  // Runs of as many values as the tile has lanes: each lane counts those that come before its own.
  if constexpr (width > 1)
    for (std::uint32_t base = 0; base < n; base += width) {
      std::uint32_t const i = base + t.rank();
      vertex_id const mine = i < n ? values[i] : 0xffffffff;  // no vertex has this id: these come last
      std::uint32_t before = 0;
      for (std::uint32_t lane = 0; lane < width; ++lane) {
        vertex_id const other = t.shfl(mine, lane);
        before += other < mine || (other == mine && lane < t.rank());
      }
      if (i < n) values[base + before] = mine;
    }
  t.sync();
  // Then pairs of runs, over and over: a value's place is its place in its run and the number of those of the other run
  // that come before it.
  for (std::uint32_t run = width; run < n; run *= 2) {
    for (std::uint32_t i = t.rank(); i < n; i += width) {
      std::uint32_t const pair = i - i % (2 * run);
      bool const left = i - pair < run;
      std::uint32_t const other = left ? pair + run : pair;
      std::uint32_t const size = other >= n ? 0 : n - other < run ? n - other : run;
      vertex_id const mine = values[i];
      std::uint32_t const before = lower_bound(values + other, size, left ? mine : mine + 1);
      spare[(left ? i : i - run) + before] = mine;
    }
    t.sync();
    vertex_id* const sorted = spare;
    spare = values;
    values = sorted;
  }
  return values;
}

/// Insertion: the targets that are new come to the front of the segment, ascending, and to the front of its positions
/// where they will stand in the page. Erasure: the positions in the page of those that are there.
template <operation Op>
struct plan_segments {
  batch_view batch;
  vertex_record const* records;
  segment_plan* plans;
  update_status const* status;
  unsigned which;
  bool undirected;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    if (s >= status->segments(which) || status->is_refused()) return;
    if constexpr (Tile::size() == 1) __builtin_prefetch(page_of(batch, records, status->segments(which), s + 16), 1);
    segment const g = batch.segments[s];
    vertex_record const r = records[g.source];
    segment_plan plan = g.size <= Tile::size() ? plan_few(t, g, r) : plan_many(t, g, r);
    plan.capacity = capacity_to_allocate<Op>(r, plan.changed);
    if (t.rank() == 0) plans[s] = plan;
  }

 private:
  WYRM_HD static found_arc find(vertex_record const& r, vertex_id target, bool valid) {
    return valid ? find_arc<Op>(r, target) : found_arc{0, false};
  }
  WYRM_HD static std::uint32_t number(std::uint32_t lanes) {
    return static_cast<std::uint32_t>(cuda::std::popcount(lanes));
  }
  // No more than the tile has lanes; nothing is sorted, each lane counts those that come before its own.
  template <class Tile>
  WYRM_HD segment_plan plan_few(Tile const& t, segment const& g, vertex_record const& r) const {
    bool const valid = t.rank() < g.size;
    vertex_id const target = valid ? batch.targets[g.begin + t.rank()] : 0;
    std::uint32_t before = 0;  // first of all arcs, then of those that change the graph
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
    if (changes) note_arc<Op>(batch, g.begin, before, target, at);
    return {nullptr, keep, number(changing), number(changing & counted), number(counted)};
  }

  template <class Tile>
  WYRM_HD segment_plan plan_many(Tile const& t, segment const& g, vertex_record const& r) const {
    vertex_id const* const sorted = sort(t, batch.targets + g.begin, batch.positions + g.begin, g.size);
    segment_plan plan{nullptr, keep, 0, 0, 0};
    vertex_id last = 0xffffffff;  // of the block before
    for (std::uint32_t base = 0; base < g.size; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      vertex_id const target = i < g.size ? sorted[i] : 0xffffffff;
      vertex_id const left = t.shfl(target, t.rank() > 0 ? t.rank() - 1 : 0);
      bool const counts = i < g.size && target != (t.rank() > 0 ? left : last);
      last = t.shfl(target, Tile::size() - 1);
      auto const [at, changes] = find(r, target, counts);
      // All lanes have read their targets when the ballot returns; what is written lies at or before them.
      std::uint32_t const changing = t.ballot(changes);
      std::uint32_t const counted = t.ballot(counts && (!undirected || g.source <= target));
      if (changes) note_arc<Op>(batch, g.begin, plan.changed + exec::rank_in(t, changing), target, at);
      plan.changed += number(changing);
      plan.edges += number(changing & counted);
      plan.distinct += number(counted);
    }
    return plan;
  }
};

}  // namespace wyrm::graph::detail
