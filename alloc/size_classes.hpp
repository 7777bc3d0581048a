// SPDX-License-Identifier: Apache-2.0
// The size classes of Ouroboros: 50 page sizes from 16 bytes to 1 MiB. Up to 1 KiB there are four to a doubling, in
// steps of 16 bytes at least: 16, 32, 48, ..., 128, 160, 192, 224, 256, 320 and so on. From there to 8 KiB they are the
// sizes of which 7, 6, 5, 4, 3, 2 and 1 fit into a chunk. A larger page is a run of 2, 3, 4, ..., 8, 10, 12, 14, 16, 20
// and so on to 128 chunks, which Ouroboros (ICS 2020, section 4.3) calls an instance with a multiple of the base chunk
// size, each with one page size. At most 1/16 of a chunk is unused. A page of a power of two of bytes is aligned to its
// size, or to 8 KiB.
//
// A chunk that is split has pages of one class. The number of a page is that of its chunk, followed by the bits of its
// index in the chunk. All functions are arithmetic, without a table in memory, because kernels call them for each page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../exec/tile.hpp"
#include "extent/extent.hpp"

namespace wyrm::alloc::detail {

/// Stored instead of a page number where there is no page.
inline constexpr std::uint64_t no_page = ~std::uint64_t{0};

/// Sizes four to a doubling, in some unit: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... The number of the smallest
/// one of at least n units, n > 0.
WYRM_HD constexpr unsigned step_for(std::uint32_t n) {
  auto const width = static_cast<unsigned>(cuda::std::bit_width(n - 1));
  unsigned const shift = width > 3 ? width - 3 : 0;
  return 4 * shift + ((n - 1) >> shift);
}
/// The units of step k.
WYRM_HD constexpr std::uint32_t step_units(unsigned k) { return k < 4 ? k + 1 : (k % 4 + 5) << (k / 4 - 1); }

inline constexpr std::uint32_t page_unit = 16;  // bytes, of which all page sizes are multiples
inline constexpr std::uint32_t chunk_units = chunk_bytes / page_unit;
inline constexpr unsigned step_classes = 20;   // up to 1 KiB, whose sizes are steps of 16 bytes
inline constexpr unsigned split_classes = 26;  // classes with several pages per chunk, a prefix of all classes
inline constexpr unsigned page_classes = 50;
inline constexpr std::size_t largest_page = std::size_t{1} << 20;
static_assert(step_units(step_classes - 1) * page_unit * 8 == chunk_bytes);
static_assert(step_units(page_classes - 1 - split_classes) * chunk_bytes == largest_page);

/// Units of the classes between 1 KiB and 8 KiB, 10 bits each.
inline constexpr std::uint64_t shares_of_chunk = [] {
  std::uint64_t all = 0;
  for (unsigned c = step_classes; c < split_classes; ++c)
    all |= std::uint64_t{chunk_units / (split_classes + 1 - c)} << 10 * (c - step_classes);
  return all;
}();
/// 2^15 / m, rounded up, for m from `first` to first + 3, 16 bits each.
WYRM_HD constexpr std::uint64_t four_reciprocals(std::uint32_t first) {
  std::uint64_t all = 0;
  for (std::uint32_t k = 0; k < 4; ++k) all |= std::uint64_t{((1u << 15) + first + k - 1) / (first + k)} << 16 * k;
  return all;
}

/// Units of 16 bytes per page of a class below split_classes.
WYRM_HD constexpr std::uint32_t page_units(unsigned c) {
  return c < step_classes ? step_units(c)
                          : static_cast<std::uint32_t>(shares_of_chunk >> 10 * (c - step_classes)) & 1023;
}
/// The chunks per page of a class beyond 8 KiB; 1 for the smaller classes.
WYRM_HD constexpr std::uint32_t run_chunks(unsigned c) { return c < split_classes ? 1 : step_units(c - split_classes); }
WYRM_HD constexpr std::size_t page_bytes(unsigned c) {
  return c < split_classes ? std::size_t{page_units(c)} * page_unit : run_chunks(c) * chunk_bytes;
}
/// n / page_units(c) for n <= chunk_units, by a multiplication; above 1 KiB rounded up instead of down. It is exact:
/// the reciprocal of m exceeds 2^15 / m by less than 1, and n * m is less than 2^15.
WYRM_HD constexpr std::uint32_t pages_in_units(unsigned c, std::uint32_t n) {
  constexpr std::uint64_t one_to_four = four_reciprocals(1);
  constexpr std::uint64_t five_to_eight = four_reciprocals(5);
  if (c >= step_classes) return (n * (split_classes + 1 - c) + chunk_units - 1) / chunk_units;
  auto const reciprocal = static_cast<std::uint32_t>((c < 4 ? one_to_four : five_to_eight) >> 16 * (c % 4)) & 0xffff;
  return n * reciprocal >> (c < 4 ? 15 : 14 + c / 4);
}
/// The pages per chunk, or per run of chunks (1).
WYRM_HD constexpr std::uint32_t pages_per_chunk(unsigned c) {
  return c < split_classes ? pages_in_units(c, chunk_units) : 1;
}
/// The bits of the index of a page in its chunk; 0 for runs of chunks.
WYRM_HD constexpr unsigned index_log2(unsigned c) {
  return c < split_classes ? 10 - static_cast<unsigned>(cuda::std::bit_width(page_units(c))) : 0;
}

/// The chunk of a page, the first one if the page is a run, and the index of the page in it.
WYRM_HD constexpr std::uint32_t chunk_of_page(unsigned c, std::uint64_t page) {
  return static_cast<std::uint32_t>(page >> index_log2(c));
}
WYRM_HD constexpr std::uint32_t index_of_page(unsigned c, std::uint64_t page) {
  return static_cast<std::uint32_t>(page) & ((1u << index_log2(c)) - 1);
}
/// The number of a page with a given index in its chunk.
WYRM_HD constexpr std::uint64_t page_in_chunk(unsigned c, std::uint64_t chunk, std::uint32_t index) {
  return chunk << index_log2(c) | index;
}
/// The n-th page of adjacent chunks, or runs of chunks, from `chunk` on.
WYRM_HD constexpr std::uint64_t nth_page(unsigned c, std::uint32_t chunk, std::uint32_t n) {
  if (c >= split_classes) return chunk + std::uint64_t{n} * run_chunks(c);
  std::uint32_t const pages = pages_per_chunk(c);
  std::uint32_t const before = n / pages;
  return page_in_chunk(c, std::uint64_t{chunk} + before, n - before * pages);
}
/// Where a page begins, in bytes from the beginning of the pool.
WYRM_HD constexpr std::uint64_t page_offset(unsigned c, std::uint64_t page) {
  std::uint64_t const in_chunk = c < split_classes ? index_of_page(c, page) * page_units(c) * page_unit : 0;
  return std::uint64_t{chunk_of_page(c, page)} * chunk_bytes + in_chunk;
}
/// The page of class c that begins there, in a chunk of that class; no_page if none does.
WYRM_HD constexpr std::uint64_t page_at(unsigned c, std::uint64_t offset) {
  auto const in_chunk = static_cast<std::uint32_t>(offset % chunk_bytes);
  std::uint64_t const chunk = offset / chunk_bytes;
  if (c >= split_classes) return in_chunk == 0 ? chunk : no_page;
  std::uint32_t const units = page_units(c);
  std::uint32_t const index = pages_in_units(c, in_chunk / page_unit);
  bool const begins = index * units * page_unit == in_chunk && (index + 1) * units <= chunk_units;
  return begins ? page_in_chunk(c, chunk, index) : no_page;
}

/// The class of the smallest page for a request of so many bytes, 1 to largest_page.
WYRM_HD constexpr unsigned class_for(std::size_t bytes) {
  if (bytes > chunk_bytes / 2)
    return split_classes + step_for(static_cast<std::uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes));
  std::uint32_t const units = (static_cast<std::uint32_t>(bytes) + page_unit - 1) / page_unit;
  if (units <= chunk_units / 8) return step_for(units);
  unsigned c = step_classes;
  for (std::uint32_t pages = 7; pages > 2; --pages) c += units > chunk_units / pages;
  return c;
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
