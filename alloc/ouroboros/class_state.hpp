// SPDX-License-Identifier: Apache-2.0
// The state of a size class, on the device.
#pragma once

#include <cstdint>

#include "../../exec/config.hpp"
#include "../size_classes.hpp"
#include "page_window.hpp"
#include "queue_ends.hpp"

namespace wyrm::alloc::detail {

/// The state of a class on the device. Ends: the type `ends_type` of the store. An H200 performs about one atomic
/// addition per nanosecond in each block of 256 bytes, and in all blocks at the same time. So the counter of stored
/// pages and the window of fresh pages are in different blocks. The lock, which waiting threads poll, has its own cache
/// line.
template <class Ends>
struct alignas(256) page_class_state {
  Ends pages;            // in the store: their number, and their positions where the queue holds pages
  std::uint64_t chunks;  // of this class
  page_window fresh;
  alignas(128) std::uint64_t lock;  // guards the replacement of the window
};
static_assert(sizeof(page_class_state<queue_ends>) == 512 && sizeof(page_class_state<page_counts>) == 512);

/// The states of all classes. Atomic additions to some pairs of neighbouring blocks are as slow as additions to one
/// block, and neighbouring sizes are often requested at the same time. So the classes are stored in the order 0, 25,
/// 1, 26, ..., 24, 49.
template <class Ends>
struct class_states {
  page_class_state<Ends>* slots;
  WYRM_HD static constexpr unsigned slot(unsigned c) {
    constexpr unsigned half = (page_classes + 1) / 2;
    return c < half ? 2 * c : 2 * (c - half) + 1;
  }
  WYRM_HD page_class_state<Ends>& operator[](unsigned c) const { return slots[slot(c)]; }
};

}  // namespace wyrm::alloc::detail
