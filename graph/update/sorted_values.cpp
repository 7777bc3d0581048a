// SPDX-License-Identifier: Apache-2.0
#include "sorted_values.hpp"

#include <algorithm>
#include <utility>

#include "../view.hpp"
#include "page_edit.hpp"
#include "plan.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wyrm::graph::detail {

namespace {

// By radix, one byte after another, without those that are equal in all values. Returns the array with the result.
vertex_id* radix_sort(vertex_id* values, vertex_id* spare, std::uint32_t n) {
  constexpr unsigned digits = 4;
  std::uint32_t counts[digits][256] = {};
  for (std::uint32_t i = 0; i < n; ++i)
    for (unsigned d = 0; d < digits; ++d) ++counts[d][values[i] >> 8 * d & 0xff];
  for (unsigned d = 0; d < digits; ++d) {
    if (counts[d][values[0] >> 8 * d & 0xff] == n) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& c : counts[d]) sum += std::exchange(c, sum);
    for (std::uint32_t i = 0; i < n; ++i) spare[counts[d][values[i] >> 8 * d & 0xff]++] = values[i];
    std::swap(values, spare);
  }
  return values;
}

}  // namespace

namespace portable {

vertex_id* sort_values(vertex_id* values, vertex_id* spare, std::uint32_t n) {
  return n > 32 ? radix_sort(values, spare, n) : sort(exec::scalar_tile{}, values, spare, n);
}

std::uint32_t insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added, std::uint32_t count,
                         vertex_id* to) {
  move_run(to, list, n);
  std::uint32_t changed = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    std::uint32_t const at = graph::lower_bound(to, n, added[k]);
    if (at < n && to[at] == added[k]) continue;
    move_run(to + at + 1, to + at, n++ - at);
    to[at] = added[k];
    changed |= 1u << k;
  }
  return changed;
}

std::uint32_t erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased, std::uint32_t count,
                        vertex_id* to) {
  move_run(to, list, n);
  std::uint32_t changed = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    std::uint32_t const at = graph::lower_bound(to, n, erased[k]);
    if (at == n || to[at] != erased[k]) continue;
    move_run(to + at, to + at + 1, --n - at);
    changed |= 1u << k;
  }
  return changed;
}

void find_lower_bounds(vertex_id const* list, std::uint32_t n, vertex_id const* values, std::uint32_t count,
                       std::uint32_t* at) {
  for (std::uint32_t k = 0, first = 0; k < count; ++k)
    at[k] = first += graph::lower_bound(list + first, n - first, values[k]);
}

void insert_at(vertex_id* to, vertex_id const* list, std::uint32_t n, vertex_id const* added,
               std::uint32_t const* positions, std::uint32_t count) {
  std::uint32_t end = n;  // values from here on have been moved
  for (std::uint32_t k = count; k-- > 0;) {
    std::uint32_t const from = positions[k] - k;
    move_run(to + from + k + 1, list + from, end - from);
    to[positions[k]] = added[k];
    end = from;
  }
  if (to != list) move_run(to, list, end);
}

void erase_at(vertex_id* to, vertex_id const* list, std::uint32_t n, std::uint32_t const* positions,
              std::uint32_t count) {
  if (to != list) move_run(to, list, count == 0 ? n : positions[0]);
  for (std::uint32_t k = 0; k < count; ++k) {
    std::uint32_t const end = k + 1 < count ? positions[k + 1] : n;
    move_run(to + positions[k] - k, list + positions[k] + 1, end - positions[k] - 1);
  }
}

}  // namespace portable

