// SPDX-License-Identifier: Apache-2.0
// Insertion and erasure of a value in a sorted array, by one host thread. With AVX-512, if the processor has it, 16
// values are processed at once, without unpredictable branches on the position of the value.
#pragma once

#include <cstdint>

#include "../types.hpp"

namespace wyrm::graph::detail {

/// Inserts a value into n ascending values; the array must have room for it. Returns false if the value is present.
/// O(n).
bool insert_value(vertex_id* values, std::uint32_t n, vertex_id value);
/// Erases a value from n ascending values. Returns false if the value is not present. O(n).
bool erase_value(vertex_id* values, std::uint32_t n, vertex_id value);

/// Implementations without AVX-512.
namespace portable {
bool insert_value(vertex_id* values, std::uint32_t n, vertex_id value);
bool erase_value(vertex_id* values, std::uint32_t n, vertex_id value);
}  // namespace portable

}  // namespace wyrm::graph::detail
