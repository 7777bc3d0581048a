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

/// The capacity of a new page for `degree` neighbours; 0 for none. The size of a page is a power of two of at least 16
/// bytes, like the size classes of allocators; beyond 1 MiB it is a multiple of 128 KiB with at most 1/8 of slack.
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

/// Whether a vertex keeps a page of this capacity when its new degree is `degree`.
[[nodiscard]] WYRM_HD constexpr bool keeps_page(std::uint32_t capacity, std::uint32_t degree) {
  return degree > 0 && degree <= capacity && (degree > capacity / 4 || capacity_for(degree) == capacity);
}

[[nodiscard]] WYRM_HD constexpr std::size_t page_bytes(std::uint32_t capacity) {
  return std::size_t{capacity} * sizeof(vertex_id);
}

}  // namespace wyrm::graph
