// SPDX-License-Identifier: Apache-2.0
// Summaries of the runs of free units in a range of a bitmap. The summaries of two adjacent ranges can be merged, so a
// tile computes the longest run of a region from the words that its lanes have read (the structure K of RW_malloc, ACM
// TOPC 2025, section 4.3, in registers).
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../exec/config.hpp"

namespace wyrm::alloc::detail {

/// The runs of a range of units.
struct free_runs {
  std::uint32_t units = 0;
  std::uint32_t prefix = 0;   // free units at the beginning of the range
  std::uint32_t suffix = 0;   // free units at its end
  std::uint32_t longest = 0;  // units of the longest run
  std::uint32_t at = 0;       // the position of the longest run
};

/// The runs of one word, in which the bits of free units are set.
WYRM_HD inline free_runs runs_of(std::uint64_t free) {
  if (free == 0) return {64};
  if (free == ~std::uint64_t{0}) return {64, 64, 64, 64, 0};
  std::uint64_t begins[6];  // begins[k]: bits at which runs of 2^k units, or more, begin
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

/// The position of the first run of this number of units in one word; 64 if there is none.
WYRM_HD inline std::uint32_t first_run(std::uint64_t free, std::uint32_t units) {
  if (units > 64) return 64;
  for (std::uint32_t length = 1; length < units && free != 0;) {  // of the runs that begin at the bits of `free`
    std::uint32_t const more = units - length < length ? units - length : length;
    free &= free >> more;
    length += more;
  }
  return static_cast<std::uint32_t>(cuda::std::countr_zero(free));
}

/// The runs of range a followed by range b. A run crosses from a to b only if they are `neighbours` in memory.
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
