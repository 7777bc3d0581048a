// SPDX-License-Identifier: Apache-2.0
// The sizes of pages that families with size classes have: powers of two from 16 bytes to 1 MiB. Pages of 16 bytes to 8
// KiB share chunks of 8 KiB. A larger page is a run of such chunks: what Ouroboros (ICS 2020, section 4.3) calls an
// instance with a multiple of the base chunk size, each with one size of pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../exec/tile.hpp"
#include "extent/extent.hpp"

namespace wyrm::alloc::detail {

inline constexpr unsigned page_classes = 17;
inline constexpr unsigned smallest_page_log2 = 4;
inline constexpr unsigned chunk_log2 = 13;
inline constexpr std::size_t largest_page = std::size_t{1} << (smallest_page_log2 + page_classes - 1);
static_assert(largest_page == std::size_t{1} << 20 && std::size_t{1} << chunk_log2 == chunk_bytes);

WYRM_HD constexpr unsigned page_log2(unsigned page_class) { return smallest_page_log2 + page_class; }
WYRM_HD constexpr std::size_t page_bytes(unsigned page_class) { return std::size_t{1} << page_log2(page_class); }
/// In a chunk, or in the run of chunks that is one page: 2 to the power of so many.
WYRM_HD constexpr unsigned pages_log2(unsigned page_class) {
  return page_log2(page_class) < chunk_log2 ? chunk_log2 - page_log2(page_class) : 0;
}
/// How many.
WYRM_HD constexpr std::uint32_t pages_a_chunk(unsigned page_class) { return 1u << pages_log2(page_class); }
/// The chunks of such a run; 1 for the smaller classes.
WYRM_HD constexpr std::uint32_t run_chunks(unsigned page_class) {
  return page_log2(page_class) > chunk_log2 ? 1u << (page_log2(page_class) - chunk_log2) : 1;
}
/// Pages are numbered by where they are in the pool, as multiples of their size; runs of chunks, which need not lie at
/// such multiples, by their first chunk.
WYRM_HD constexpr unsigned number_log2(unsigned page_class) {
  return page_log2(page_class) < chunk_log2 ? page_log2(page_class) : chunk_log2;
}
/// The class of the smallest page that holds so many bytes, 1 to largest_page.
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

inline constexpr std::uint32_t no_key = 0xffffffff;  // what lanes without a key pass for one
/// Collective.
template <class Tile>
[[nodiscard]] WYRM_HD lane_group group_by(Tile const& t, std::uint32_t key, bool has_key) {
  std::uint32_t const lanes = exec::match(t, has_key ? key : no_key);
  if (!has_key) return {0, t.rank(), 0, 0};
  return {lanes, exec::first_lane(lanes), exec::rank_in(t, lanes),
          static_cast<std::uint32_t>(cuda::std::popcount(lanes))};
}

}  // namespace wyrm::alloc::detail