#if defined(__x86_64__)
// Vectors of 4 values (SSE2), which all such processors have. Pages have room for whole vectors.
namespace in_fours {

namespace {
constexpr std::uint32_t lanes = 4;

__m128i all_lanes(std::uint32_t value) { return _mm_set1_epi32(static_cast<int>(value)); }
// Comparisons are signed, so the highest bit of both operands is inverted.
__m128i inverted(__m128i values) { return _mm_xor_si128(values, all_lanes(1u << 31)); }
__m128i choose(__m128i mask, __m128i yes, __m128i no) {
  return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

/// Up to Vectors * lanes ascending values, followed by no_vertex.
template <unsigned Vectors>
class few {
 public:
  few(vertex_id const* values, std::uint32_t n) : n_(n) {
    for (unsigned i = 0; i < Vectors; ++i) {
      __m128i const index = _mm_add_epi32(_mm_setr_epi32(0, 1, 2, 3), all_lanes(i * lanes));
      __m128i const there = _mm_cmplt_epi32(index, all_lanes(n));
      bool const any = i * lanes < n;
      all_[i] = any ? _mm_loadu_si128(reinterpret_cast<__m128i const*>(values + i * lanes)) : index;
      all_[i] = _mm_or_si128(all_[i], _mm_andnot_si128(there, all_lanes(no_vertex)));
    }
  }
  [[nodiscard]] bool contains(vertex_id value) const {
    __m128i found = _mm_setzero_si128();
    for (unsigned i = 0; i < Vectors; ++i) found = _mm_or_si128(found, _mm_cmpeq_epi32(all_[i], all_lanes(value)));
    return _mm_movemask_epi8(found) != 0;
  }
  /// There is room for the value.
  void insert(vertex_id value) {
    __m128i const added = all_lanes(value);
    __m128i before = _mm_setzero_si128();  // the vector before the current one; nothing precedes the first value
    __m128i precedes_before = all_lanes(no_vertex);
    for (unsigned i = 0; i < Vectors; ++i) {
      __m128i const precedes = _mm_cmplt_epi32(inverted(all_[i]), inverted(added));
      __m128i const moved = shifted_up(before, all_[i]);
      __m128i const moved_precedes = shifted_up(precedes_before, precedes);
      before = std::exchange(all_[i], choose(precedes, all_[i], choose(moved_precedes, added, moved)));
      precedes_before = precedes;
    }
    ++n_;
  }
  /// The value is there.
  void erase(vertex_id value) {
    for (unsigned i = 0; i < Vectors; ++i) {
      __m128i const precedes = _mm_cmplt_epi32(inverted(all_[i]), inverted(all_lanes(value)));
      __m128i const next = i + 1 < Vectors ? all_[i + 1] : all_lanes(no_vertex);
      __m128i const moved = _mm_or_si128(_mm_srli_si128(all_[i], 4), _mm_slli_si128(next, 12));
      all_[i] = choose(precedes, all_[i], moved);
    }
    --n_;
  }
  void store(vertex_id* to) const {
    for (unsigned i = 0; i < Vectors; ++i)
      if (i * lanes < n_) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * lanes), all_[i]);
  }

 private:
  static __m128i shifted_up(__m128i before, __m128i values) {
    return _mm_or_si128(_mm_slli_si128(values, 4), _mm_srli_si128(before, 12));
  }
  __m128i all_[Vectors];
  std::uint32_t n_;
};

template <update_kind Op, unsigned Vectors>
std::uint32_t change(vertex_id const* list, std::uint32_t n, vertex_id const* values, std::uint32_t count,
                     vertex_id* to) {
  constexpr bool inserts = Op == update_kind::insert;
  few<Vectors> all(list, n);
  std::uint32_t changed = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (all.contains(values[k]) == inserts) continue;
    if constexpr (inserts)
      all.insert(values[k]);
    else
      all.erase(values[k]);
    changed |= 1u << k;
  }
  if (changed != 0 || to != list) all.store(to);
  return changed;
}
/// most: of values in the list, at any time.
template <update_kind Op>
std::uint32_t change_few(std::uint32_t most, vertex_id const* list, std::uint32_t n, vertex_id const* values,
                         std::uint32_t count, vertex_id* to) {
  return (most <= lanes       ? change<Op, 1>
          : most <= 2 * lanes ? change<Op, 2>
          : most <= 3 * lanes ? change<Op, 3>
                              : change<Op, 4>)(list, n, values, count, to);
}
}  // namespace

std::uint32_t insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added, std::uint32_t count,
                         vertex_id* to) {
  return change_few<update_kind::insert>(n + count, list, n, added, count, to);
}
std::uint32_t erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased, std::uint32_t count,
                        vertex_id* to) {
  return change_few<update_kind::erase>(n, list, n, erased, count, to);
}

}  // namespace in_fours

