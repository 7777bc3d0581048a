// SPDX-License-Identifier: Apache-2.0
// Results of operations that stay in memory of a space. Unlike `buffer`, which is scratch memory and may be larger than
// requested, a device_array has exactly the elements of the result. They are contiguous, so the array can be passed to
// other libraries without a copy, for example through DLPack.
#pragma once

#include <cstddef>
#include <vector>

#include "memory.hpp"

namespace wyrm::exec {

/// Owns n elements in the memory of a space; they are not initialised. Movable, not copyable.
template <class T, class Space>
class device_array {
 public:
  using value_type = T;

  /// Throws error(out_of_memory).
  explicit device_array(Space const& space, std::size_t n = 0) : space_(space), elements_(space, n) {}

  [[nodiscard]] T* data() const { return elements_.data(); }
  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] std::size_t bytes() const { return elements_.bytes(); }
  [[nodiscard]] Space const& space() const { return space_; }

  /// A copy on the host. Waits for the work of the space.
  [[nodiscard]] std::vector<T> to_host() const {
    if (size() == 0) return {};
    return copy_out(space_, data(), size());
  }

 private:
  Space space_;
  buffer<T, Space> elements_;
};

}  // namespace wyrm::exec
