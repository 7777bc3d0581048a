// SPDX-License-Identifier: Apache-2.0
// The merge of an entry_batch, like merge.hpp: a tile changes the page of a vertex in place, or fills the new page;
// several tiles fill the page of a hub. One merge may add and erase neighbours of a page. Values move with their ids.
// Updated values are written last, to their final positions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/record.hpp"
#include "../view.hpp"
#include "hubs.hpp"
#include "merge.hpp"
#include "page_edit.hpp"
#include "plan_entries.hpp"
#include "values.hpp"

namespace wyrm::graph::detail {

/// See merge_groups.
template <unsigned Width, bool Sparse>
struct merge_entries {
  static constexpr unsigned resident_blocks = Sparse ? 1 : 8;
  static constexpr std::size_t grain = 16;
  entry_batch batch;
  packed_record* records;
  mixed_plan* plans;
  hub const* hubs;
  update_status const* status;
  unsigned which;
  std::size_t tiles;                   // number of launched tiles
  std::uint32_t const* heavy_changes;  // sparse only

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    if (status->stops()) return;
    if constexpr (Sparse) {
      std::size_t const mine = s * Tile::size() + t.rank();
      if (mine < status->groups(which)) merge_per_thread(mine);
      for (std::size_t k = s; k < status->heavy_changes(which); k += tiles) merge(t, heavy_changes[k]);
    } else if (s < status->groups(which)) {
      merge(t, s);
    }
    if (batch.arcs.in_place == hub_degree) merge_parts<false>(t, s);
  }
  /// See merge_groups.
  template <bool InPlace, class Tile>
  WYRM_HD void merge_parts(Tile const& t, std::size_t first) const {
    for (std::size_t part = first; part < status->hub_parts(which); part += tiles)
      merge_part<InPlace>(t, static_cast<std::uint32_t>(part));
  }

 private:
  [[nodiscard]] WYRM_HD change_lists<Width> lists_of(source_group const& g) const {
    return change_lists<Width>(batch, g.begin, g.size);
  }

  template <class Tile>
  WYRM_HD void merge(Tile const& t, std::size_t s) const {
    mixed_plan const plan = plans[s];
    if (!plan.changes() || plan.capacity == listed_hub_in_place) return;
    source_group const g = batch.arcs.groups[s];
    vertex_record const old = records[g.source];
    std::uint32_t const degree = degree_after(old.degree, plan);
    bool const moves = has_page_to_move_to(plan);
    change_lists<Width> const changes = lists_of(g);
    if (!moves) {
      change_in_place<Tile, 1>(t, old, changes, plan);
    } else if (!is_hub(old.degree, degree)) {
      page_arrays<Width> const page(plan.page, plan.capacity);
      copy(t, old, changes, plan, page, 0, degree);
    }
    t.sync();  // all lanes have read the record
    if (t.rank() != 0) return;
    records[g.source] = vertex_record{moves ? plan.page : old.page, degree, moves ? plan.capacity : old.capacity};
    plans[s].page = moves ? old.page : nullptr;
  }

  // One lane merges a group. It skips heavy changes, because a tile may change their pages, records and plans
  // concurrently.
  WYRM_HD void merge_per_thread(std::size_t s) const {
    if (plans[s].is_heavy != 0) return;
    mixed_plan const plan = plans[s];
    if (!plan.changes()) return;
    source_group const g = batch.arcs.groups[s];
    vertex_record const old = records[g.source];
    bool const moves = has_page_to_move_to(plan);
    change_lists<Width> const changes = lists_of(g);
    page_arrays<Width> const from(old.page, old.capacity);
    page_arrays<Width> const to = moves ? page_arrays<Width>(plan.page, plan.capacity) : from;
    std::uint32_t degree = old.degree - plan.erased;
    if (moves && plan.erased > 0) {
      copy_others_per_thread(from.ids, to.ids, plan.capacity, old.degree, changes.erased, plan.erased);
      if constexpr (Width > 0)
        copy_others_per_thread(from.values, to.values, plan.capacity, old.degree, changes.erased, plan.erased);
    } else if (moves) {
      copy_per_thread(from.ids, to.ids, degree);
      if constexpr (Width > 0) copy_per_thread(from.values, to.values, degree);
    } else {
      for (std::uint32_t k = plan.erased; k-- > 0;) {
        erase_per_thread(to.ids, degree + k + 1, changes.erased[k]);
        if constexpr (Width > 0) erase_per_thread(to.values, degree + k + 1, changes.erased[k]);
      }
    }
    for (std::uint32_t k = 0; k < plan.changed; ++k, ++degree) {
      insert_per_thread(to.ids, degree, changes.positions[k], changes.added[k]);
      if constexpr (Width > 0) insert_per_thread(to.values, degree, changes.positions[k], changes.values[k]);
    }
    if constexpr (Width > 0)
      for (std::uint32_t k = 0; k < plan.updated; ++k)
        to.values[changes.positions[changes.last - k]] = changes.values[changes.last - k];
    records[g.source] = vertex_record{to.ids, degree, moves ? plan.capacity : old.capacity};
    plans[s].page = moves ? old.page : nullptr;
  }

