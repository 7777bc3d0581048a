// SPDX-License-Identifier: Apache-2.0
// Changes of sorted lists of neighbours by one host thread. With AVX-512, if the processor has it, 16 values are
// processed at once, without unpredictable branches on their positions; else short lists by 4 values on x86-64.
#pragma once

#include <cstdint>

#include "../types.hpp"

namespace wyrm::graph::detail {

/// The maximum length of lists that insert_few() and erase_few() keep in a register.
inline constexpr std::uint32_t few_values = 16;

/// Sorts n values. `spare` has room for n values. Returns the array that has the result. O(n).
[[nodiscard]] vertex_id* sort_values(vertex_id* values, vertex_id* spare, std::uint32_t n);

/// Writes the n ascending values of `list` and those of `added` to `to`, in ascending order without repetitions. `to`
/// may be the list. Both have room for a multiple of 4 values, as pages have; what is after the values in `to` is
/// undefined. n + count must be at most few_values, and no value may be no_vertex. Bit k of the result: added[k] was
/// new, i.e. neither in the list nor among the first k. O(count + n).
std::uint32_t insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added, std::uint32_t count,
                         vertex_id* to);
/// Writes the n ascending values of `list` except those of `erased` to `to`, which has room for as many, and may be the
/// list; otherwise as above. n and count must be at most few_values. Bit k of the result: erased[k] was in the list,
/// and is not among the first k. O(count + n).
std::uint32_t erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased, std::uint32_t count,
                        vertex_id* to);

/// For each of `count` ascending values, the number of values in the ascending list that are less. O(count log n), and
/// O(count + n / 16) at best.
void find_lower_bounds(vertex_id const* list, std::uint32_t n, vertex_id const* values, std::uint32_t count,
                       std::uint32_t* at);

/// Writes the n values of `list`, and `count` other values, to `to`, so that the latter have the given ascending
/// positions. `to` is the list itself or does not overlap it. O(n + count), or, in the list itself, of what moves.
void insert_at(vertex_id* to, vertex_id const* list, std::uint32_t n, vertex_id const* added,
               std::uint32_t const* positions, std::uint32_t count);
/// Writes the n values of `list` except those at `count` ascending positions to `to`. The same otherwise.
void erase_at(vertex_id* to, vertex_id const* list, std::uint32_t n, std::uint32_t const* positions,
              std::uint32_t count);

/// Implementations without AVX-512.
namespace portable {
[[nodiscard]] vertex_id* sort_values(vertex_id* values, vertex_id* spare, std::uint32_t n);
std::uint32_t insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added, std::uint32_t count,
                         vertex_id* to);
std::uint32_t erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased, std::uint32_t count,
                        vertex_id* to);
void find_lower_bounds(vertex_id const* list, std::uint32_t n, vertex_id const* values, std::uint32_t count,
                       std::uint32_t* at);
void insert_at(vertex_id* to, vertex_id const* list, std::uint32_t n, vertex_id const* added,
               std::uint32_t const* positions, std::uint32_t count);
void erase_at(vertex_id* to, vertex_id const* list, std::uint32_t n, std::uint32_t const* positions,
              std::uint32_t count);
}  // namespace portable

#if defined(__x86_64__)
/// Implementations with vectors of 4 values.
namespace in_fours {
std::uint32_t insert_few(vertex_id const* list, std::uint32_t n, vertex_id const* added, std::uint32_t count,
                         vertex_id* to);
std::uint32_t erase_few(vertex_id const* list, std::uint32_t n, vertex_id const* erased, std::uint32_t count,
                        vertex_id* to);
}  // namespace in_fours
#endif

}  // namespace wyrm::graph::detail
