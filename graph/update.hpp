// SPDX-License-Identifier: Apache-2.0
// The device side of an update, in four steps over the segments of a batch. Plan: a tile a segment finds which entries
// change the graph, and which page the vertex will need. Allocate: a lane a segment, so that a tile's requests are
// served together. Merge: a tile a segment, in place or into the new page. Release: the pages that were replaced.
// Nothing that a reader of the graph could see changes before all pages are there. No two segments share a vertex, so
// that a step's tiles never meet.
#pragma once

#include <cstdint>

#include "../exec/atomic.hpp"
#include "../exec/tile.hpp"
#include "batch.hpp"
#include "page_size.hpp"
#include "view.hpp"

namespace wyrm::graph::detail {

enum class operation : std::uint8_t { insert, erase };

inline constexpr std::uint32_t keep = 0xffffffff;  // as a capacity: the page stays

struct segment_plan {
  vertex_id* page;         // the page to allocate; after the merge, the page to release
  std::uint32_t capacity;  // of that page; `keep` if there is none to allocate
  std::uint32_t changed;   // entries that change the graph: the first of the segment's targets, or positions
  std::uint32_t edges;     // of these, the ones that count as edges (undirected: one of the two directions)
  std::uint32_t distinct;  // entries of the segment that count as edges
};

struct update_totals {
  std::uint64_t arcs;
  std::uint64_t edges;
  std::uint64_t distinct;
  std::uint64_t failed_bytes;
};

/// Insert: the targets that are new move to the front of the segment. Erase: the positions in the page of those that
/// are there go to the front of the segment's positions.
template <operation Op>
struct plan_segments {
  batch_view batch;
  vertex_record const* records;
  segment_plan* plans;
  bool undirected;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    vertex_id const v = batch.source(s);
    vertex_record const r = records[v];
    std::uint32_t const begin = batch.begin(s);
    std::uint32_t const end = batch.end(s);
    std::uint32_t changed = 0;
    std::uint32_t edges = 0;
    std::uint32_t distinct = 0;
    for (std::uint32_t base = begin; base < end; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      vertex_id const target = i < end ? batch.targets[i] : 0;
      std::uint32_t const at = i < end ? lower_bound(r.page, r.degree, target) : 0;
      bool const there = i < end && at < r.degree && r.page[at] == target;
      bool const changes = i < end && there == (Op == operation::erase);
      // All lanes have read their targets when the ballot returns; what is written lies at or before them.
      std::uint32_t const mask = t.ballot(changes);
      if (changes) {
        std::uint32_t const to = begin + changed + exec::rank_in(t, mask);
        if (Op == operation::insert)
          batch.targets[to] = target;
        else
          batch.positions[to] = at;
      }
      changed += static_cast<std::uint32_t>(cuda::std::popcount(mask));
      std::uint32_t const counted = t.ballot(i < end && (!undirected || v <= target));
      edges += static_cast<std::uint32_t>(cuda::std::popcount(mask & counted));
      distinct += static_cast<std::uint32_t>(cuda::std::popcount(counted));
    }
    if (t.rank() != 0) return;
    std::uint32_t const degree = Op == operation::insert ? r.degree + changed : r.degree - changed;
    std::uint32_t const capacity = changed == 0 || keeps_page(r.capacity, degree) ? keep : capacity_for(degree);
    plans[s] = {nullptr, capacity, changed, edges, distinct};
  }
};

struct sum_plans {
  segment_plan const* plans;
  update_totals* totals;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s, bool valid) const {
    std::uint64_t const arcs = exec::sum(t, std::uint64_t{valid ? plans[s].changed : 0});
    std::uint64_t const edges = exec::sum(t, std::uint64_t{valid ? plans[s].edges : 0});
    std::uint64_t const distinct = exec::sum(t, std::uint64_t{valid ? plans[s].distinct : 0});
    if (t.rank() != 0) return;
    exec::atomic_ref<std::uint64_t>(totals->distinct).fetch_add(distinct, exec::relaxed);
    if (arcs == 0) return;
    exec::atomic_ref<std::uint64_t>(totals->arcs).fetch_add(arcs, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(totals->edges).fetch_add(edges, exec::relaxed);
  }
};

