// SPDX-License-Identifier: Apache-2.0
// The standard index queue of Ouroboros (ICS 2020, section 3.3, Algorithm 1): a ring of indices with deletion markers.
// Departure: positions and the number of entries are in queue_ends.hpp, so that no thread enqueues without room, or
// dequeues an entry that will not be written.
//
// A slot is written by compare-and-swap from "empty" (release) and read by exchange with "empty" (acquire): the
// accesses of a page's last user happen before those of its next user. Two writers, or two readers, whose positions are
// whole laps apart may use one slot at the same time, and one reader may get the entry that was written for the other.
// This is harmless: entries are interchangeable, and each slot will have as many writers as readers. A reader waits for
// the writer of its position, which waits for the reader of the previous lap, and so on down to the first position of
// the slot, whose thread waits for no other thread.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::alloc {

/// The slots of a queue. A slot holds an index + 1, or 0 (the deletion marker) if it is empty. Slots have 32 bits, or
/// 64 where 32 bits cannot number all pages.
class index_slots {
 public:
  index_slots() = default;
  WYRM_HD index_slots(void* slots, bool wide) : slots_(slots), wide_(wide) {}

  [[nodiscard]] static WYRM_HD constexpr std::size_t entry_bytes(bool wide) { return wide ? 8 : 4; }

  [[nodiscard]] WYRM_HD bool try_write(std::size_t slot, std::uint64_t index) const {
    return wide_ ? try_write<std::uint64_t>(slot, index) : try_write<std::uint32_t>(slot, index);
  }
  [[nodiscard]] WYRM_HD bool try_read(std::size_t slot, std::uint64_t& index) const {
    return wide_ ? try_read<std::uint64_t>(slot, index) : try_read<std::uint32_t>(slot, index);
  }
  /// The same for a slot that is written once and read once before it is cleared, so that a store and a load are
  /// enough. try_read_once() does not empty the slot.
  WYRM_HD void write_once(std::size_t slot, std::uint64_t index) const {
    if (wide_)
      at<std::uint64_t>(slot).store(index + 1, exec::release);
    else
      at<std::uint32_t>(slot).store(static_cast<std::uint32_t>(index + 1), exec::release);
  }
  [[nodiscard]] WYRM_HD bool try_read_once(std::size_t slot, std::uint64_t& index) const {
    std::uint64_t const entry = wide_ ? at<std::uint64_t>(slot).load(exec::acquire)
                                      : std::uint64_t{at<std::uint32_t>(slot).load(exec::acquire)};
    index = entry - 1;
    return entry != 0;
  }

 private:
  template <class T>
  [[nodiscard]] WYRM_HD exec::atomic_ref<T> at(std::size_t slot) const {
    return exec::atomic_ref<T>(static_cast<T*>(slots_)[slot]);
  }
  template <class T>
  [[nodiscard]] WYRM_HD bool try_write(std::size_t slot, std::uint64_t index) const {
    T expected = 0;
    return at<T>(slot).compare_exchange_strong(expected, static_cast<T>(index + 1), exec::release, exec::relaxed);
  }
  template <class T>
  [[nodiscard]] WYRM_HD bool try_read(std::size_t slot, std::uint64_t& index) const {
    T const entry = at<T>(slot).exchange(0, exec::acquire);
    index = std::uint64_t{entry} - 1;
    return entry != 0;
  }

  void* slots_ = nullptr;
  bool wide_ = false;
};

/// A ring whose number of slots is a power of two. Positions wrap around; the caller claims them, see queue_ends.hpp.
class index_ring {
 public:
  index_ring() = default;
  index_ring(void* slots, std::uint32_t size, bool wide) : slots_(slots, wide), mask_(size - 1) {}

  [[nodiscard]] WYRM_HD std::uint32_t size() const { return mask_ + 1; }

  [[nodiscard]] WYRM_HD bool try_write(std::uint32_t position, std::uint64_t index) const {
    return slots_.try_write(position & mask_, index);
  }
  /// Waits until the slot of the position is empty.
  WYRM_HD void write(std::uint32_t position, std::uint64_t index) const {
    for (unsigned attempt = 0; !try_write(position, index); ++attempt) exec::pause(attempt);
  }
  [[nodiscard]] WYRM_HD bool try_read(std::uint32_t position, std::uint64_t& index) const {
    return slots_.try_read(position & mask_, index);
  }
  /// The entry at a position, which stays there; while no thread writes or reads the ring.
  [[nodiscard]] WYRM_HD std::uint64_t peek(std::uint32_t position) const {
    std::uint64_t index = 0;
    (void)slots_.try_read_once(position & mask_, index);
    return index;
  }
  /// Waits until the entry of the position has been written.
  [[nodiscard]] WYRM_HD std::uint64_t read(std::uint32_t position) const {
    std::uint64_t index = 0;
    for (unsigned attempt = 0; !try_read(position, index); ++attempt) exec::pause(attempt);
    return index;
  }

 private:
  index_slots slots_;
  std::uint32_t mask_ = 0;
};

}  // namespace wyrm::alloc