  template <class Tile, std::uint32_t PerLane>
  WYRM_HD void change_in_place(Tile const& t, vertex_record const& old, change_lists<Width> const& changes,
                               mixed_plan const& plan) const {
    page_arrays<Width> const page(old.page, old.capacity);
    if (plan.erased > 0) erase_in_place<Tile, Width, PerLane>(t, page, old.degree, changes.erased, plan.erased);
    if (plan.changed > 0)
      insert_in_place<Tile, Width, PerLane>(t, page, old.degree - plan.erased, {changes.added, changes.values},
                                            changes.positions, plan.changed);
    t.sync();
    update_values(t, page, changes, plan.updated, 0, degree_after(old.degree, plan));
  }

  // Does not read the record of the hub, because another tile may have changed it; nor the page in its plan.
  template <bool InPlace, class Tile>
  WYRM_HD void merge_part(Tile const& t, std::uint32_t part) const {
    hub const from = hubs[hub_of_part(hubs, status->hub_count(which), part)];
    mixed_plan const& plan = plans[from.group];
    std::uint32_t const degree = from.from.degree + plan.changed - plan.erased;
    if constexpr (InPlace)
      if (from.to == nullptr) {
        source_group const g = batch.arcs.groups[from.group];
        change_in_place<Tile, hub_entries_per_lane>(t, from.from, lists_of(g), plan);
        if (t.rank() == 0) records[g.source] = vertex_record{from.from.page, degree, from.from.capacity};
        return;
      }
    std::uint32_t const first = (part - from.first_part) * hub_part;
    std::uint32_t const last = degree - first < hub_part ? degree : first + hub_part;
    copy(t, from.from, lists_of(batch.arcs.groups[from.group]), plan, page_arrays<Width>(from.to, plan.capacity), first,
         last);
  }

  // Fills the new page from `first` to `last`.
  template <class Tile>
  WYRM_HD void copy(Tile const& t, vertex_record const& old, change_lists<Width> const& changes, mixed_plan const& plan,
                    page_arrays<Width> const& to, std::uint32_t first, std::uint32_t last) const {
    std::uint32_t const added = plan.changed;
    std::uint32_t const erased = plan.erased;
    value_word<Width> const* const old_values = values_of<Width>(static_cast<vertex_id const*>(old.page), old.capacity);
    std::uint32_t const* const positions = changes.positions;
    if constexpr (Tile::size() == 1) {
      std::uint32_t a = lower_bound(positions, added, first);
      std::uint32_t e = erased_below(changes.erased, erased, first - a);
      for (std::uint32_t i = first; i < last; ++i) {
        bool const is_added = a < added && positions[a] == i;
        while (!is_added && e < erased && changes.erased[e] == i - a + e) ++e;
        to.ids[i] = is_added ? changes.added[a] : old.page[i - a + e];
        if constexpr (Width > 0) to.values[i] = is_added ? changes.values[a] : old_values[i - a + e];
        a += is_added;
      }
    } else {
      for (std::uint32_t i = first + t.rank(); i < last; i += Tile::size()) {
        std::uint32_t const a = lower_bound(positions, added, i);
        bool const is_added = a < added && positions[a] == i;
        std::uint32_t const from = is_added ? 0 : i - a + erased_below(changes.erased, erased, i - a);
        to.ids[i] = is_added ? changes.added[a] : old.page[from];
        if constexpr (Width > 0) to.values[i] = is_added ? changes.values[a] : old_values[from];
      }
    }
    t.sync();
    update_values(t, to, changes, plan.updated, first, last);
  }

  // Writes the updated values at positions from `first` to `last`.
  template <class Tile>
  WYRM_HD void update_values(Tile const& t, page_arrays<Width> const& page, change_lists<Width> const& changes,
                             std::uint32_t updated, std::uint32_t first, std::uint32_t last) const {
    if constexpr (Width > 0) {
      // The positions are stored in descending order, so those of a part are a range; they are read from its end, in
      // ascending order.
      std::uint32_t const* const ascending =
          changes.positions + changes.last;  // of number 0; the next one is before it
      std::uint32_t const begin = first_not_below(ascending, updated, first);
      for (std::uint32_t k = begin + t.rank(); k < updated; k += Tile::size()) {
        std::uint32_t const at = *(ascending - k);
        if (at >= last) break;
        page.values[at] = *(changes.values + changes.last - k);
      }
    }
  }
  WYRM_HD static std::uint32_t first_not_below(std::uint32_t const* from_last, std::uint32_t n, std::uint32_t i) {
    std::uint32_t first = 0;
    while (n > 0) {
      std::uint32_t const half = n / 2;
      if (*(from_last - first - half) < i) {
        first += half + 1;
        n -= half + 1;
      } else {
        n = half;
      }
    }
    return first;
  }
};

}  // namespace wyrm::graph::detail
