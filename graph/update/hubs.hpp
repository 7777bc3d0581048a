// SPDX-License-Identifier: Apache-2.0
// Hubs: vertices with so many neighbours that several tiles fill one page. A hub is planned like other vertices
// (plan.hpp, plan_large_groups.hpp). When its new page is allocated its parts are numbered (allocate.hpp), and each
// part is filled by a tile (merge_part in merge.hpp). In a large batch blocks of threads do this, and also change pages
// of hubs in place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../batch/status.hpp"
#include "../table/record.hpp"

namespace wyrm::graph::detail {

/// A vertex with more neighbours than this, before or after an update, is a hub: several tiles fill its new page when
/// it moves to another page.
inline constexpr std::uint32_t hub_degree = 512;

[[nodiscard]] WYRM_HD inline bool is_hub(std::uint32_t before, std::uint32_t after) {
  return before > hub_degree || after > hub_degree;
}

/// The degree up to which a batch of `batch_arcs` arcs changes the page of a hub in place. With more neighbours than
/// that, before or after an update, a hub moves to another page with each change, even if its page has room, so that
/// several tiles can fill the new page, which takes less time. If there is no memory for a new page, one tile changes
/// the current page.
///
/// A batch of two arcs per vertex or more changes most hubs, and would need room for second pages of all of them. So
/// there one block of threads changes the page of a hub in place, while other blocks change other hubs. A batch of more
/// than an eighth of the arcs of the graph needs a larger pool anyway.
[[nodiscard]] constexpr std::uint32_t longest_in_place(std::uint64_t batch_arcs, vertex_id vertices,
                                                       std::uint64_t graph_arcs) {
  return batch_arcs / 2 >= vertices && batch_arcs <= graph_arcs / 8 ? 16384 : hub_degree;
}
/// The number of entries that a thread holds in registers while its block changes the page of a hub in place.
inline constexpr std::uint32_t hub_entries_per_lane = 4;

inline constexpr std::uint32_t hub_part = 512;  // number of neighbours that a tile, or a block, copies

/// A hub that moves to another page, or whose page one block changes in place.
struct hub {
  vertex_record from;
  vertex_id* to;             // nullptr: in place, in one part
  std::uint32_t group;       // the number of its source group
  std::uint32_t begin;       // of that group in the batch
  std::uint32_t changed;     // see plan_head
  std::uint32_t first_part;  // number of its first part
};

/// Claims the next number of a hub and the numbers of its parts; returns hub number << 32 | number of the first part.
WYRM_HD inline std::uint64_t claim_parts(update_status& status, unsigned which, std::uint32_t degree) {
  std::uint32_t const parts = (degree + hub_part - 1) / hub_part;
  return exec::atomic_ref<std::uint64_t>(status.hubs[which]).fetch_add(std::uint64_t{1} << 32 | parts, exec::relaxed);
}

/// The hub of a part: the last hub, in the order of first parts, whose first part is at most `part`.
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

}  // namespace wyrm::graph::detail
