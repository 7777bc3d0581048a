// SPDX-License-Identifier: Apache-2.0
// The size of the page of a vertex. A page is replaced by a larger one when it is full, and by a smaller one when three
// quarters of it are empty, so that a vertex whose degree alternates around a boundary keeps its page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../types.hpp"

namespace wyrm::graph {

/// The bytes of a neighbour in a page: its id, and its value of 0, 4, 8 or 16 bytes.
[[nodiscard]] WYRM_HD constexpr unsigned entry_bytes(unsigned width) { return sizeof(vertex_id) + width; }

/// The capacity of a new page for `degree` neighbours with values of `width` bytes; 0 for none. It is a multiple of 4.
/// A page without values has a power of two of bytes, at least 16, like the size classes of allocators, and so has a
/// page with values of 4 bytes; with values of 8 or 16 bytes, at most 1/16 of a power of two of at least 256 bytes is
/// unused. Beyond 1 MiB the capacity is a power of two plus 0 to 7 eighths of it, so at most 1/8 is slack.
[[nodiscard]] WYRM_HD constexpr std::uint32_t capacity_for(std::uint32_t degree, unsigned width = 0) {
  constexpr std::uint32_t smallest = 16 / sizeof(vertex_id);
  constexpr std::size_t largest = std::size_t{1} << 20;  // bytes of a page that is a power of two
  if (degree == 0) return 0;
  if (degree <= smallest) return smallest;
  if (std::size_t{degree} * entry_bytes(width) <= largest) {
    if (width <= 4) return cuda::std::bit_ceil(degree);
    // Pages of 12 or 20 bytes an entry have 5/4 or 3/2 of a power of two of entries, rounded down to a multiple of 4.
    std::uint32_t const quarters = width == 8 ? 5 : 6;
    std::uint32_t power = cuda::std::bit_floor(degree) / 2;
    while ((power * quarters / 4 & ~3u) < degree) power *= 2;
    std::uint32_t const capacity = power * quarters / 4 & ~3u;
    if (std::size_t{capacity} * entry_bytes(width) <= largest) return capacity;
  }
  std::uint64_t const step = cuda::std::bit_floor(degree) / 8;
  std::uint64_t const rounded = (degree + step - 1) / step * step;
  return rounded <= 0xffffffff ? static_cast<std::uint32_t>(rounded) : 0xffffffff;
}

/// Whether a vertex keeps a page of this capacity when its new degree is `degree`.
[[nodiscard]] WYRM_HD constexpr bool keeps_page(std::uint32_t capacity, std::uint32_t degree, unsigned width = 0) {
  return degree > 0 && degree <= capacity && (degree > capacity / 4 || capacity_for(degree, width) == capacity);
}

[[nodiscard]] WYRM_HD constexpr std::size_t page_bytes(std::uint32_t capacity, unsigned width = 0) {
  return std::size_t{capacity} * entry_bytes(width);
}

/// The bytes of a page, rounded to the size classes of allocators: pages without values, or with values of 4 bytes,
/// have such sizes; others are rounded to powers of two up to 1 MiB, and then to whole chunks of 8 KiB.
[[nodiscard]] WYRM_HD constexpr std::size_t rounded_page_bytes(std::size_t bytes, unsigned width) {
  if (width <= 4 || bytes == 0) return bytes;
  if (bytes <= std::size_t{1} << 20) return cuda::std::bit_ceil(bytes);
  return (bytes + 8191) / 8192 * 8192;
}

}  // namespace wyrm::graph
