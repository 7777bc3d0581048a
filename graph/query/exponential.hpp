// SPDX-License-Identifier: Apache-2.0
// Exponentially distributed random numbers that are equal on all machines. Library logarithms differ between hosts and
// devices, and a compiler may contract floating-point a * b + c. Therefore the logarithm is computed with integers,
// except for one division, whose result IEEE 754 determines.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"

#include <nv/target>

namespace wyrm::graph::detail {

/// The upper half of the product.
[[nodiscard]] WYRM_HD inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __umul64hi(a, b);),
                    (__extension__ using wide = unsigned __int128;
                     return static_cast<std::uint64_t>(static_cast<wide>(a) * b >> 64);))
}

/// Returns -log2(u) * 2^57 for 64 random bits x that represent the number u = (x | 1) / 2^64. The relative error is
/// less than 2^-48, plus an absolute error of 2 from the conversion to an integer.
///
/// u = y / 2^e with y in [1/2, 1). With s = (1 - y) / (1 + y), -ln(y) = 2 (s + s^3/3 + s^5/5 + ...). 16 terms are
/// computed.
[[nodiscard]] WYRM_HD inline std::uint64_t negative_log2(std::uint64_t x) {
  auto const e = static_cast<unsigned>(cuda::std::countl_zero(x | 1));
  std::uint64_t const y = (x | 1) << e;  // times 2^64
  double const quotient = static_cast<double>(0 - y) / static_cast<double>((std::uint64_t{1} << 63) + y / 2);
  auto const s = static_cast<std::uint64_t>(quotient * 0x1p63);  // times 2^64; at most 2^64 / 3
  std::uint64_t const square = multiply_high(s, s);
  std::uint64_t series = 0;  // times 2^63
  for (unsigned k = 16; k-- > 0;) series = (std::uint64_t{1} << 63) / (2 * k + 1) + multiply_high(series, square);
  constexpr std::uint64_t two_by_ln2 = 0xb8aa3b295c17f0bc;  // 2 / ln(2), times 2^62
  return (std::uint64_t{e} << 57) + (multiply_high(multiply_high(s, series), two_by_ln2) >> 4);
}

/// A lower bound of negative_log2(x) that is cheap to compute. For u close to 1 it is less than a third smaller.
[[nodiscard]] WYRM_HD inline double negative_log2_is_at_least(std::uint64_t x) {
  return static_cast<double>(0 - (x | 1)) * 0x1p-7 - 64;  // 1 - u
}

}  // namespace wyrm::graph::detail
