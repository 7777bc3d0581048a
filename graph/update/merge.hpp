// SPDX-License-Identifier: Apache-2.0
// The third step of an update: a tile changes the page of a vertex in place, or fills the new page; several tiles fill
// the page of a hub. The visible state of the graph does not change before all pages are allocated: if the status says
// that an allocation has failed, merge and release do nothing. Source groups belong to different vertices, so tiles
// need no synchronisation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/record.hpp"
#include "../view.hpp"
#include "hubs.hpp"
#include "page_edit.hpp"
#include "plan.hpp"

namespace wyrm::graph::detail {

/// The number of erased positions (n, ascending) below the i-th remaining position.
[[nodiscard]] WYRM_HD inline std::uint32_t erased_below(std::uint32_t const* positions, std::uint32_t n,
                                                        std::uint32_t i) {
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

/// Each tile processes a source group, and then parts of hubs; if the batch may change hubs in place, neither those nor
/// parts (see merge_hubs). Sparse: each lane processes a source group, and each tile heavy changes. On a CPU each
/// thread processes some reallocations.
template <update_kind Op, bool Sparse>
struct merge_groups {
  static constexpr unsigned resident_blocks = Sparse ? 1 : 8;
  static constexpr std::size_t grain = 16;
  batch_view batch;
  packed_record* records;
  group_plan* plans;
  hub const* hubs;
  update_status const* status;
  unsigned which;
  std::size_t tiles;            // number of launched tiles
  std::uint32_t const* listed;  // sparse: the heavy changes; on a CPU: the reallocations; or nullptr

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    if (status->stops()) return;
    if constexpr (Sparse) {
      std::size_t const mine = s * Tile::size() + t.rank();
      if (mine < status->groups(which)) merge_per_thread(mine);
      for (std::size_t k = s; k < status->heavy_changes(which); k += tiles) merge(t, listed[k]);
    } else if (Tile::size() == 1 && listed != nullptr) {
      std::size_t const n = status->reallocations(which);
      for (std::size_t k = s * n / tiles; k < (s + 1) * n / tiles; ++k) merge(t, listed[k]);
    } else if (s < status->groups(which)) {
      merge(t, s);
    }
    if (batch.in_place == hub_degree) merge_parts<false>(t, s);
  }
  /// Merges part `first` of the hubs, and every tiles-th part from there on. InPlace: some pages may be changed in
  /// place. A batch that may do that needs another launch for its hubs (merge_hubs).
  template <bool InPlace, class Tile>
  WYRM_HD void merge_parts(Tile const& t, std::size_t first) const {
    for (std::size_t part = first; part < status->hub_parts(which); part += tiles)
      merge_part<InPlace>(t, static_cast<std::uint32_t>(part));
  }

 private:
  template <class Tile>
  WYRM_HD void merge(Tile const& t, std::size_t s) const {
    group_plan const plan = plans[s];
    if (plan.changed == 0 || plan.capacity == done || plan.capacity == listed_hub_in_place) return;
    source_group const g = batch.groups[s];
    vertex_record const old = records[g.source];
    std::uint32_t const degree = degree_after<Op>(old.degree, plan.changed);
    bool const moves = has_page_to_move_to(plan);
    if (!moves)
      change_in_place<Tile, 1>(t, old, g.begin, plan.changed);
    else if (!is_hub(old.degree, degree))
      copy(t, old.page, g.begin, plan.changed, plan.page, 0, degree);
    t.sync();  // all lanes have read the record
    if (t.rank() != 0) return;
    records[g.source] = vertex_record{moves ? plan.page : old.page, degree, moves ? plan.capacity : old.capacity};
    plans[s].page = moves ? old.page : nullptr;
  }

  template <class Tile, std::uint32_t PerLane>
  WYRM_HD void change_in_place(Tile const& t, vertex_record const& old, std::uint32_t begin,
                               std::uint32_t changed) const {
    page_arrays<0> const page(old.page, old.capacity);
    std::uint32_t const* const positions = batch.positions + begin;
    if constexpr (Op == update_kind::insert)
      insert_in_place<Tile, 0, PerLane>(t, page, old.degree, {batch.targets + begin, nullptr}, positions, changed);
    else
      erase_in_place<Tile, 0, PerLane>(t, page, old.degree, positions, changed);
  }

  // One lane merges a group. It skips heavy changes, because a tile may change their pages, records and plans
  // concurrently.
  WYRM_HD void merge_per_thread(std::size_t s) const {
    if (plans[s].changed == 0 || plans[s].is_heavy != 0) return;
    group_plan const plan = plans[s];
    source_group const g = batch.groups[s];
    vertex_record const old = records[g.source];
    std::uint32_t const degree = degree_after<Op>(old.degree, plan.changed);
    bool const moves = has_page_to_move_to(plan);
    vertex_id* const page = moves ? plan.page : old.page;
    if (Op == update_kind::insert) {
      if (moves) copy_per_thread(old.page, page, old.degree);
      for (std::uint32_t k = 0; k < plan.changed; ++k)
        insert_per_thread(page, old.degree + k, batch.positions[g.begin + k], batch.targets[g.begin + k]);
    } else {
      if (moves)
        copy_others_per_thread(old.page, page, plan.capacity, old.degree, batch.positions + g.begin, plan.changed);
      else
        for (std::uint32_t k = plan.changed; k-- > 0;)
          erase_per_thread(page, degree + k + 1, batch.positions[g.begin + k]);
    }
    records[g.source] = vertex_record{page, degree, moves ? plan.capacity : old.capacity};
    plans[s].page = moves ? old.page : nullptr;
  }

  // Does not read the record of the hub, because another tile may have changed it.
  template <bool InPlace, class Tile>
  WYRM_HD void merge_part(Tile const& t, std::uint32_t part) const {
    hub const from = hubs[hub_of_part(hubs, status->hub_count(which), part)];
    std::uint32_t const degree = degree_after<Op>(from.from.degree, from.changed);
    if constexpr (InPlace)
      if (from.to == nullptr) {
        change_in_place<Tile, hub_entries_per_lane>(t, from.from, from.begin, from.changed);
        if (t.rank() == 0)
          records[batch.groups[from.group].source] = vertex_record{from.from.page, degree, from.from.capacity};
        return;
      }
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
        if (Op == update_kind::insert) {
          std::uint32_t const below = lower_bound(positions, n, i);
          to[i] = below < n && positions[below] == i ? batch.targets[begin + below] : page[i - below];
        } else {
          to[i] = page[i + erased_below(positions, n, i)];
        }
      }
    }
  }
  // The same by one thread, which moves all neighbours between two changes at once.
  WYRM_HD void copy_runs(vertex_id const* page, std::uint32_t begin, std::uint32_t n, vertex_id* to,
                         std::uint32_t first, std::uint32_t last) const {
    std::uint32_t const* const positions = batch.positions + begin;
    bool const inserts = Op == update_kind::insert;
    std::uint32_t k = inserts ? lower_bound(positions, n, first) : erased_below(positions, n, first);
    for (std::uint32_t i = first; i < last; ++k) {
      std::uint32_t const from = inserts ? i - k : i + k;
      std::uint32_t const next = k == n ? last : inserts ? positions[k] : positions[k] - k;
      std::uint32_t const end = next < last ? next : last;
      move_run(to + i, page + from, end - i);
      i = end;
      if (inserts && i < last) to[i++] = batch.targets[begin + k];
    }
  }
};

/// The hubs of a batch that may change them in place, one block per part, or per page that is changed in place. Merge:
/// merge_groups or merge_entries.
template <class Merge>
struct merge_hubs {
  static constexpr unsigned resident_blocks = 4;
  Merge step;

  template <class Block>
  WYRM_HD void operator()(Block const& b, std::size_t s) const {
    if (!step.status->stops()) step.template merge_parts<true>(b, s);
  }
};

}  // namespace wyrm::graph::detail
