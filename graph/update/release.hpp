// SPDX-License-Identifier: Apache-2.0
// The last step of an update: frees the replaced pages, and sums the changes. If the update is undone, it frees the
// allocated pages instead.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/record.hpp"
#include "plan.hpp"

namespace wyrm::graph::detail {

/// Frees the pages in the plans. After a merge these are the replaced pages, and the changes are summed. If the update
/// is undone (after undo_changes), these are the pages that were allocated for it.
template <class AllocatorRef>
struct release_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  static constexpr std::size_t grain = exec::one_thread;
  AllocatorRef allocator;
  source_group const* groups;
  plan_list plans;
  update_status* status;
  unsigned which;
  bool undoes;
  std::uint32_t const* reallocations;  // nullptr without list; with a list, the changes are summed already
  std::size_t lanes;
  snapshot_records newest;  // see is_shared

  /// Number of source groups per lane. A CPU thread processes more, because its tile has no other lanes to combine
  /// atomic additions with.
  template <unsigned Width>
  static constexpr std::uint32_t groups_per_lane = Width == 1 ? 64 : 1;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t group, bool valid) const {
    if (!undoes && status->stops()) return;
    if (reallocations != nullptr)
      release_listed(t, group);
    else
      release_all(t, group, valid);
  }

 private:
  // Whether a snapshot references the replaced page; then the page is freed with the last such snapshot.
  [[nodiscard]] WYRM_HD bool stays_in_snapshot(std::size_t s, vertex_id const* page) const {
    return page != nullptr && !newest.none() && is_shared(newest, groups[s].source, page);
  }
  template <class Tile>
  WYRM_HD void release_listed(Tile const& t, std::size_t i) const {
    std::uint32_t const n = status->reallocations(which);
    for (; t.any(i < n); i += lanes) {
      vertex_id* const page = i < n ? plans[reallocations[i]].page : nullptr;
      allocator.deallocate(t, i < n && stays_in_snapshot(reallocations[i], page) ? nullptr : page);
      if (page != nullptr) plans[reallocations[i]].page = nullptr;
    }
  }
  template <class Tile>
  WYRM_HD void release_all(Tile const& t, std::size_t group, bool valid) const {
    std::size_t const first = group * groups_per_lane<Tile::size()>;
    if (t.all(first >= status->groups(which))) return;
    update_status::sums sums{};
    for (std::size_t s = first; s < first + groups_per_lane<Tile::size()>; ++s) {
      bool const there = valid && s < status->groups(which);
      vertex_id* const page = there ? plans[s].page : nullptr;
      if (t.any(page != nullptr)) allocator.deallocate(t, stays_in_snapshot(s, page) ? nullptr : page);
      if (page != nullptr) plans[s].page = nullptr;
      if (there) plans.add_to(s, sums);
    }
    if (which > 0 || undoes) return;  // the second table has the same edges
    sums.arcs = exec::sum(t, sums.arcs);
    sums.edges = exec::sum(t, sums.edges);
    sums.distinct = exec::sum(t, sums.distinct);
    if (plans.kind() == update_kind::mixed) {
      sums.erased = exec::sum(t, sums.erased);
      sums.updated = exec::sum(t, sums.updated);
      sums.missing = exec::sum(t, sums.missing);
    }
    if (t.rank() == 0) status->sum_up(t, sums);
  }
};

}  // namespace wyrm::graph::detail