/// Allocates the pages that are still missing, and sums up the bytes of those that could not be had. For tests none is
/// to be had for segments from `fails_from` on.
template <class AllocatorRef>
struct allocate_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  segment_plan* plans;
  update_totals* totals;
  std::uint64_t fails_from;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s, bool valid) const {
    segment_plan const plan = valid ? plans[s] : segment_plan{nullptr, keep, 0, 0, 0};
    std::size_t const wanted = plan.capacity != keep && plan.page == nullptr ? page_bytes(plan.capacity) : 0;
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, s < fails_from ? wanted : 0));
    if (page != nullptr) plans[s].page = page;
    std::uint64_t const failed = exec::sum(t, std::uint64_t{wanted > 0 && page == nullptr ? wanted : 0});
    if (t.rank() == 0 && failed > 0)
      exec::atomic_ref<std::uint64_t>(totals->failed_bytes).fetch_add(failed, exec::relaxed);
  }
};

template <operation Op>
struct merge_segments {
  batch_view batch;
  vertex_record* records;
  segment_plan* plans;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    segment_plan const plan = plans[s];
    if (plan.changed == 0) return;
    vertex_record& record = records[batch.source(s)];
    vertex_record const old = record;
    std::uint32_t const begin = batch.begin(s);
    // An erasure may go on in the old page when there is none to shrink into.
    bool const moves = plan.capacity != keep && (plan.page != nullptr || plan.capacity == 0);
    vertex_id* const to = moves ? plan.page : old.page;
    if (Op == operation::insert)
      insert(t, old, batch.targets + begin, batch.positions + begin, plan.changed, to);
    else if (!moves || plan.capacity != 0)
      erase(t, old, batch.positions + begin, plan.changed, to);
    t.sync();  // every lane has read the record
    if (t.rank() != 0) return;
    std::uint32_t const degree = Op == operation::insert ? old.degree + plan.changed : old.degree - plan.changed;
    record = {to, degree, moves ? plan.capacity : old.capacity};
    plans[s].page = moves ? old.page : nullptr;
  }

 private:
  // `added` are n ascending values, none of them in the page. Each value of the page moves up by the number of added
  // values below it. In place, from the end: a tile reads a block, then writes it at or behind where it was; what lies
  // behind has been moved before.
  template <class Tile>
  WYRM_HD static void insert(Tile const& t, vertex_record const& old, vertex_id const* added, std::uint32_t* positions,
                             std::uint32_t n, vertex_id* to) {
    for (std::uint32_t i = t.rank(); i < n; i += Tile::size())
      positions[i] = i + lower_bound(old.page, old.degree, added[i]);
    t.sync();
    if (to != old.page) {
      for (std::uint32_t i = t.rank(); i < old.degree; i += Tile::size())
        to[i + lower_bound(added, n, old.page[i])] = old.page[i];
    } else {
      std::uint32_t const first = positions[0];  // what lies before stays
      for (std::uint32_t end = old.degree; end > first;) {
        std::uint32_t const base = end - first > Tile::size() ? end - Tile::size() : first;
        std::uint32_t const i = base + t.rank();
        vertex_id const value = i < end ? old.page[i] : 0;
        std::uint32_t const shift = i < end ? lower_bound(added, n, value) : 0;
        t.sync();
        if (i < end) to[i + shift] = value;
        t.sync();
        end = base;
      }
    }
    for (std::uint32_t i = t.rank(); i < n; i += Tile::size()) to[positions[i]] = added[i];
  }

  // `removed` are n ascending positions in the page. The same, from the front.
  template <class Tile>
  WYRM_HD static void erase(Tile const& t, vertex_record const& old, std::uint32_t const* removed, std::uint32_t n,
                            vertex_id* to) {
    std::uint32_t const first = to == old.page ? removed[0] : 0;
    for (std::uint32_t base = first; base < old.degree; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      vertex_id const value = i < old.degree ? old.page[i] : 0;
      std::uint32_t const below = i < old.degree ? lower_bound(removed, n, i) : n;
      bool const stays = i < old.degree && (below == n || removed[below] != i);
      t.sync();
      if (stays) to[i - below] = value;
      t.sync();
    }
  }
};

/// Gives back the pages that the plans name.
template <class AllocatorRef>
struct release_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  segment_plan* plans;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s, bool valid) const {
    allocator.deallocate(t, valid ? plans[s].page : nullptr);
    if (valid) plans[s].page = nullptr;
  }
};

/// Empties a vertex and gives its page back.
template <class AllocatorRef>
struct clear_records {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  vertex_record* records;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    allocator.deallocate(t, valid ? records[v].page : nullptr);
    if (valid) records[v] = {nullptr, 0, 0};
  }
};

}  // namespace wyrm::graph::detail
