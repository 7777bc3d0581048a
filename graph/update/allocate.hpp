// SPDX-License-Identifier: Apache-2.0
// The second step of an update: one lane per source group allocates the page that the plan needs, so that the requests
// of a tile are processed cooperatively.
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
template <operation Op, class AllocatorRef>
struct allocate_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  static constexpr std::size_t grain = exec::one_thread;
  AllocatorRef allocator;
  source_group const* groups;
  packed_record const* records;
  group_plan* plans;
  hub* hubs;
  update_status* status;
  unsigned which;
  std::uint64_t fails_from;
  bool may_stay;                       // after a failure, a vertex stays in its page if that has room
  std::uint32_t const* reallocations;  // nullptr: any group may need a page
  std::size_t lanes;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool /*valid*/) const {
    if (status->is_refused()) return;
    std::uint32_t const n = reallocations == nullptr ? status->groups(which) : status->reallocations(which);
    for (; t.any(i < n); i += lanes) allocate(t, i >= n || reallocations == nullptr ? i : reallocations[i], i < n);
  }

 private:
  template <class Tile>
  WYRM_HD void allocate(Tile const& t, std::size_t s, bool valid) const {
    group_plan const plan = valid ? plans[s] : no_change();
    std::size_t const bytes = is_capacity(plan.capacity) && plan.page == nullptr ? page_bytes(plan.capacity) : 0;
    if (!t.any(bytes > 0)) return;
    bool const requests = s + (which > 0 ? status->groups(0) : 0) < fails_from && !status->is_exhausted(t);
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, requests ? bytes : 0));
    bool const stays = may_stay && bytes > 0 && page == nullptr && has_room(groups[s], plan.changed);
    if (page != nullptr) {
      plans[s].page = page;
      record_hub(groups[s], plan.changed, page);
    } else if (requests && bytes > 0 && !stays) {
      status->set_exhausted();
    }
    if (Op == operation::erase) return;  // an erasure without new page changes the old page
    std::uint64_t const failed = exec::sum(t, std::uint64_t{bytes > 0 && page == nullptr && !stays ? bytes : 0});
    if (t.rank() == 0 && failed > 0) add(status->failed_bytes, failed);
  }
  // Whether the page of the vertex has room for its new degree.
  [[nodiscard]] WYRM_HD bool has_room(source_group const& g, std::uint32_t changed) const {
    vertex_record const r = records[g.source];
    return degree_after<Op>(r.degree, changed) <= r.capacity;
  }
  WYRM_HD void record_hub(source_group const& g, std::uint32_t changed, vertex_id* page) const {
    vertex_record const r = records[g.source];
    std::uint32_t const degree = degree_after<Op>(r.degree, changed);
    if (!is_hub(r.degree, degree)) return;
    std::uint64_t const at = claim_parts(*status, which, degree);
    hubs[at >> 32] = {r, page, g.begin, changed, static_cast<std::uint32_t>(at)};
  }
};

}  // namespace wyrm::graph::detail
