// SPDX-License-Identifier: Apache-2.0
// Arrays with one value per vertex, which keep their values while the number of vertices grows.
#pragma once

#include <cstddef>
#include <utility>

#include "../../exec/memory.hpp"

namespace wyrm::algorithms::detail {

/// Ensures room for n values; the first `used` ones are kept, and the others are not initialised. Throws
/// error(out_of_memory), and changes nothing.
template <class T, class Space>
void grow(Space const& space, exec::buffer<T, Space>& values, std::size_t used, std::size_t n) {
  if (n <= values.size()) return;
  exec::buffer<T, Space> more(space, exec::grown_room(values.size(), n));
  if (used > 0) space.copy(more.data(), values.data(), used * sizeof(T));
  values = std::move(more);
}

}  // namespace wyrm::algorithms::detail
