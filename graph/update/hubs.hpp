// SPDX-License-Identifier: Apache-2.0
// Hubs: vertices with so many neighbours that several tiles share the work on one page. An update numbers the parts of
// all hubs that move to another page, and a tile fills a part.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../batch/status.hpp"
#include "../table/record.hpp"

namespace wyrm::graph::detail {

/// A vertex with more neighbours than this, before or after, is a hub: it gets another page whatever changes, so that
/// many tiles can fill it; where there is no memory for that, one tile changes the page that it has, if it has room.
inline constexpr std::uint32_t hub_degree = 512;

[[nodiscard]] WYRM_HD inline bool is_hub(std::uint32_t before, std::uint32_t after) {
  return before > hub_degree || after > hub_degree;
}

inline constexpr std::uint32_t hub_part = 512;  // neighbours of a hub that a tile copies

/// A hub that moves to another page.
struct hub {
  vertex_record from;
  vertex_id* to;
  std::uint32_t begin;       // in the batch
  std::uint32_t changed;     // see group_plan
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

}  // namespace wyrm::graph::detail
