// SPDX-License-Identifier: Apache-2.0
// Free units in a row: what a tile must know of a region of a bitmap to find n of them. Regions are put together from
// words, in order, as their lanes have them (the structure K of RW_malloc, ACM TOPC 2025, section 4.3, in registers).
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"

namespace wyrm::alloc::detail {

/// Of a stretch of units, up to 2048.
struct free_runs {
  std::uint32_t units = 0;
  std::uint32_t prefix = 0;  // free ones at its begin
  std::uint32_t suffix = 0;  // and at its end
  std::uint32_t longest = 0;
  std::uint32_t at = 0;  // where the longest begins

  /// To and from one word, but for `units`.
  [[nodiscard]] WYRM_HD std::uint64_t packed() const {
    return prefix | std::uint64_t{suffix} << 16 | std::uint64_t{longest} << 32 | std::uint64_t{at} << 48;
  }
  WYRM_HD static free_runs unpacked(std::uint32_t units, std::uint64_t word) {
    return {units, static_cast<std::uint32_t>(word & 0xffff), static_cast<std::uint32_t>(word >> 16 & 0xffff),
            static_cast<std::uint32_t>(word >> 32 & 0xffff), static_cast<std::uint32_t>(word >> 48)};
  }
};

/// Of a word, in which free units are set.
WYRM_HD inline free_runs runs_of(std::uint64_t free) {
  if (free == ~std::uint64_t{0}) return {64, 64, 64, 64, 0};
  std::uint64_t begins[6];  // of runs of 2^k and more
  begins[0] = free;
  for (unsigned k = 1; k < 6; ++k) begins[k] = begins[k - 1] & begins[k - 1] >> (1u << (k - 1));
  std::uint64_t best = 0;
  std::uint32_t longest = 0;
  for (unsigned k = 6; k-- > 0;) {
    std::uint64_t const longer = longest == 0 ? begins[k] : best & begins[k] >> longest;
    if (longer == 0) continue;
    best = longer;
    longest += 1u << k;
  }
  return {64, static_cast<std::uint32_t>(cuda::std::countr_one(free)),
          static_cast<std::uint32_t>(cuda::std::countl_one(free)), longest,
          longest > 0 ? static_cast<std::uint32_t>(cuda::std::countr_zero(best)) : 0};
}

/// Of a, and b behind it; runs go on across the border only if they are `neighbours`.
WYRM_HD inline free_runs join(free_runs const& a, free_runs const& b, bool neighbours) {
  free_runs r{a.units + b.units, a.prefix, b.suffix, a.longest, a.at};
  if (neighbours && a.prefix == a.units) r.prefix += b.prefix;
  if (neighbours && b.suffix == b.units) r.suffix += a.suffix;
  if (b.longest > r.longest) {
    r.longest = b.longest;
    r.at = a.units + b.at;
  }
  if (neighbours && a.suffix + b.prefix > r.longest) {
    r.longest = a.suffix + b.prefix;
    r.at = a.units - a.suffix;
  }
  return r;
}

}  // namespace wyrm::alloc::detail
