// SPDX-License-Identifier: Apache-2.0
// The size of the page of a vertex. A layout of the whole graph uses the smallest page sizes of the allocator
// (layout_sizes). An update replaces a page by one whose size in bytes is a power of two (capacity_for): by a larger
// one if it is full, and by a smaller one if three quarters of it are empty. So a list that grows by one neighbour at a
// time is copied O(log degree) times, and a vertex whose degree alternates around a boundary keeps its page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../alloc/size_classes.hpp"
#include "../../exec/config.hpp"
#include "../types.hpp"

namespace wyrm::graph {

/// The bytes of a neighbour in a page: its id, and its value of 0, 4, 8 or 16 bytes.
[[nodiscard]] WYRM_HD constexpr unsigned entry_bytes(unsigned width) { return sizeof(vertex_id) + width; }

/// The capacity of the page that an update makes for `degree` neighbours with values of `width` bytes; 0 for none. It
/// is a multiple of 4. The bytes of a page without values, or with values of 4 bytes, are a power of two of at
/// least 16. With values of 8 or 16 bytes, at most 1/16 of a power of two of at least 256 bytes is unused. Beyond 1 MiB
/// the capacity is a power of two plus 0 to 7 eighths of it, so at most 1/8 is slack.
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

/// The bytes of a page, rounded to the size classes of allocators: to those of Ouroboros, or to powers of two, up to 1
/// MiB, and then to whole chunks of 8 KiB.
[[nodiscard]] WYRM_HD constexpr std::size_t rounded_page_bytes(std::size_t bytes, bool powers_of_two) {
  if (bytes == 0) return 0;
  if (bytes > alloc::detail::largest_page) return (bytes + 8191) / 8192 * 8192;
  return powers_of_two ? cuda::std::bit_ceil(bytes) : alloc::detail::page_bytes(alloc::detail::class_for(bytes));
}

/// The capacity of the smallest page for `degree` neighbours with values of `width` bytes; 0 for none. It is a multiple
/// of 4, with 8 significant bits, so that a record can store it. It fills the page if the page has one of the sizes of
/// Ouroboros. Beyond 1 MiB it is capacity_for().
[[nodiscard]] WYRM_HD constexpr std::uint32_t least_capacity_for(std::uint32_t degree, unsigned width = 0) {
  if (degree == 0) return 0;
  std::size_t const bytes = page_bytes(degree, width);
  if (bytes <= alloc::detail::largest_page)
    for (unsigned c = alloc::detail::class_for(bytes); c < alloc::detail::page_classes; ++c) {
      auto const entries = static_cast<std::uint32_t>(alloc::detail::page_bytes(c)) / entry_bytes(width);
      auto const bits = static_cast<unsigned>(cuda::std::bit_width(entries));
      unsigned const dropped = bits > 10 ? bits - 8 : 2;
      if (std::uint32_t const capacity = entries >> dropped << dropped; capacity >= degree) return capacity;
    }
  return capacity_for(degree, width);
}

/// The sizes of the pages of a layout.
struct layout_sizes {
  unsigned width;       // bytes of a value
  bool powers_of_two;   // whether the allocator has only such sizes
  std::uint32_t slack;  // additional room, in 256ths of the number of neighbours

  [[nodiscard]] WYRM_HD constexpr layout_sizes with_at_least(std::uint32_t other) const {
    return {width, powers_of_two, slack < other ? other : slack};
  }
  /// The neighbours for which a vertex of this degree has room, at least.
  [[nodiscard]] WYRM_HD constexpr std::uint32_t with_slack(std::uint32_t degree) const {
    std::uint64_t const wanted = degree + (std::uint64_t{degree} * slack >> 8);
    return wanted < 0xf0000000 ? static_cast<std::uint32_t>(wanted) : degree;
  }
  [[nodiscard]] WYRM_HD constexpr std::uint32_t capacity(std::uint32_t degree) const {
    return powers_of_two ? capacity_for(with_slack(degree), width) : least_capacity_for(with_slack(degree), width);
  }
};

}  // namespace wyrm::graph
