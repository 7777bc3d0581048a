// SPDX-License-Identifier: Apache-2.0
// An array whose length depends on the number of chunks of a pool. When the pool grows, a longer array replaces it. It
// does not grow in place, because such memory is committed in steps of 2 MiB on a GPU, which is more than all tables of
// a small pool.
#pragma once

#include <cstddef>
#include <utility>

#include "../exec/memory.hpp"

namespace wyrm::alloc {

template <class T, class Space>
class pool_table {
 public:
  explicit pool_table(Space const& space) : space_(space), entries_(space) {}
  /// Makes room for n entries; new entries are not initialised. Pointers become invalid, so no kernel may use the pool.
  void cover(std::size_t n) {
    if (n <= entries_.size()) return;
    exec::buffer<T, Space> longer(space_, n);
    if (entries_.size() > 0) space_.copy(longer.data(), entries_.data(), entries_.bytes());
    std::swap(entries_, longer);
  }
  /// The same; new entries are zero.
  void cover_with_zeros(std::size_t n) {
    std::size_t const before = bytes();
    cover(n);
    space_.fill(reinterpret_cast<std::byte*>(data()) + before, 0, bytes() - before);
  }
  [[nodiscard]] T* data() const { return entries_.data(); }
  [[nodiscard]] std::size_t bytes() const { return entries_.bytes(); }

 private:
  Space space_;
  exec::buffer<T, Space> entries_;
};

}  // namespace wyrm::alloc
