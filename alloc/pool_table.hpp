// SPDX-License-Identifier: Apache-2.0
// An array with an entry for every chunk, or so, of a pool that grows: its memory grows with the pool.
#pragma once

#include <cstddef>

#include "../exec/memory.hpp"

namespace wyrm::alloc {

template <class T, class Space>
class pool_table {
 public:
  pool_table(Space const& space, std::size_t capacity) : memory_(space, capacity * sizeof(T)) {}
  /// Makes room for n entries; new ones are not initialised.
  void cover(std::size_t n) { memory_.commit(n * sizeof(T)); }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t bytes() const { return memory_.committed(); }

 private:
  exec::reservation<Space> memory_;
};

}  // namespace wyrm::alloc
