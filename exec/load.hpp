// SPDX-License-Identifier: Apache-2.0
// Loads that say how long a cache should keep what they bring.
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

}  // namespace wyrm::exec
