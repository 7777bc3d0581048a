// SPDX-License-Identifier: Apache-2.0
// A clock for time limits in device code.
#pragma once

#include <chrono>
#include <cstdint>

#include "config.hpp"

#include <nv/target>

namespace wyrm::exec {

/// Nanoseconds since an unspecified moment, in steps of up to about 1 us on a GPU. Times of host and device must not be
/// compared.
WYRM_HD inline std::uint64_t nanoseconds() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint64_t now; asm volatile("mov.u64 %0, %%globaltimer;"
                                                     : "=l"(now));
                     return now;),
                    (return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                           std::chrono::steady_clock::now().time_since_epoch())
                                                           .count());))
}

}  // namespace wyrm::exec
