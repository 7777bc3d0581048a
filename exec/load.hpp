// SPDX-License-Identifier: Apache-2.0
// Loads that say how long a cache should keep what they bring, or that bring it ahead of time.
#pragma once

#include <cuda/std/bit>
#include <nv/target>

#include "config.hpp"

namespace wyrm::exec {

/// *from, 16 bytes that nobody will want again soon: on a device they leave the caches first, so that what is wanted
/// again stays. It must not change while the kernel runs.
template <class T>
[[nodiscard]] WYRM_HD T load_once(T const* from) {
  static_assert(sizeof(T) == 16 && alignof(T) == 16);
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return cuda::std::bit_cast<T>(__ldcs(reinterpret_cast<uint4 const*>(from)));),
                    (return *from;))
}

/// Has a device bring what lies around *p into its L2 cache, for a load that comes later; a host does nothing.
WYRM_HD inline void prefetch([[maybe_unused]] void const* p) {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));))
}

}  // namespace wyrm::exec
