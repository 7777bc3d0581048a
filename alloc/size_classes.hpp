// SPDX-License-Identifier: Apache-2.0
// The size classes of Ouroboros and of the random-walk allocators: pages of powers of two from 16 bytes to 1 MiB. A
// chunk of 8 KiB is split into pages of one class up to 8 KiB. A larger page is a run of chunks, which Ouroboros (ICS
// 2020, section 4.3) calls an instance with a multiple of the base chunk size, each with one page size.
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
/// The logarithm of the pages per chunk, or per run of chunks (0).
WYRM_HD constexpr unsigned pages_log2(unsigned page_class) {
  return page_log2(page_class) < chunk_log2 ? chunk_log2 - page_log2(page_class) : 0;
}
/// The pages per chunk, or per run of chunks (1).
WYRM_HD constexpr std::uint32_t pages_per_chunk(unsigned page_class) { return 1u << pages_log2(page_class); }
/// The chunks per page of a class beyond 8 KiB; 1 for the smaller classes.
WYRM_HD constexpr std::uint32_t run_chunks(unsigned page_class) {
  return page_log2(page_class) > chunk_log2 ? 1u << (page_log2(page_class) - chunk_log2) : 1;
}
/// The logarithm of the unit by which pages are numbered. The number of a page is its offset in the pool, in multiples
/// of the page size. Runs of chunks need not be aligned to their size, so their number is that of their first chunk.
WYRM_HD constexpr unsigned number_log2(unsigned page_class) {
  return page_log2(page_class) < chunk_log2 ? page_log2(page_class) : chunk_log2;
}
/// The class of the smallest page for a request of so many bytes, 1 to largest_page.
WYRM_HD inline unsigned class_for(std::size_t bytes) {
  auto const log2 = static_cast<unsigned>(cuda::std::bit_width(bytes - 1));
  return (log2 > smallest_page_log2 ? log2 : smallest_page_log2) - smallest_page_log2;
}

/// The lanes of a tile that have the same key as this lane, itself included; size 0 for a lane without a key.
struct lane_group {
  std::uint32_t lanes = 0;
  unsigned leader = 0;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  [[nodiscard]] WYRM_HD bool led_by(unsigned lane) const { return size > 0 && leader == lane; }
};

inline constexpr std::uint32_t no_key = 0xffffffff;  // the key of lanes without one
/// Groups the lanes of a tile by key; collective.
template <class Tile>
[[nodiscard]] WYRM_HD lane_group group_by(Tile const& t, std::uint32_t key, bool has_key) {
  std::uint32_t const lanes = exec::match(t, has_key ? key : no_key);
  if (!has_key) return {0, t.rank(), 0, 0};
  return {lanes, exec::first_lane(lanes), exec::rank_in(t, lanes),
          static_cast<std::uint32_t>(cuda::std::popcount(lanes))};
}

}  // namespace wyrm::alloc::detail
