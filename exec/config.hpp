// SPDX-License-Identifier: Apache-2.0
// What the compiler at hand can do. This is the only file that asks the compiler; everything else asks these macros.
#pragma once

#include <cstddef>

#if defined(__CUDACC__)
#define WYRM_CUDACC 1  // this translation unit may define kernels
#define WYRM_HD __host__ __device__
#define WYRM_NOINLINE __noinline__
#else
#define WYRM_CUDACC 0
#define WYRM_HD
#define WYRM_NOINLINE __attribute__((noinline))
#endif
// WYRM_NOINLINE keeps rare paths out of kernels, whose instructions would not fit the cache of a multiprocessor else.

// WYRM_WITH_CUDA, WYRM_HOST_THREADS and WYRM_CHECKED are set by the build, the same for every source.
#if !defined(WYRM_WITH_CUDA)
#define WYRM_WITH_CUDA 0
#endif

// Checked builds track every live allocation, so that double and foreign frees are found.
#if !defined(WYRM_CHECKED)
#define WYRM_CHECKED 0
#endif

// Sanitizers: gcc says so itself, clang when asked.
#if defined(__SANITIZE_ADDRESS__)
#define WYRM_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define WYRM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define WYRM_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define WYRM_THREAD_SANITIZER __has_feature(thread_sanitizer)
#endif
#if !defined(WYRM_THREAD_SANITIZER)
#define WYRM_THREAD_SANITIZER 0
#endif
#if !defined(WYRM_ADDRESS_SANITIZER)
#define WYRM_ADDRESS_SANITIZER 0
#endif

namespace wyrm::exec {

/// How many blocks of 256 threads a multiprocessor should have room for while it runs a kernel of F, which bounds the
/// registers of a thread (4: to 64). F says so by a member `resident_blocks`: work that waits for memory most of the
/// time is faster when more threads wait.
template <class F>
WYRM_HD constexpr unsigned resident_blocks_of() {
  if constexpr (requires { F::resident_blocks; })
    return F::resident_blocks;
  else
    return 1;
}

/// How many items of F a thread of a CPU takes at once at the least. F says so by a member `grain`: few where an item
/// is much work; one_thread where threads together would mostly wait for each other, for what all of them change.
inline constexpr std::size_t one_thread = ~std::size_t{0};
template <class F>
constexpr std::size_t grain_of() {
  if constexpr (requires { F::grain; })
    return F::grain;
  else
    return 64;
}

}  // namespace wyrm::exec
