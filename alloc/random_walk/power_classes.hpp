// SPDX-License-Identifier: Apache-2.0
// The size classes of the random-walk allocators: pages of powers of two from 16 bytes to 1 MiB. A chunk of 8 KiB is
// split into pages of one class up to 8 KiB; a larger page is a run of chunks. Intermediate sizes, as in Ouroboros
// (size_classes.hpp), would take more memory here than they save: each size has a bit, or a flag of 4 bytes, for every
// page that fits into the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../extent/extent.hpp"

namespace wyrm::alloc::detail::power {

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
/// The class of the smallest page for a request of this number of bytes, 1 to largest_page.
WYRM_HD inline unsigned class_for(std::size_t bytes) {
  auto const log2 = static_cast<unsigned>(cuda::std::bit_width(bytes - 1));
  return (log2 > smallest_page_log2 ? log2 : smallest_page_log2) - smallest_page_log2;
}

}  // namespace wyrm::alloc::detail::power
