// SPDX-License-Identifier: Apache-2.0
// The second step of an update: one lane per source group allocates the page that the plan needs, so that the requests
// of a tile are processed cooperatively. Hubs are listed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/page_size.hpp"
#include "../table/record.hpp"
#include "hubs.hpp"
#include "plan.hpp"

namespace wyrm::graph::detail {

/// Allocates the missing pages, and sums the bytes of failed allocations. In tests, allocations fail for source groups
/// from number `fails_from` on; groups of the second table are numbered after those of the first. If `reallocations` is
/// given, only the groups in that list may lack a page, and a lane processes every `lanes`-th of them.
template <class AllocatorRef>
struct allocate_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  static constexpr std::size_t grain = exec::one_thread;
  AllocatorRef allocator;
  source_group const* groups;
  packed_record const* records;
  plan_list plans;
  hub* hubs;
  update_status* status;
  unsigned which;
  std::uint64_t fails_from;
  bool may_stay;                       // after a failure, a vertex stays in its page if that has room
  std::uint32_t const* reallocations;  // nullptr: any group may need a page
  std::size_t lanes;
  unsigned width;           // bytes of a value
  snapshot_records newest;  // see is_shared

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool /*valid*/) const {
    if (status->is_refused()) return;
    std::uint32_t const n = reallocations == nullptr ? status->groups(which) : status->reallocations(which);
    for (; t.any(i < n); i += lanes) allocate(t, i >= n || reallocations == nullptr ? i : reallocations[i], i < n);
  }

 private:
  template <class Tile>
  WYRM_HD void allocate(Tile const& t, std::size_t s, bool valid) const {
    plan_head plan{nullptr, keep, 0};
    if (valid) plan = plans[s];
    bool const in_place = plan.capacity == hub_in_place;
    std::size_t const bytes = is_capacity(plan.capacity) && plan.page == nullptr ? page_bytes(plan.capacity, width) : 0;
    if (!t.any(bytes > 0 || in_place)) return;
    bool const requests = s + (which > 0 ? status->groups(0) : 0) < fails_from && !status->is_exhausted(t);
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, requests ? bytes : 0));
    bool const lacks = bytes > 0 && page == nullptr;
    bool const room = lacks && has_room(s);
    if (page != nullptr || in_place) {
      if (in_place)
        plans[s].capacity = listed_hub_in_place;
      else
        plans[s].page = page;
      list_hub(s, page);
    } else if (requests && lacks && !room) {
      status->set_exhausted();
    }
    if (plans.kind() == update_kind::erase && newest.none()) return;
    bool const fails = lacks && must_move(s, room);
    std::uint64_t const failed = exec::sum(t, std::uint64_t{fails ? bytes : 0});
    if (t.rank() == 0 && failed > 0) add(status->failed_bytes, failed);
  }
  [[nodiscard]] WYRM_HD std::uint32_t degree_after(std::size_t s, std::uint32_t degree) const {
    return degree + plans.added(s) - plans.erased(s);
  }
  // Whether the page of the vertex has room for its new degree, and the vertex may stay in it.
  [[nodiscard]] WYRM_HD bool has_room(std::size_t s) const {
    if (!may_stay) return false;
    vertex_record const r = records[groups[s].source];
    return degree_after(s, r.degree) <= r.capacity;
  }
  // A vertex that only loses neighbours can stay in its page, unless a snapshot references that page.
  [[nodiscard]] WYRM_HD bool must_move(std::size_t s, bool room) const {
    vertex_id const v = groups[s].source;
    return is_shared(newest, v, records[v].page()) || (plans.added(s) > 0 && !room);
  }
  // Appends the vertex to the list if it is a hub. page: the new page; nullptr: in place.
  WYRM_HD void list_hub(std::size_t s, vertex_id* page) const {
    source_group const g = groups[s];
    vertex_record const r = records[g.source];
    std::uint32_t const degree = degree_after(s, r.degree);
    if (!is_hub(r.degree, degree)) return;
    std::uint64_t const at = claim_parts(*status, which, page == nullptr ? 1 : degree);
    hubs[at >> 32] = {
        r, page, static_cast<std::uint32_t>(s), g.begin, plans[s].changed, static_cast<std::uint32_t>(at)};
  }
};

}  // namespace wyrm::graph::detail