namespace {
#define WYRM_AVX512 __attribute__((target("avx512f,avx512vl,bmi2,popcnt")))

constexpr std::uint32_t lanes = few_values;

/// The mask of the first n lanes, or of all.
WYRM_AVX512 __mmask16 first_lanes(std::uint32_t n) {
  return static_cast<__mmask16>(_bzhi_u32(0xffff, n < lanes ? n : lanes));
}
WYRM_AVX512 __m512i all_lanes(vertex_id value) { return _mm512_set1_epi32(static_cast<int>(value)); }
WYRM_AVX512 __m512i load(vertex_id const* values, __mmask16 there) { return _mm512_maskz_loadu_epi32(there, values); }

// Short lists are accessed by short vectors: a wider one would extend to the next cache line, which is another list's,
// and wait for it, although no lane of it is used.
WYRM_AVX512 __m512i load_few(vertex_id const* values, std::uint32_t n) {
  auto const there = static_cast<__mmask8>(first_lanes(n));
  if (n <= lanes / 4) return _mm512_maskz_broadcast_i32x4(0xf, _mm_maskz_loadu_epi32(there, values));
  if (n <= lanes / 2) return _mm512_maskz_broadcast_i64x4(0xf, _mm256_maskz_loadu_epi32(there, values));
  return load(values, first_lanes(n));
}
WYRM_AVX512 void store_few(vertex_id* to, __mmask16 there, __m512i values) {
  if (there >> lanes / 4 == 0)
    _mm_mask_storeu_epi32(to, static_cast<__mmask8>(there), _mm512_maskz_extracti32x4_epi32(0xf, values, 0));
  else if (there >> lanes / 2 == 0)
    _mm256_mask_storeu_epi32(to, static_cast<__mmask8>(there), _mm512_maskz_extracti64x4_epi64(0xf, values, 0));
  else
    _mm512_mask_storeu_epi32(to, there, values);
}

WYRM_AVX512 std::uint32_t wide_insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added,
                                          std::uint32_t count, vertex_id* to) {
  __mmask16 there = first_lanes(n);
  __m512i all = load_few(list, n);
  std::uint32_t changed = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    __m512i const value = all_lanes(added[k]);
    if (_mm512_mask_cmpeq_epi32_mask(there, all, value) != 0) continue;
    std::uint32_t const below = _mm512_mask_cmplt_epu32_mask(there, all, value);  // the first lanes
    all = _mm512_mask_expand_epi32(value, static_cast<__mmask16>(~(below + 1)), all);
    there = static_cast<__mmask16>(there << 1 | 1);
    changed |= 1u << k;
  }
  if (changed != 0 || to != list) store_few(to, there, all);
  return changed;
}

WYRM_AVX512 std::uint32_t wide_erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased,
                                         std::uint32_t count, vertex_id* to) {
  __mmask16 there = first_lanes(n);
  __m512i all = load_few(list, n);
  std::uint32_t changed = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    __mmask16 const gone = _mm512_mask_cmpeq_epi32_mask(there, all, all_lanes(erased[k]));
    if (gone == 0) continue;
    all = _mm512_maskz_compress_epi32(static_cast<__mmask16>(there & ~gone), all);
    there = static_cast<__mmask16>(there >> 1);
    changed |= 1u << k;
  }
  if (changed != 0 || to != list) store_few(to, there, all);
  return changed;
}

// Counts the values that precede each value. Equal values keep their order.
WYRM_AVX512 vertex_id* wide_sort_values(vertex_id* values, vertex_id* spare, std::uint32_t n) {
  constexpr std::uint32_t most = 6;  // vectors
  if (n > most * lanes) return radix_sort(values, spare, n);
  if (n <= 1) return values;
  std::uint32_t const vectors = (n + lanes - 1) / lanes;
  __m512i all[most];
  for (std::uint32_t j = 0; j < vectors; ++j)  // the largest value is that of no vertex, and precedes none
    all[j] = _mm512_mask_loadu_epi32(all_lanes(no_vertex), first_lanes(n - j * lanes), values + j * lanes);
  for (std::uint32_t i = 0; i < n; ++i) {
    __m512i const value = all_lanes(values[i]);
    std::uint32_t before = 0;
    for (std::uint32_t j = 0; j < vectors; ++j) {
      std::uint32_t const less = _mm512_cmplt_epu32_mask(all[j], value);
      std::uint32_t const equal = _mm512_cmpeq_epi32_mask(all[j], value);
      std::uint32_t const earlier = first_lanes(i > j * lanes ? i - j * lanes : 0);
      before += static_cast<std::uint32_t>(_mm_popcnt_u32(less | (equal & earlier)));
    }
    spare[before] = values[i];
  }
  return spare;
}

WYRM_AVX512 std::uint32_t count_below(vertex_id const* values, std::uint32_t n, __m512i value) {
  __mmask16 const there = first_lanes(n);
  return static_cast<std::uint32_t>(_mm_popcnt_u32(_mm512_mask_cmplt_epu32_mask(there, load(values, there), value)));
}
// First compares with the next values, as the values that are searched may be dense. Else binary search down to 64
// values, and comparison with all of these.
WYRM_AVX512 void wide_find_lower_bounds(vertex_id const* list, std::uint32_t n, vertex_id const* values,
                                        std::uint32_t count, std::uint32_t* at) {
  std::uint32_t first = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    __m512i const value = all_lanes(values[k]);
    std::uint32_t const below = count_below(list + first, n - first, value);
    first += below;
    if (below == lanes) {
      std::uint32_t left = n - first;
      for (std::uint32_t half; left > 4 * lanes; left -= half) {
        half = left / 2;
        first += static_cast<std::uint32_t>(list[first + half - 1] < values[k]) * half;
      }
      std::uint32_t sum = first;
      for (std::uint32_t i = 0; i < left; i += lanes) sum += count_below(list + first + i, left - i, value);
      first = sum;
    }
    at[k] = first;
  }
}

