// SPDX-License-Identifier: Apache-2.0
// The steps of an update after its plan, over the segments of a batch. Allocate: a lane a segment, so that a tile's
// requests are served together. Merge: a tile a segment, in place or into the new page, and many tiles for a hub.
// Release: the pages that were replaced. Nothing that a reader of the graph could see changes before all pages are
// there: where the status says that one could not be had, merge and release do nothing. No two segments share a vertex,
// so that a step's tiles never meet.
#pragma once

#include <cstdint>

#include "../exec/atomic.hpp"
#include "../exec/tile.hpp"
#include "in_place.hpp"
#include "page_size.hpp"
#include "plan.hpp"
#include "segments.hpp"
#include "status.hpp"
#include "view.hpp"

namespace wyrm::graph::detail {

inline constexpr std::uint32_t hub_part = 512;  // neighbours of a hub that a tile copies

/// A hub that moves to another page.
struct hub {
  vertex_record from;
  vertex_id* to;
  std::uint32_t begin;       // in the batch
  std::uint32_t changed;     // see segment_plan
  std::uint32_t first_part;  // its parts are numbered from here on
};

/// Numbers for one hub more and for its parts: the hub's << 32 | the first part's.
WYRM_HD inline std::uint64_t claim_parts(update_status& status, unsigned which, std::uint32_t degree) {
  std::uint32_t const parts = (degree + hub_part - 1) / hub_part;
  return exec::atomic_ref<std::uint64_t>(status.hubs[which]).fetch_add(std::uint64_t{1} << 32 | parts, exec::relaxed);
}

/// The last of those, by ascending first parts, that begins at or before this part.
template <class Hub>
[[nodiscard]] WYRM_HD std::uint32_t hub_of_part(Hub const* hubs, std::uint32_t count, std::uint32_t part) {
  std::uint32_t first = 0;
  for (std::uint32_t n = count; n > 1;) {
    std::uint32_t const half = n / 2;
    if (hubs[first + half].first_part <= part) first += half;
    n -= half;
  }
  return first;
}

/// Allocates the pages that are still missing, and sums up the bytes of those that could not be had. For tests none is
/// to be had for segments from `fails_from` on, those of the first table counted before those of the second.
/// Where `movers` lists whose may be missing, a tile takes every so many, as many lanes as there are.
template <operation Op, class AllocatorRef>
struct allocate_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  static constexpr std::size_t grain = exec::one_thread;
  AllocatorRef allocator;
  segment const* segments;
  packed_record const* records;
  segment_plan* plans;
  hub* hubs;
  update_status* status;
  unsigned which;
  std::uint64_t fails_from;
  bool may_stay;                // a vertex that gets no page stays in its own if that has room
  std::uint32_t const* movers;  // nullptr: any may need one
  std::size_t lanes;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool /*valid*/) const {
    if (status->is_refused()) return;
    std::uint32_t const n = movers == nullptr ? status->segments(which) : status->movers(which);
    for (; t.any(i < n); i += lanes) allocate(t, i >= n || movers == nullptr ? i : movers[i], i < n);
  }

 private:
  template <class Tile>
  WYRM_HD void allocate(Tile const& t, std::size_t s, bool valid) const {
    segment_plan const plan = valid ? plans[s] : no_change();
    std::size_t const wanted = is_capacity(plan.capacity) && plan.page == nullptr ? page_bytes(plan.capacity) : 0;
    if (!t.any(wanted > 0)) return;
    bool const asks = s + (which > 0 ? status->segments(0) : 0) < fails_from && !status->is_exhausted(t);
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, asks ? wanted : 0));
    bool const stays = may_stay && wanted > 0 && page == nullptr && has_room(segments[s], plan.changed);
    if (page != nullptr) {
      plans[s].page = page;
      note_hub(segments[s], plan.changed, page);
    } else if (asks && wanted > 0 && !stays) {
      status->note_exhaustion();
    }
    if (Op == operation::erase) return;  // goes on in the old page
    std::uint64_t const failed = exec::sum(t, std::uint64_t{wanted > 0 && page == nullptr && !stays ? wanted : 0});
    if (t.rank() == 0 && failed > 0) add(status->failed_bytes, failed);
  }
  // For the neighbours that the vertex will have.
  [[nodiscard]] WYRM_HD bool has_room(segment const& g, std::uint32_t changed) const {
    vertex_record const r = records[g.source];
    return degree_after<Op>(r.degree, changed) <= r.capacity;
  }
  WYRM_HD void note_hub(segment const& g, std::uint32_t changed, vertex_id* page) const {
    vertex_record const r = records[g.source];
    std::uint32_t const degree = degree_after<Op>(r.degree, changed);
    if (!is_hub(r.degree, degree)) return;
    std::uint64_t const at = claim_parts(*status, which, degree);
    hubs[at >> 32] = {r, page, g.begin, changed, static_cast<std::uint32_t>(at)};
  }
};

