// SPDX-License-Identifier: Apache-2.0
// The sizes of pages that Ouroboros has: powers of two from 16 bytes to a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/tile.hpp"
#include "../extent/extent.hpp"

namespace wyrm::alloc::detail {

inline constexpr unsigned page_classes = 10;
inline constexpr unsigned smallest_page_log2 = 4;
static_assert(std::size_t{1} << (smallest_page_log2 + page_classes - 1) == chunk_bytes);

WYRM_HD constexpr unsigned page_log2(unsigned page_class) { return smallest_page_log2 + page_class; }
WYRM_HD constexpr std::size_t page_bytes(unsigned page_class) { return std::size_t{1} << page_log2(page_class); }
WYRM_HD constexpr std::uint32_t pages_a_chunk(unsigned page_class) {
  return static_cast<std::uint32_t>(chunk_bytes >> page_log2(page_class));
}
/// The class of the smallest page that holds so many bytes, 1 to chunk_bytes.
WYRM_HD inline unsigned class_for(std::size_t bytes) {
  auto const log2 = static_cast<unsigned>(cuda::std::bit_width(bytes - 1));
  return (log2 > smallest_page_log2 ? log2 : smallest_page_log2) - smallest_page_log2;
}

/// The lanes of a tile that have the same key as mine, me among them; size 0 for a lane that has none.
struct lane_group {
  std::uint32_t lanes = 0;
  unsigned leader = 0;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  [[nodiscard]] WYRM_HD bool led_by(unsigned lane) const { return size > 0 && leader == lane; }
};

/// Collective.
template <class Tile>
[[nodiscard]] WYRM_HD lane_group group_by(Tile const& t, std::uint32_t key, bool has_key) {
  lane_group mine;
  mine.leader = t.rank();
  for (std::uint32_t waiting = t.ballot(has_key); waiting != 0;) {
    unsigned const leader = exec::first_lane(waiting);
    std::uint32_t const wanted = t.shfl(key, leader);
    std::uint32_t const lanes = t.ballot(has_key && key == wanted);
    if ((lanes >> t.rank() & 1) != 0)
      mine = {lanes, leader, exec::rank_in(t, lanes), static_cast<std::uint32_t>(cuda::std::popcount(lanes))};
    waiting &= ~lanes;
  }
  return mine;
}

}  // namespace wyrm::alloc::detail
