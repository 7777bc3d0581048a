// SPDX-License-Identifier: Apache-2.0
// The access primitive of Ouroboros (ICS 2020, section 3.4, Algorithm 2): counts the pages of one class and names the
// thread that has to bring new ones. Departure: one signed 64-bit number instead of three 21-bit fields (count,
// expected, reserved). It says pages supplied less pages demanded; below zero it says how many pages are awaited, and
// who crosses a multiple of a chunk's pages on the way down brings a chunk. So nobody loops over compare-and-swap, and
// no number of pages or of waiting threads overflows a field.
//
// Who is named brings enough for all, as long as there is memory: with D = max(0, -number), P pages a chunk and Q the
// pages of chunks that were named and not yet supplied, Q >= P * ceil(D / P) after every operation, as demand() names
// at least ceil(D'/P) - ceil(D/P) chunks, a supply of P takes P from both sides or more from the right, and freed
// pages only lower D. When a named chunk cannot be had, those who counted on it help themselves (see ouroboros.hpp).
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"

namespace wyrm::alloc {

class bulk_semaphore {
 public:
  /// Demands n pages. Returns how many chunks the caller must supply before it waits for anything.
  [[nodiscard]] WYRM_HD std::uint32_t demand(std::uint32_t n, std::uint32_t pages_a_chunk) {
    std::int64_t const before = number().fetch_sub(n, exec::relaxed);
    std::int64_t const after = before - n;
    return static_cast<std::uint32_t>(chunks_for(-after, pages_a_chunk) - chunks_for(-before, pages_a_chunk));
  }

  /// Demands n pages if there are as many.
  [[nodiscard]] WYRM_HD bool take(std::uint32_t n) {
    if (number().fetch_sub(n, exec::relaxed) >= std::int64_t{n}) return true;
    supply(n);
    return false;
  }

  /// n pages have been, or are just being, put into the queue; or n demands have their answer without one.
  WYRM_HD void supply(std::uint32_t n) { number().fetch_add(n, exec::relaxed); }

  /// Free pages; below zero while somebody waits.
  [[nodiscard]] WYRM_HD std::int64_t value() { return number().load(exec::relaxed); }

 private:
  WYRM_HD static std::int64_t chunks_for(std::int64_t deficit, std::uint32_t pages_a_chunk) {
    return deficit <= 0 ? 0 : (deficit - 1) / pages_a_chunk + 1;
  }
  WYRM_HD exec::atomic_ref<std::int64_t> number() { return exec::atomic_ref<std::int64_t>(number_); }

  std::int64_t number_ = 0;
};

}  // namespace wyrm::alloc