/// A tile a segment, and then a tile a part of a hub. Sparse: a lane a segment, a tile a heavy change. A thread on its
/// own: some movers.
template <operation Op, bool Sparse>
struct merge_segments {
  static constexpr unsigned resident_blocks = Sparse ? 1 : 8;
  static constexpr std::size_t grain = 16;
  batch_view batch;
  packed_record* records;
  segment_plan* plans;
  hub const* hubs;
  update_status const* status;
  unsigned which;
  std::size_t tiles;            // launched
  std::uint32_t const* listed;  // sparse: the heavy changes; for a thread on its own: the movers; or nullptr

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    if (status->stops()) return;
    if constexpr (Sparse) {
      std::size_t const mine = s * Tile::size() + t.rank();
      if (mine < status->segments(which)) merge_alone(mine);
      for (std::size_t k = s; k < status->heavy_changes(which); k += tiles) merge(t, listed[k]);
    } else if (Tile::size() == 1 && listed != nullptr) {
      std::size_t const n = status->movers(which);
      for (std::size_t k = s * n / tiles; k < (s + 1) * n / tiles; ++k) merge(t, listed[k]);
    } else if (s < status->segments(which)) {
      merge(t, s);
    }
    for (std::size_t part = s; part < status->hub_parts(which); part += tiles)
      copy_part(t, static_cast<std::uint32_t>(part));
  }

 private:
  // Or needs none any more. Without a page to move to, an erasure goes on in the old page, and so does an insertion for
  // which that has room.
  [[nodiscard]] WYRM_HD static bool has_page_to_move_to(segment_plan const& plan) {
    return plan.capacity != keep && (plan.page != nullptr || plan.capacity == 0);
  }
  template <class Tile>
  WYRM_HD void merge(Tile const& t, std::size_t s) const {
    segment_plan const plan = plans[s];
    if (plan.changed == 0 || plan.capacity == done) return;
    segment const g = batch.segments[s];
    vertex_record const old = records[g.source];
    std::uint32_t const degree = degree_after<Op>(old.degree, plan.changed);
    bool const moves = has_page_to_move_to(plan);
    if (!moves && Op == operation::insert)
      insert_in_place(t, old, batch.targets + g.begin, batch.positions + g.begin, plan.changed);
    else if (!moves)
      erase_in_place(t, old, batch.positions + g.begin, plan.changed);
    else if (!is_hub(old.degree, degree))
      copy(t, old.page, g.begin, plan.changed, plan.page, 0, degree);
    t.sync();  // every lane has read the record
    if (t.rank() != 0) return;
    records[g.source] = vertex_record{moves ? plan.page : old.page, degree, moves ? plan.capacity : old.capacity};
    plans[s].page = moves ? old.page : nullptr;
  }

  // By one lane, unless it is a heavy change: whose tile may be at work on its page, record and plan.
  WYRM_HD void merge_alone(std::size_t s) const {
    if (plans[s].changed == 0 || plans[s].is_heavy != 0) return;
    segment_plan const plan = plans[s];
    segment const g = batch.segments[s];
    vertex_record const old = records[g.source];
    std::uint32_t const degree = degree_after<Op>(old.degree, plan.changed);
    bool const moves = has_page_to_move_to(plan);
    vertex_id* const page = moves ? plan.page : old.page;
    if (Op == operation::insert) {
      if (moves) copy_alone(old.page, page, old.degree);
      for (std::uint32_t k = 0; k < plan.changed; ++k)
        insert_alone(page, old.degree + k, batch.positions[g.begin + k], batch.targets[g.begin + k]);
    } else {
      for (std::uint32_t k = plan.changed; k-- > 0;)
        erase_alone(old.page, degree + k + 1, batch.positions[g.begin + k]);
      if (moves) copy_alone(old.page, page, degree);
    }
    records[g.source] = vertex_record{page, degree, moves ? plan.capacity : old.capacity};
    plans[s].page = moves ? old.page : nullptr;
  }

  // The parts of a hub do not look at its record, which may have changed by now.
  template <class Tile>
  WYRM_HD void copy_part(Tile const& t, std::uint32_t part) const {
    hub const from = hubs[hub_of_part(hubs, status->hub_count(which), part)];
    std::uint32_t const degree = degree_after<Op>(from.from.degree, from.changed);
    std::uint32_t const first = (part - from.first_part) * hub_part;
    std::uint32_t const last = degree - first < hub_part ? degree : first + hub_part;
    copy(t, from.from.page, from.begin, from.changed, from.to, first, last);
  }

  // Fills the new page from `first` to `last`.
  template <class Tile>
  WYRM_HD void copy(Tile const& t, vertex_id const* page, std::uint32_t begin, std::uint32_t n, vertex_id* to,
                    std::uint32_t first, std::uint32_t last) const {
    std::uint32_t const* const positions = batch.positions + begin;
    if constexpr (Tile::size() == 1) {
      copy_runs(page, begin, n, to, first, last);
    } else {
      for (std::uint32_t i = first + t.rank(); i < last; i += Tile::size()) {
        if (Op == operation::insert) {
          std::uint32_t const below = lower_bound(positions, n, i);
          to[i] = below < n && positions[below] == i ? batch.targets[begin + below] : page[i - below];
        } else {
          to[i] = page[i + gone_below(positions, n, i)];
        }
      }
    }
  }
  // The same by one thread, which moves what lies between two changes at once.
  WYRM_HD void copy_runs(vertex_id const* page, std::uint32_t begin, std::uint32_t n, vertex_id* to,
                         std::uint32_t first, std::uint32_t last) const {
    std::uint32_t const* const positions = batch.positions + begin;
    bool const inserts = Op == operation::insert;
    std::uint32_t k = inserts ? lower_bound(positions, n, first) : gone_below(positions, n, first);
    for (std::uint32_t i = first; i < last; ++k) {
      std::uint32_t const from = inserts ? i - k : i + k;
      std::uint32_t const next = k == n ? last : inserts ? positions[k] : positions[k] - k;
      std::uint32_t const end = next < last ? next : last;
      move_run(to + i, page + from, end - i);
      i = end;
      if (inserts && i < last) to[i++] = batch.targets[begin + k];
    }
  }

  // How many of n ascending positions in a page are gone before what is the i-th of those that stay.
  WYRM_HD static std::uint32_t gone_below(std::uint32_t const* positions, std::uint32_t n, std::uint32_t i) {
    std::uint32_t first = 0;
    while (n > 0) {
      std::uint32_t const half = n / 2;
      if (positions[first + half] - (first + half) <= i) {
        first += half + 1;
        n -= half + 1;
      } else {
        n = half;
      }
    }
    return first;
  }
};

