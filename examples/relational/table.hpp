// SPDX-License-Identifier: Apache-2.0
// What the join and the group-by have in common: tuples, the hash function, and how many tiles a kernel has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <wyrm/exec/config.hpp>
#include <wyrm/exec/memory.hpp>

namespace relational {

namespace exec = wyrm::exec;

/// A tuple of a table: 8 bytes.
struct alignas(8) tuple {
  std::uint32_t key;
  std::uint32_t value;
};

/// All 32 bits of the result depend on all bits of the key, and different keys have different results.
[[nodiscard]] WYRM_HD inline std::uint32_t hash(std::uint32_t key) {
  key = (key ^ key >> 16) * 0x85ebca6bu;
  key = (key ^ key >> 13) * 0xc2b2ae35u;
  return key ^ key >> 16;
}

/// The number of tiles that share `items` items in a loop: all that the space can run at the same time, but not more
/// than there are items.
template <class Space>
[[nodiscard]] std::size_t tiles_for(Space const& space, std::size_t items) {
  constexpr std::size_t lanes = Space::template tile_size<32>;
  exec::buffer<std::uint32_t, Space> most(space, 1);
  exec::write(space, most.data(), static_cast<std::uint32_t>(std::min<std::size_t>(items * lanes, 0xffffffff)));
  return std::max<std::size_t>(1, std::min(items, space.lanes_for(most.data()) / lanes));
}

}  // namespace relational
