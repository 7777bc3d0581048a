// SPDX-License-Identifier: Apache-2.0
// A spin lock that can pass a result to the threads that wait for it. If the holder finds that nothing is left of the
// resource that the lock guards, it publishes this with the unlock, and all threads that were already waiting when it
// took the lock get this result. So thousands of threads that find a pool used up need not take the lock one after the
// other. The holder itself waits only for locks of a lower level (first a class, then the pool).
//
// The lock is one word. The lower half is a sequence number: how often the lock was taken or released; odd while it is
// held. The upper half is the sequence number of the last holder if it found nothing left, else 0. This result was true
// at a moment when the holder had the lock. So it is only valid for threads that waited before the holder took the
// lock. A thread that came later may itself have freed something just before.
#pragma once

#include <cstdint>

#include "../exec/atomic.hpp"
#include "../exec/tile.hpp"

namespace wyrm::alloc {

class sequence_lock {
 public:
  WYRM_HD explicit sequence_lock(std::uint64_t& word) : word_(word) {}

  /// Takes the lock if it is free; never waits. After `wait` the caller has to call it again on the same object, until
  /// it returns `taken`, or `exhausted`: then a thread that took the lock meanwhile has found nothing left.
  enum class outcome { taken, wait, exhausted };
  [[nodiscard]] WYRM_HD outcome try_take() {
    if (waits_) {
      std::uint64_t const now = word_.load(exec::acquire);
      if (static_cast<std::uint32_t>(now) == held_) return outcome::wait;
      waits_ = false;
      auto const found = static_cast<std::uint32_t>(now >> 32);
      if (found != 0 && static_cast<std::int32_t>(found - since_) > 0) return outcome::exhausted;
    }
    std::uint64_t const before = word_.fetch_or(1, exec::acquire);
    held_ = static_cast<std::uint32_t>(before) | 1;
    waits_ = before % 2 != 0;
    if (waits_ && since_ == 0) since_ = held_;
    return waits_ ? outcome::wait : outcome::taken;
  }
  /// Waits for the lock, or until a holder has found nothing left. True if this thread has taken the lock.
  [[nodiscard]] WYRM_HD bool take_unless_exhausted() {
    outcome now = try_take();
    for (unsigned attempt = 4; now == outcome::wait; ++attempt) {
      exec::pause(attempt);
      now = try_take();
    }
    return now == outcome::taken;
  }
  /// Waits for the lock.
  WYRM_HD void lock() {
    while (!take_unless_exhausted()) continue;
  }
  /// Releases the lock; on the object that took it.
  WYRM_HD void unlock() { word_.store(std::uint32_t{held_ + 1}, exec::release); }
  /// The same for a holder that has found nothing left.
  WYRM_HD void unlock_exhausted() { word_.store(std::uint64_t{held_} << 32 | std::uint32_t{held_ + 1}, exec::release); }

 private:
  exec::atomic_ref<std::uint64_t> word_;
  std::uint32_t held_ = 0;   // the sequence number of this thread as holder, or of the holder that it waits for
  std::uint32_t since_ = 0;  // held_ when this thread first waited; 0: it has not (held_ is odd)
  bool waits_ = false;
};

}  // namespace wyrm::alloc
