// SPDX-License-Identifier: Apache-2.0
// Fragmentation of a pool in checked mode, as ScatterAlloc (InPar 2012, section 3) defines it. It is computed from the
// addresses and sizes of the live blocks, so it is measured in the same way for every allocator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "allocator.hpp"
#include "ledger.hpp"

namespace wyrm::alloc::detail {

struct block_size {
  std::uint64_t asked;
  std::uint64_t granted;
};
template <class View>
struct measure_blocks {
  View view;
  ledger_ref ledger;
  std::byte* base;
  std::uint64_t const* offsets;
  block_size* sizes;
  WYRM_HD void operator()(std::size_t i) const {
    std::byte* const p = base + offsets[i];
    sizes[i] = {ledger.asked_bytes(p), view.granted_bytes(p)};
  }
};

/// Adds the fragmentation to the other statistics of a pool, which must be complete, if it is in checked mode, and the
/// space has memory for it. View has granted_bytes(p), the bytes of the pool that the live block at p takes.
/// header_bytes: of these between two blocks. O(pool / 128 + live blocks).
template <class Space, class View>
void add_fragmentation(Space const& space, ledger<Space> const& l, View const& view, std::byte* base, statistics& s,
                       std::size_t header_bytes = 0) {
  if (!l.checked()) return;
  std::vector<std::size_t> const live = l.live_offsets();
  std::vector<std::uint64_t> const offsets(live.begin(), live.end());
  std::vector<block_size> sizes;
  try {
    exec::buffer<std::uint64_t, Space> where(space, offsets.size());
    exec::buffer<block_size, Space> found(space, offsets.size());
    exec::copy_in<std::uint64_t>(space, where.data(), offsets);
    exec::for_each(space, offsets.size(), measure_blocks<View>{view, l.ref(), base, where.data(), found.data()});
    sizes = exec::copy_out(space, found.data(), offsets.size());
  } catch (error const& e) {
    if (e.code() != error_code::out_of_memory) throw;
    return;
  }

  fragmentation_statistics f;
  f.blocks = sizes.size();
  std::uint64_t end = 0;  // of the blocks so far
  auto const add_region = [&](std::uint64_t to) {
    if (to <= end) return;
    f.free += to - end;
    f.largest_free = std::max<std::size_t>(f.largest_free, to - end);
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto const asked = static_cast<double>(sizes[i].asked);
    f.requested += sizes[i].asked;
    f.internal += 1 - asked / static_cast<double>(sizes[i].granted);
    add_region(offsets[i]);
    end = std::max(end, offsets[i] + sizes[i].granted + header_bytes);
  }
  add_region(s.committed);
  if (f.blocks > 0) f.internal /= static_cast<double>(f.blocks);
  if (f.free > 0) f.external = 1 - static_cast<double>(f.largest_free) / static_cast<double>(f.free);
  std::size_t taken = s.granted;
  for (class_statistics const& c : s.classes) taken += c.free * c.page_bytes;
  if (f.requested > 0) f.blowup = static_cast<double>(taken) / static_cast<double>(f.requested);
  s.fragmentation = f;
}

}  // namespace wyrm::alloc::detail
