// SPDX-License-Identifier: Apache-2.0
// Atomics for device code: cuda::atomic_ref at device scope, with the memory order always spelled out.
#pragma once

#include <cuda/atomic>

#include "config.hpp"

namespace wyrm::exec {

#if defined(WYRM_ATOMIC_REF)  // a test that watches every operation, see tests/support/interleave.hpp
template <class T>
using atomic_ref = WYRM_ATOMIC_REF<T>;
#else
template <class T>
using atomic_ref = cuda::atomic_ref<T, cuda::thread_scope_device>;
#endif

inline constexpr auto relaxed = cuda::memory_order_relaxed;
inline constexpr auto acquire = cuda::memory_order_acquire;
inline constexpr auto release = cuda::memory_order_release;
inline constexpr auto acq_rel = cuda::memory_order_acq_rel;

/// For many stores or read-modify-writes of one thread that all publish what it did before: one release_fence(), and
/// then each of them with this order. (Thread sanitizers do not know fences: there each of them releases.)
inline constexpr auto after_fence = WYRM_THREAD_SANITIZER != 0 ? release : relaxed;
WYRM_HD inline void release_fence() {
  if constexpr (after_fence == relaxed) cuda::atomic_thread_fence(release, cuda::thread_scope_device);
}

/// What was there at some time since the kernel began: it may come from a cache that others' changes do not reach. For
/// places that everybody looks at, where an old value does no harm; an H200 serves one look in a nanosecond.
template <class T>
[[nodiscard]] WYRM_HD T load_recent(T& place) {
#if defined(WYRM_ATOMIC_REF)
  return atomic_ref<T>(place).load(relaxed);
#else
  return cuda::atomic_ref<T, cuda::thread_scope_block>(place).load(relaxed);
#endif
}

}  // namespace wyrm::exec
