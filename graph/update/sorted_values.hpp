// SPDX-License-Identifier: Apache-2.0
// One value more or less among ascending ones, by one thread of a host: with AVX-512, where the processor has it, 16 at
// once and without a branch that depends on where the value stands, which no processor could predict.
#pragma once

#include <cstdint>

#include "../types.hpp"

namespace wyrm::graph::detail {

/// Puts a value where it belongs among n ascending ones, behind which there is room for one more. False if it is there.
/// O(n).
bool insert_value(vertex_id* values, std::uint32_t n, vertex_id value);
/// Takes a value out of n ascending ones. False if it is not there. O(n).
bool erase_value(vertex_id* values, std::uint32_t n, vertex_id value);

/// The same without AVX-512.
namespace portable {
bool insert_value(vertex_id* values, std::uint32_t n, vertex_id value);
bool erase_value(vertex_id* values, std::uint32_t n, vertex_id value);
}  // namespace portable

}  // namespace wyrm::graph::detail
