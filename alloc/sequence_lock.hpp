// SPDX-License-Identifier: Apache-2.0
// A spin lock whose holder, when it finds nothing left of what it guards, says so to all who waited meanwhile: a crowd
// of thousands that finds a pool used up need not take the lock one after the other. The holder waits for nobody but
// holders of locks further down (a class, then the pool).
//
// One word: in the lower half how often the lock was taken or given back, odd while it is held; in the upper half what
// that was when the last holder had it, if it found nothing, or 0. Its finding was true at a moment when it held the
// lock, and so during the call of everybody who waited for it, or for one before it.
#pragma once

#include <cstdint>

#include "../exec/atomic.hpp"
#include "../exec/tile.hpp"

namespace wyrm::alloc {

class sequence_lock {
 public:
  WYRM_HD explicit sequence_lock(std::uint64_t* word) : word_(*word) {}

  /// Takes the lock, or waits until somebody who had it no longer has.
  enum class outcome { taken, again, nothing_left };
  [[nodiscard]] WYRM_HD outcome take_or_wait() const {
    std::uint64_t before = word_.load(exec::relaxed);
    if (before % 2 == 0 && word_.compare_exchange_strong(before, before + 1, exec::acquire, exec::relaxed))
      return outcome::taken;
    if (before % 2 == 0) return outcome::again;
    auto const holder = static_cast<std::uint32_t>(before);
    std::uint64_t now = before;
    // Many wait, and every look delays the holder: the pauses are long from the beginning.
    for (unsigned attempt = 4; static_cast<std::uint32_t>(now) == holder; ++attempt) {
      exec::pause(attempt);
      now = word_.load(exec::acquire);
    }
    auto const found = static_cast<std::uint32_t>(now >> 32);
    return found != 0 && static_cast<std::int32_t>(found - holder) >= 0 ? outcome::nothing_left : outcome::again;
  }
  WYRM_HD void lock() const {
    while (take_or_wait() != outcome::taken) continue;
  }
  WYRM_HD void unlock() const { word_.store(held() + 1, exec::release); }
  /// The same, for who found nothing.
  WYRM_HD void unlock_with_nothing_left() const {
    word_.store(std::uint64_t{held()} << 32 | (held() + 1), exec::release);
  }

 private:
  [[nodiscard]] WYRM_HD std::uint32_t held() const { return static_cast<std::uint32_t>(word_.load(exec::relaxed)); }

  exec::atomic_ref<std::uint64_t> word_;
};

}  // namespace wyrm::alloc
