// SPDX-License-Identifier: Apache-2.0
// The standard index queue of Ouroboros (ICS 2020, section 3.3, Algorithm 1): a ring of indices with deletion markers.
// Departure: positions and the fill count are queue_ends.hpp's, so that nobody enqueues where there is no room, or
// dequeues what does not come.
//
// A slot is written by compare-and-swap from "empty" (release) and read by exchange with "empty" (acquire): what the
// last user of a page did is ordered before what the next one does. Two writers, or two readers, of one slot, whole
// laps apart, are possible, and a reader may get what was meant for the other: entries are interchangeable, and every
// slot has as many writers as readers to come. A reader waits for the writer of its position, which waits for the
// reader of the lap before, and so on down to the first of them, who waits for nobody.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::alloc {

/// How an index is stored: 0 is the deletion marker. Entries have 32 bits, or 64 where 32 do not count all pages.
class index_slots {
 public:
  index_slots() = default;
  WYRM_HD index_slots(void* slots, bool wide) : slots_(slots), wide_(wide) {}

  [[nodiscard]] static WYRM_HD constexpr std::size_t entry_bytes(bool wide) { return wide ? 8 : 4; }

  [[nodiscard]] WYRM_HD bool try_put(std::size_t slot, std::uint64_t index) const {
    return wide_ ? try_put<std::uint64_t>(slot, index) : try_put<std::uint32_t>(slot, index);
  }
  [[nodiscard]] WYRM_HD bool try_take(std::size_t slot, std::uint64_t& index) const {
    return wide_ ? try_take<std::uint64_t>(slot, index) : try_take<std::uint32_t>(slot, index);
  }
  /// The same for a slot that has one writer and one reader in its life: nobody competes.
  WYRM_HD void put_once(std::size_t slot, std::uint64_t index) const {
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
  [[nodiscard]] WYRM_HD bool try_put(std::size_t slot, std::uint64_t index) const {
    T expected = 0;
    return at<T>(slot).compare_exchange_strong(expected, static_cast<T>(index + 1), exec::release, exec::relaxed);
  }
  template <class T>
  [[nodiscard]] WYRM_HD bool try_take(std::size_t slot, std::uint64_t& index) const {
    T const entry = at<T>(slot).exchange(0, exec::acquire);
    index = std::uint64_t{entry} - 1;
    return entry != 0;
  }

  void* slots_ = nullptr;
  bool wide_ = false;
};

/// A ring of a power of two slots.
class index_ring {
 public:
  index_ring() = default;
  index_ring(void* slots, std::uint32_t size, bool wide) : slots_(slots, wide), mask_(size - 1) {}

  [[nodiscard]] WYRM_HD std::uint32_t size() const { return mask_ + 1; }

  [[nodiscard]] WYRM_HD bool try_put(std::uint32_t position, std::uint64_t index) const {
    return slots_.try_put(position & mask_, index);
  }
  WYRM_HD void put(std::uint32_t position, std::uint64_t index) const {
    for (unsigned attempt = 0; !try_put(position, index); ++attempt) exec::pause(attempt);
  }
  [[nodiscard]] WYRM_HD bool try_take(std::uint32_t position, std::uint64_t& index) const {
    return slots_.try_take(position & mask_, index);
  }
  [[nodiscard]] WYRM_HD std::uint64_t peek(std::uint32_t position) const {
    std::uint64_t index = 0;
    (void)slots_.try_read_once(position & mask_, index);
    return index;
  }
  [[nodiscard]] WYRM_HD std::uint64_t take(std::uint32_t position) const {
    std::uint64_t index = 0;
    for (unsigned attempt = 0; !try_take(position, index); ++attempt) exec::pause(attempt);
    return index;
  }

 private:
  index_slots slots_;
  std::uint32_t mask_ = 0;
};

}  // namespace wyrm::alloc
