// SPDX-License-Identifier: Apache-2.0
// Macros that hide differences between compilers. Only this file tests which compiler is used.
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
// WYRM_NOINLINE keeps rare paths out of kernels, so that the instructions of a kernel fit the instruction cache.

// The build sets WYRM_WITH_CUDA, WYRM_HOST_THREADS and WYRM_CHECKED to the same values for every source.
#if !defined(WYRM_WITH_CUDA)
#define WYRM_WITH_CUDA 0
#endif

// Checked builds track every live allocation, which detects double and foreign frees.
#if !defined(WYRM_CHECKED)
#define WYRM_CHECKED 0
#endif

// Sanitizers: gcc defines macros, clang has features.
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

/// How many blocks of 256 threads should fit on a multiprocessor while it runs a kernel of F: the member
/// `F::resident_blocks`, or 1 without it. It limits the registers per thread (4 blocks: to 64 registers). More resident
/// blocks hide memory latency better if a kernel waits for memory most of the time.
template <class F>
WYRM_HD constexpr unsigned resident_blocks_of() {
  if constexpr (requires { F::resident_blocks; })
    return F::resident_blocks;
  else
    return 1;
}

/// The minimum number of items of F that a CPU thread takes at a time: the member `F::grain`, or 64 without it. Use a
/// small number if an item is much work. `one_thread` is for work in which parallel threads would mostly wait for each
/// other, because all of them change the same memory.
inline constexpr std::size_t one_thread = ~std::size_t{0};
template <class F>
constexpr std::size_t grain_of() {
  if constexpr (requires { F::grain; })
    return F::grain;
  else
    return 64;
}

}  // namespace wyrm::exec
