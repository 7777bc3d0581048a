// SPDX-License-Identifier: Apache-2.0
// The access primitive of Ouroboros (ICS 2020, section 3.4, Algorithm 2): counts units of something that comes in lots,
// and names the thread that has to bring a lot. Here: room in a virtualized queue, which comes by the node. Departure:
// one signed 64-bit number instead of three 21-bit fields (count, expected, reserved). It says units supplied less
// units demanded; below zero it says how many are awaited, and who crosses a multiple of a lot on the way down brings a
// lot. So nobody loops over compare-and-swap, and no number of units or of waiting threads overflows a field.
//
// Who is named brings enough for all, as long as there are lots to be had: with D = max(0, -number), P units a lot and
// Q the units of lots that were named and not yet supplied, Q >= P * ceil(D / P) after every operation, as demand()
// names at least ceil(D'/P) - ceil(D/P) lots, a supply of P takes P from both sides or more from the right, and units
// that come back only lower D. When a named lot cannot be had, those who count on it must not wait for ever: see
// virtual_queues.hpp.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"

namespace wyrm::alloc {

class bulk_semaphore {
 public:
  /// Demands n units. Returns how many lots the caller must supply before it waits for anything.
  [[nodiscard]] WYRM_HD std::uint32_t demand(std::uint32_t n, std::uint32_t units_a_lot) {
    std::int64_t const before = number().fetch_sub(n, exec::relaxed);
    std::int64_t const after = before - n;
    return static_cast<std::uint32_t>(lots_for(-after, units_a_lot) - lots_for(-before, units_a_lot));
  }

  /// Demands n units if there are as many. Looks first: many who poll, and demand in vain, would hide units from each
  /// other.
  [[nodiscard]] WYRM_HD bool take(std::uint32_t n) {
    if (value() < std::int64_t{n}) return false;
    if (number().fetch_sub(n, exec::relaxed) >= std::int64_t{n}) return true;
    supply(n);
    return false;
  }

  /// n units are there, or n demands are given up.
  WYRM_HD void supply(std::uint32_t n) { number().fetch_add(n, exec::relaxed); }

  /// Units that nobody has demanded; below zero while somebody waits.
  [[nodiscard]] WYRM_HD std::int64_t value() { return number().load(exec::relaxed); }

 private:
  WYRM_HD static std::int64_t lots_for(std::int64_t deficit, std::uint32_t units_a_lot) {
    return deficit <= 0 ? 0 : (deficit - 1) / units_a_lot + 1;
  }
  WYRM_HD exec::atomic_ref<std::int64_t> number() { return exec::atomic_ref<std::int64_t>(number_); }

  std::int64_t number_ = 0;
};

}  // namespace wyrm::alloc
