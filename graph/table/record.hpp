// SPDX-License-Identifier: Apache-2.0
// The record of a vertex: its page, its degree, and the capacity of the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../types.hpp"

namespace wyrm::graph {

/// The record of a vertex, unpacked. A vertex without neighbours has no page.
struct alignas(16) vertex_record {
  vertex_id* page;
  std::uint32_t degree;
  std::uint32_t capacity;  // in neighbours
};

/// A record in 12 bytes, as in the vertex table; all bits 0: no page. It stores the lower 48 bits of an address;
/// x86-64, ARMv8 and GPUs use no more by default. A capacity is a power of two plus 0 to 7 eighths of it (see
/// capacity_for), and is stored as the upper half of a float. Its sign bit is set for a vertex that is not in the
/// graph, see dynamic_graph::remove_vertices(); such a vertex has no page.
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

  /// The record of a vertex that is not in the graph.
  [[nodiscard]] WYRM_HD static packed_record absent() {
    packed_record r({nullptr, 0, 0});
    r.high_ = absent_bit;
    return r;
  }
  [[nodiscard]] WYRM_HD bool is_absent() const { return (high_ & absent_bit) != 0; }

  std::uint32_t degree;

 private:
  static constexpr std::uint32_t absent_bit = 0x80000000;

  std::uint32_t low_;   // lower 32 bits of the page
  std::uint32_t high_;  // the capacity, then the upper 16 bits of the page
};
static_assert(sizeof(packed_record) == 12 && sizeof(void*) == 8);

/// The records of a snapshot, or of none. A snapshot may have fewer vertices than the graph, which grows.
struct snapshot_records {
  packed_record const* records = nullptr;
  vertex_id vertices = 0;
  [[nodiscard]] WYRM_HD bool none() const { return vertices == 0; }
};

/// Whether the newest snapshot references the page of vertex v. If any snapshot references the page, the newest one
/// does. The page must then neither be changed nor freed.
[[nodiscard]] WYRM_HD inline bool is_shared(snapshot_records const& newest, std::size_t v, vertex_id const* page) {
  return v < newest.vertices && page != nullptr && newest.records[v].page() == page;
}

}  // namespace wyrm::graph
