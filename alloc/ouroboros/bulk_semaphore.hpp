// SPDX-License-Identifier: Apache-2.0
// The bulk semaphore of Ouroboros (ICS 2020, section 3.4, Algorithm 2). It counts units of a resource that is supplied
// in lots, and designates the thread that must supply a lot. Here a unit is room for one entry of a virtualized queue,
// and a lot is a queue node.
//
// Departure from the paper: one signed 64-bit number replaces three 21-bit fields (count, expected, reserved). It is
// the number of supplied units minus the number of demanded units. If it is negative, threads wait for that many units.
// A thread whose demand decreases it below a multiple of a lot is designated to supply a lot. So no thread loops over
// compare-and-swap, and no number of units or of waiting threads overflows a field.
//
// The designated threads supply enough for all waiting threads, as long as lots can be allocated. Let D = max(0,
// -number), P the units of a lot, and Q the units of the lots that were designated and not yet supplied. Then Q >= P *
// ceil(D / P) holds after every operation: demand() designates at least ceil(D' / P) - ceil(D / P) lots; supplying a
// lot lowers the left side by P and the right side by at least P; returned units only lower D. If a designated lot
// cannot be allocated, the threads that wait for it must not wait forever: see virtual_queues_ref::reserve().
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"

namespace wyrm::alloc {

class bulk_semaphore {
 public:
  /// Demands n units. Returns the number of lots that the caller must supply before it waits for anything.
  [[nodiscard]] WYRM_HD std::uint32_t demand(std::uint32_t n, std::uint32_t units_per_lot) {
    std::int64_t const before = number().fetch_sub(n, exec::relaxed);
    std::int64_t const after = before - n;
    return static_cast<std::uint32_t>(lots_for(-after, units_per_lot) - lots_for(-before, units_per_lot));
  }

  /// Takes n units if that many are available; false otherwise. It first reads the number, because threads that poll
  /// with unsuccessful demands would temporarily hide available units from each other.
  [[nodiscard]] WYRM_HD bool take(std::uint32_t n) {
    if (value() < std::int64_t{n}) return false;
    if (number().fetch_sub(n, exec::relaxed) >= std::int64_t{n}) return true;
    supply(n);
    return false;
  }

  /// Adds n units: newly supplied units, or demanded units that the caller does not need.
  WYRM_HD void supply(std::uint32_t n) { number().fetch_add(n, exec::relaxed); }

  /// Units available; below zero while threads wait for units.
  [[nodiscard]] WYRM_HD std::int64_t value() { return number().load(exec::relaxed); }

 private:
  WYRM_HD static std::int64_t lots_for(std::int64_t deficit, std::uint32_t units_per_lot) {
    return deficit <= 0 ? 0 : (deficit - 1) / units_per_lot + 1;
  }
  WYRM_HD exec::atomic_ref<std::int64_t> number() { return exec::atomic_ref<std::int64_t>(number_); }

  std::int64_t number_ = 0;
};

}  // namespace wyrm::alloc
