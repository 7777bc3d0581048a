// SPDX-License-Identifier: Apache-2.0
// Atomics for device code: cuda::atomic_ref at device scope, with the memory order always spelled out.
#pragma once

#include <cuda/atomic>

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

}  // namespace wyrm::exec
