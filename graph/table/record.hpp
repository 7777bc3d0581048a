// SPDX-License-Identifier: Apache-2.0
// The record of a vertex: where its page is, how many neighbours it has, and for how many the page has room.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../types.hpp"

namespace wyrm::graph {

/// What the vertex table knows of a vertex. One without neighbours has no page.
struct alignas(16) vertex_record {
  vertex_id* page;
  std::uint32_t degree;
  std::uint32_t capacity;  // neighbours that the page has room for
};

/// The same in 12 bytes, as the table has it; all bits 0: no page. Of an address the lower 48 bits are kept, which is
/// what programs are given on x86-64, on ARMv8 and on GPUs unless they ask for more. A capacity is a power of
/// two, plus 0 to 7 eighths of it (see capacity_for), and is stored as the upper half of a float.
class packed_record {
 public:
  packed_record() = default;
  WYRM_HD packed_record(vertex_record const& r)
      : degree(r.degree),
        low_(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(r.page))),
        high_(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(r.page) >> 32 & 0xffff) |
              (cuda::std::bit_cast<std::uint32_t>(static_cast<float>(r.capacity)) & 0xffff0000)) {}

  [[nodiscard]] WYRM_HD vertex_id* page() const {
    return reinterpret_cast<vertex_id*>(std::uintptr_t{high_ & 0xffff} << 32 | low_);
  }
  [[nodiscard]] WYRM_HD std::uint32_t capacity() const {
    auto const c = static_cast<std::uint64_t>(cuda::std::bit_cast<float>(high_ & 0xffff0000));
    return c <= 0xffffffff ? static_cast<std::uint32_t>(c) : 0xffffffff;
  }
  WYRM_HD operator vertex_record() const { return {page(), degree, capacity()}; }

  std::uint32_t degree;

 private:
  std::uint32_t low_;   // of the page
  std::uint32_t high_;  // of the capacity, and then of the page
};
static_assert(sizeof(packed_record) == 12 && sizeof(void*) == 8);

}  // namespace wyrm::graph