/// Gives back the pages that the plans name: after a merge those that were replaced, and sums up what has changed;
/// otherwise, to undo it (after undo_changes), those that were allocated.
template <class AllocatorRef>
struct release_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  static constexpr std::size_t grain = exec::one_thread;
  AllocatorRef allocator;
  segment_plan* plans;
  update_status* status;
  unsigned which;
  bool undoes;
  std::uint32_t const* movers;  // if they are listed; then the batch is summed up already
  std::size_t lanes;

  /// Segments that a lane looks at; a thread on its own does so for more, as it shares an addition with nobody.
  template <unsigned Width>
  static constexpr std::uint32_t a_lane = Width == 1 ? 64 : 1;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t group, bool valid) const {
    if (!undoes && status->stops()) return;
    if (movers != nullptr)
      release_listed(t, group);
    else
      release_all(t, group, valid);
  }

 private:
  template <class Tile>
  WYRM_HD void release_listed(Tile const& t, std::size_t i) const {
    std::uint32_t const n = status->movers(which);
    for (; t.any(i < n); i += lanes) {
      vertex_id* const page = i < n ? plans[movers[i]].page : nullptr;
      allocator.deallocate(t, page);
      if (page != nullptr) plans[movers[i]].page = nullptr;
    }
  }
  template <class Tile>
  WYRM_HD void release_all(Tile const& t, std::size_t group, bool valid) const {
    std::size_t const first = group * a_lane<Tile::size()>;
    if (t.all(first >= status->segments(which))) return;
    std::uint64_t arcs = 0;
    std::uint64_t edges = 0;
    std::uint64_t distinct = 0;
    for (std::size_t s = first; s < first + a_lane<Tile::size()>; ++s) {
      bool const there = valid && s < status->segments(which);
      segment_plan const plan = there ? plans[s] : no_change();
      if (t.any(plan.page != nullptr)) allocator.deallocate(t, plan.page);
      if (plan.page != nullptr) plans[s].page = nullptr;
      arcs += plan.changed;
      edges += plan.edges;
      distinct += plan.distinct;
    }
    if (which > 0 || undoes) return;  // the second table has the same edges
    arcs = exec::sum(t, arcs);
    edges = exec::sum(t, edges);
    distinct = exec::sum(t, distinct);
    if (t.rank() == 0) status->sum_up(t, arcs, edges, distinct);
  }
};

}  // namespace wyrm::graph::detail
