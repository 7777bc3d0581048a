// SPDX-License-Identifier: Apache-2.0
// Where a `reservation` may get its addresses and its memory from, instead of from its space: for example from a
// residency manager, which decides where each block of the range lies.
#pragma once

#include <cstddef>

namespace wyrm::exec {

/// Thread-safe. It must outlive the reservations that it serves.
class range_source {
 public:
  virtual ~range_source() = default;

  /// Reserves addresses for `bytes` bytes, a multiple of the granularity of the space. Commits no memory. Throws
  /// error(out_of_memory).
  [[nodiscard]] virtual void* reserve(std::size_t bytes) = 0;
  /// Makes the bytes [from, to) of the range usable for kernels and for copies of the space; [0, from) are usable.
  /// Their contents are undefined. Throws error(out_of_memory), and changes nothing.
  virtual void commit(void* base, std::size_t from, std::size_t to) = 0;
  /// Frees the range. Work that uses it may still run: the source waits for this work before it uses the memory again.
  virtual void unreserve(void* base, std::size_t reserved, std::size_t committed) noexcept = 0;
};

}  // namespace wyrm::exec
