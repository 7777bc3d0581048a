// SPDX-License-Identifier: Apache-2.0
// A spin lock whose holder, when it finds nothing left of what it guards, says so to all who waited meanwhile: a crowd
// of thousands that finds a pool used up need not take the lock one after the other. The holder waits for nobody but
// holders of locks further down (a class, then the pool).
//
// One word: in the lower half how often the lock was taken or given back, odd while it is held; in the upper half what
// that was when the last holder had it, if it found nothing, or 0. Its finding was true at a moment when it held the
// lock. So it concerns those alone who waited before it took the lock: who came later may have freed, just before, what
// the holder did not find.
#pragma once

#include <cstdint>

#include "../exec/atomic.hpp"
#include "../exec/tile.hpp"

namespace wyrm::alloc {

class sequence_lock {
 public:
  WYRM_HD explicit sequence_lock(std::uint64_t& word) : word_(word) {}

  /// Takes the lock, if nobody has it; else the same object must be asked again, until it says something else: that one
  /// who took the lock meanwhile found nothing. Waits for nobody.
  enum class outcome { taken, wait, nothing_left };
  [[nodiscard]] WYRM_HD outcome try_take() {
    if (waits_) {
      std::uint64_t const now = word_.load(exec::acquire);
      if (static_cast<std::uint32_t>(now) == held_) return outcome::wait;
      waits_ = false;
      auto const found = static_cast<std::uint32_t>(now >> 32);
      if (found != 0 && static_cast<std::int32_t>(found - since_) > 0) return outcome::nothing_left;
    }
    std::uint64_t const before = word_.fetch_or(1, exec::acquire);
    held_ = static_cast<std::uint32_t>(before) | 1;
    waits_ = before % 2 != 0;
    if (waits_ && since_ == 0) since_ = held_;
    return waits_ ? outcome::wait : outcome::taken;
  }
  /// Waits for the lock, or until somebody has found nothing. True if it was taken.
  [[nodiscard]] WYRM_HD bool take_unless_nothing_is_left() {
    outcome now = try_take();
    for (unsigned attempt = 4; now == outcome::wait; ++attempt) {
      exec::pause(attempt);
      now = try_take();
    }
    return now == outcome::taken;
  }
  WYRM_HD void lock() {
    while (!take_unless_nothing_is_left()) continue;
  }
  /// By the object that took the lock.
  WYRM_HD void unlock() { word_.store(std::uint32_t{held_ + 1}, exec::release); }
  /// The same, for who found nothing.
  WYRM_HD void unlock_with_nothing_left() {
    word_.store(std::uint64_t{held_} << 32 | std::uint32_t{held_ + 1}, exec::release);
  }

 private:
  exec::atomic_ref<std::uint64_t> word_;
  std::uint32_t held_ = 0;   // the lower half while we, or those we wait for, hold the lock
  std::uint32_t since_ = 0;  // what that was when we first waited; odd, so 0 is never
  bool waits_ = false;
};

}  // namespace wyrm::alloc
