// SPDX-License-Identifier: Apache-2.0
// Loads with cache hints, and prefetches.
#pragma once

#include <cuda/std/bit>
#include <nv/target>

#include "config.hpp"

namespace wyrm::exec {

/// Loads *from, 16 bytes that will not be loaded again soon. On a device the cache line is evicted first, so lines that
/// are reused stay in the caches. *from must not change while the kernel runs.
template <class T>
[[nodiscard]] WYRM_HD T load_once(T const* from) {
  static_assert(sizeof(T) == 16 && alignof(T) == 16);
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return cuda::std::bit_cast<T>(__ldcs(reinterpret_cast<uint4 const*>(from)));),
                    (return *from;))
}

/// Loads the cache line of *p into the L2 cache of a device, or into the caches of a core, for a later load. On a host
/// p may be any address.
WYRM_HD inline void prefetch(void const* p) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));),
                    (__builtin_prefetch(p);))
}

}  // namespace wyrm::exec
