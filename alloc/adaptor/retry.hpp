// SPDX-License-Identifier: Apache-2.0
// Handles kernels that run out of memory: calls a function on the host, for example to grow the pool, and launches the
// kernel again.
#pragma once

#include <cstddef>

#include "../allocator.hpp"

namespace wyrm::alloc {

/// Calls launch(), which starts kernels that use the pool on its space. Where requests have been refused, it calls
/// on_failure(number of refused requests); if that returns true, it launches again. The kernels have to leave undone,
/// or undo, what they had no memory for. Returns whether the last launch was served completely. It waits for the
/// kernels.
template <class Pool, class Launch, class OnFailure>
bool retry(Pool const& pool, Launch const& launch, OnFailure const& on_failure) {
  for (;;) {
    std::size_t const before = pool.stats().failures;
    launch();
    std::size_t const refused = pool.stats().failures - before;
    if (refused == 0) return true;
    if (!on_failure(refused)) return false;
  }
}

}  // namespace wyrm::alloc
