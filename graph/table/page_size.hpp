// SPDX-License-Identifier: Apache-2.0
// How large the page of a vertex is. A page is replaced only when the degree leaves its class: upwards when it is full,
// downwards when three quarters are empty, so that a vertex at a boundary does not move back and forth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../types.hpp"

namespace wyrm::graph {

/// The neighbours that a new page for `degree` of them has room for; 0 for none. The page is a power of two of at least
/// 16 bytes, as allocators have them, and beyond 1 MiB a multiple of 128 KiB with at most 1/8 of slack.
[[nodiscard]] WYRM_HD constexpr std::uint32_t capacity_for(std::uint32_t degree) {
  constexpr std::uint32_t smallest = 16 / sizeof(vertex_id);
  constexpr std::uint32_t largest = (std::uint32_t{1} << 20) / sizeof(vertex_id);
  if (degree == 0) return 0;
  if (degree <= smallest) return smallest;
  if (degree <= largest) return cuda::std::bit_ceil(degree);
  std::uint64_t const step = cuda::std::bit_floor(degree) / 8;
  std::uint64_t const rounded = (degree + step - 1) / step * step;
  return rounded <= 0xffffffff ? static_cast<std::uint32_t>(rounded) : 0xffffffff;
}

/// Whether a page with room for `capacity` stays when its vertex gets `degree` neighbours.
[[nodiscard]] WYRM_HD constexpr bool keeps_page(std::uint32_t capacity, std::uint32_t degree) {
  return degree > 0 && degree <= capacity && (degree > capacity / 4 || capacity_for(degree) == capacity);
}

[[nodiscard]] WYRM_HD constexpr std::size_t page_bytes(std::uint32_t capacity) {
  return std::size_t{capacity} * sizeof(vertex_id);
}

}  // namespace wyrm::graph
