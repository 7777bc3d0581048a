// SPDX-License-Identifier: Apache-2.0
// The standard index queue of Ouroboros (ICS 2020, section 3.3, Algorithm 1): a ring of page indices with deletion
// markers. Positions are handed out by atomic additions; whoever holds a position meets its partner at the slot.
// Departures: the fill count is the bulk semaphore's business, so that there is room by construction (the ring has a
// slot for every page of the pool); tiles take positions for all their lanes at once; positions have 64 bits.
//
// A slot is written by compare-and-swap from "empty" (release) and read by exchange with "empty" (acquire): what the
// last user of a page did is ordered before what the next one does. Two writers, or two readers, of one slot, whole
// laps apart, are possible, and a reader may get what was meant for the other: entries are interchangeable. A reader
// takes only when its position is claimed for writing, so each slot has a writer to come for every reader that takes.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::alloc {

struct index_queue_state {
  std::uint64_t front;
  std::uint64_t back;
};

class index_queue {
 public:
  static constexpr std::uint32_t nothing = 0xffffffff;  // an entry that holds no page: its reader gets nullptr
  static constexpr std::uint32_t empty = 0;             // the deletion marker
  static constexpr std::uint32_t max_indices = 0xfffffffe;

  WYRM_HD index_queue(index_queue_state* state, std::uint32_t* slots, std::uint32_t size)
      : state_(state), slots_(slots), size_(size) {}

  /// Positions for n entries to be written, or read; called by one thread.
  [[nodiscard]] WYRM_HD std::uint64_t claim_back(std::uint32_t n) const {
    return exec::atomic_ref<std::uint64_t>(state_->back).fetch_add(n, exec::relaxed);
  }
  [[nodiscard]] WYRM_HD std::uint64_t claim_front(std::uint32_t n) const {
    return exec::atomic_ref<std::uint64_t>(state_->front).fetch_add(n, exec::relaxed);
  }

  /// The first positions that nobody has claimed yet, for writing and for reading. An entry is there, or will come, at
  /// every position below back().
  [[nodiscard]] WYRM_HD std::uint64_t back() const {
    return exec::atomic_ref<std::uint64_t>(state_->back).load(exec::relaxed);
  }
  [[nodiscard]] WYRM_HD std::uint64_t front() const {
    return exec::atomic_ref<std::uint64_t>(state_->front).load(exec::relaxed);
  }

  /// Takes the next position to be written if it is below `limit`, where somebody waits. False if it is not.
  [[nodiscard]] WYRM_HD bool claim_back_below(std::uint64_t limit, std::uint64_t& position) const {
    exec::atomic_ref<std::uint64_t> back(state_->back);
    position = back.load(exec::relaxed);
    while (position < limit)
      if (back.compare_exchange_weak(position, position + 1, exec::relaxed, exec::relaxed)) return true;
    return false;
  }

  /// Writes the entry of a claimed position: a page index, or `nothing`. False while a reader who is a whole lap behind
  /// has not yet fetched what is there for him.
  [[nodiscard]] WYRM_HD bool try_put(std::uint64_t position, std::uint32_t index) const {
    std::uint32_t expected = empty;
    std::uint32_t const entry = index == nothing ? nothing : index + 1;
    return exec::atomic_ref<std::uint32_t>(slots_[position % size_])
        .compare_exchange_strong(expected, entry, exec::release, exec::relaxed);
  }
  WYRM_HD void put(std::uint64_t position, std::uint32_t index) const {
    for (unsigned attempt = 0; !try_put(position, index); ++attempt) exec::pause(attempt);
  }

  /// Reads the entry of a position that is claimed for reading, if it has been written: a page index, or `nothing`.
  /// Polls the slot alone, and looks at the counters, which everybody uses, only once something is there.
  [[nodiscard]] WYRM_HD bool try_take(std::uint64_t position, std::uint32_t& index) const {
    exec::atomic_ref<std::uint32_t> slot(slots_[position % size_]);
    if (slot.load(exec::relaxed) == empty || back() <= position) return false;
    std::uint32_t const entry = slot.exchange(empty, exec::acquire);
    index = entry == nothing ? nothing : entry - 1;
    return entry != empty;
  }

 private:
  index_queue_state* state_;
  std::uint32_t* slots_;
  std::uint32_t size_;
};

}  // namespace wyrm::alloc
