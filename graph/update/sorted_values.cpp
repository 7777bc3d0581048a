// SPDX-License-Identifier: Apache-2.0
#include "sorted_values.hpp"

#include "../view.hpp"
#include "page_edit.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wyrm::graph::detail {

namespace portable {

bool insert_value(vertex_id* values, std::uint32_t n, vertex_id value) {
  std::uint32_t const at = lower_bound(values, n, value);
  if (at < n && values[at] == value) return false;
  move_run(values + at + 1, values + at, n - at);
  values[at] = value;
  return true;
}

bool erase_value(vertex_id* values, std::uint32_t n, vertex_id value) {
  std::uint32_t const at = lower_bound(values, n, value);
  if (at == n || values[at] != value) return false;
  move_run(values + at, values + at + 1, n - at - 1);
  return true;
}

}  // namespace portable

#if defined(__x86_64__)
namespace {
#define WYRM_AVX512 __attribute__((target("avx512f,bmi2,popcnt")))

constexpr std::uint32_t lanes = 16;

/// The mask of the first n lanes, or of all.
WYRM_AVX512 __mmask16 first_lanes(std::uint32_t n) {
  return static_cast<__mmask16>(_bzhi_u32(0xffff, n < lanes ? n : lanes));
}
WYRM_AVX512 __m512i all_lanes(vertex_id value) { return _mm512_set1_epi32(static_cast<int>(value)); }

/// Binary search down to 64 values, then comparison with all of these.
WYRM_AVX512 std::uint32_t wide_lower_bound(vertex_id const* values, std::uint32_t n, vertex_id value) {
  std::uint32_t first = 0;
  for (std::uint32_t half; n > 4 * lanes; n -= half) {
    half = n / 2;
    first += static_cast<std::uint32_t>(values[first + half - 1] < value) * half;
  }
  std::uint32_t below = first;
  for (std::uint32_t i = 0; i < n; i += lanes) {
    __mmask16 const there = first_lanes(n - i);
    below += static_cast<std::uint32_t>(_mm_popcnt_u32(
        _mm512_mask_cmplt_epu32_mask(there, _mm512_maskz_loadu_epi32(there, values + first + i), all_lanes(value))));
  }
  return below;
}

WYRM_AVX512 bool wide_insert(vertex_id* values, std::uint32_t n, vertex_id value) {
  if (n < lanes) {
    __mmask16 const there = first_lanes(n);
    __m512i const all = _mm512_maskz_loadu_epi32(there, values);
    if (_mm512_mask_cmpeq_epi32_mask(there, all, all_lanes(value)) != 0) return false;
    std::uint32_t const below = _mm512_mask_cmplt_epu32_mask(there, all, all_lanes(value));  // the first lanes
    _mm512_mask_storeu_epi32(values, first_lanes(n + 1),
                             _mm512_mask_expand_epi32(all_lanes(value), static_cast<__mmask16>(~(below + 1)), all));
    return true;
  }
  std::uint32_t const at = wide_lower_bound(values, n, value);
  if (at < n && values[at] == value) return false;
  std::uint32_t end = n;
  for (; end - at > lanes; end -= lanes)
    _mm512_storeu_si512(values + end - lanes + 1, _mm512_loadu_si512(values + end - lanes));
  __mmask16 const rest = first_lanes(end - at);
  _mm512_mask_storeu_epi32(values + at + 1, rest, _mm512_maskz_loadu_epi32(rest, values + at));
  values[at] = value;
  return true;
}

WYRM_AVX512 bool wide_erase(vertex_id* values, std::uint32_t n, vertex_id value) {
  if (n <= lanes) {
    __mmask16 const there = first_lanes(n);
    __m512i const all = _mm512_maskz_loadu_epi32(there, values);
    __mmask16 const gone = _mm512_mask_cmpeq_epi32_mask(there, all, all_lanes(value));
    if (gone == 0) return false;
    _mm512_mask_storeu_epi32(values, static_cast<__mmask16>(there >> 1),
                             _mm512_maskz_compress_epi32(static_cast<__mmask16>(there & ~gone), all));
    return true;
  }
  std::uint32_t const at = wide_lower_bound(values, n, value);
  if (at == n || values[at] != value) return false;
  for (std::uint32_t i = at; i + 1 < n; i += lanes) {
    __mmask16 const there = first_lanes(n - 1 - i);
    _mm512_mask_storeu_epi32(values + i, there, _mm512_maskz_loadu_epi32(there, values + i + 1));
  }
  return true;
}
#undef WYRM_AVX512

bool is_wide() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi2"); }
}  // namespace

bool insert_value(vertex_id* values, std::uint32_t n, vertex_id value) {
  return is_wide() ? wide_insert(values, n, value) : portable::insert_value(values, n, value);
}
bool erase_value(vertex_id* values, std::uint32_t n, vertex_id value) {
  return is_wide() ? wide_erase(values, n, value) : portable::erase_value(values, n, value);
}
#else
bool insert_value(vertex_id* values, std::uint32_t n, vertex_id value) {
  return portable::insert_value(values, n, value);
}
bool erase_value(vertex_id* values, std::uint32_t n, vertex_id value) {
  return portable::erase_value(values, n, value);
}
#endif

}  // namespace wyrm::graph::detail