// Moves n values up, by at least 0, or to a list that does not overlap. The first values are loaded before anything is
// stored: a load that overlaps an earlier store, even in lanes that are masked, waits for that store.
WYRM_AVX512 void wide_move_up(vertex_id* to, vertex_id const* from, std::uint32_t n) {
  __mmask16 const first = first_lanes(n == 0 ? 0 : (n - 1) % lanes + 1);
  __m512i const values = load(from, first);
  for (; n > lanes; n -= lanes) _mm512_storeu_si512(to + n - lanes, _mm512_loadu_si512(from + n - lanes));
  _mm512_mask_storeu_epi32(to, first, values);
}
// The same down.
WYRM_AVX512 void wide_move_down(vertex_id* to, vertex_id const* from, std::uint32_t n) {
  for (; n > lanes; n -= lanes, to += lanes, from += lanes) _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  _mm512_mask_storeu_epi32(to, first_lanes(n), load(from, first_lanes(n)));
}

WYRM_AVX512 void wide_insert_at(vertex_id* to, vertex_id const* list, std::uint32_t n, vertex_id const* added,
                                std::uint32_t const* positions, std::uint32_t count) {
  std::uint32_t end = n;
  for (std::uint32_t k = count; k-- > 0;) {
    std::uint32_t const from = positions[k] - k;
    wide_move_up(to + from + k + 1, list + from, end - from);
    to[positions[k]] = added[k];
    end = from;
  }
  if (to != list) wide_move_up(to, list, end);
}

WYRM_AVX512 void wide_erase_at(vertex_id* to, vertex_id const* list, std::uint32_t n, std::uint32_t const* positions,
                               std::uint32_t count) {
  if (to != list) wide_move_down(to, list, count == 0 ? n : positions[0]);
  for (std::uint32_t k = 0; k < count; ++k) {
    std::uint32_t const end = k + 1 < count ? positions[k + 1] : n;
    wide_move_down(to + positions[k] - k, list + positions[k] + 1, end - positions[k] - 1);
  }
}
#undef WYRM_AVX512

bool is_wide() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}
}  // namespace

vertex_id* sort_values(vertex_id* values, vertex_id* spare, std::uint32_t n) {
  return (is_wide() ? wide_sort_values : portable::sort_values)(values, spare, n);
}
std::uint32_t insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added, std::uint32_t count,
                         vertex_id* to) {
  return (is_wide() ? wide_insert_few : in_fours::insert_few)(list, n, added, count, to);
}
std::uint32_t erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased, std::uint32_t count,
                        vertex_id* to) {
  return (is_wide() ? wide_erase_few : in_fours::erase_few)(list, n, erased, count, to);
}
void find_lower_bounds(vertex_id const* list, std::uint32_t n, vertex_id const* values, std::uint32_t count,
                       std::uint32_t* at) {
  (is_wide() ? wide_find_lower_bounds : portable::find_lower_bounds)(list, n, values, count, at);
}
void insert_at(vertex_id* to, vertex_id const* list, std::uint32_t n, vertex_id const* added,
               std::uint32_t const* positions, std::uint32_t count) {
  (is_wide() ? wide_insert_at : portable::insert_at)(to, list, n, added, positions, count);
}
void erase_at(vertex_id* to, vertex_id const* list, std::uint32_t n, std::uint32_t const* positions,
              std::uint32_t count) {
  (is_wide() ? wide_erase_at : portable::erase_at)(to, list, n, positions, count);
}
#else
vertex_id* sort_values(vertex_id* values, vertex_id* spare, std::uint32_t n) {
  return portable::sort_values(values, spare, n);
}
std::uint32_t insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added, std::uint32_t count,
                         vertex_id* to) {
  return portable::insert_few(list, n, added, count, to);
}
std::uint32_t erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased, std::uint32_t count,
                        vertex_id* to) {
  return portable::erase_few(list, n, erased, count, to);
}
void find_lower_bounds(vertex_id const* list, std::uint32_t n, vertex_id const* values, std::uint32_t count,
                       std::uint32_t* at) {
  portable::find_lower_bounds(list, n, values, count, at);
}
void insert_at(vertex_id* to, vertex_id const* list, std::uint32_t n, vertex_id const* added,
               std::uint32_t const* positions, std::uint32_t count) {
  portable::insert_at(to, list, n, added, positions, count);
}
void erase_at(vertex_id* to, vertex_id const* list, std::uint32_t n, std::uint32_t const* positions,
              std::uint32_t count) {
  portable::erase_at(to, list, n, positions, count);
}
#endif

}  // namespace wyrm::graph::detail
