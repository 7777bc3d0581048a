// SPDX-License-Identifier: Apache-2.0
// Atomics for device code: cuda::atomic_ref at device scope. Every operation states its memory order explicitly.
#pragma once

#include <cstdint>
#include <cuda/atomic>
#include <nv/target>
#include <type_traits>

#include "config.hpp"

namespace wyrm::exec {

#if defined(WYRM_ATOMIC_REF)  // a test that controls every operation, see tests/support/interleave.hpp
template <class T>
using atomic_ref = WYRM_ATOMIC_REF<T>;
#else
template <class T>
using atomic_ref = cuda::atomic_ref<T, cuda::thread_scope_device>;
#endif

/// A word in host memory that the host and a kernel use at the same time, at system scope. Only one of the two sides
/// writes it, and only with store(): not every GPU has atomic read-modify-write operations on host memory.
template <class T>
class system_ref {
 public:
  WYRM_HD explicit system_ref(T& place) : place_(place) {}
  WYRM_HD T load(cuda::memory_order order) const { return place_.load(order); }
  WYRM_HD void store(T value, cuda::memory_order order) const { place_.store(value, order); }

 private:
#if defined(WYRM_ATOMIC_REF)
  WYRM_ATOMIC_REF<T> place_;
#else
  cuda::atomic_ref<T, cuda::thread_scope_system> place_;
#endif
};

inline constexpr auto relaxed = cuda::memory_order_relaxed;
inline constexpr auto acquire = cuda::memory_order_acquire;
inline constexpr auto release = cuda::memory_order_release;
inline constexpr auto acq_rel = cuda::memory_order_acq_rel;

/// The memory order for several stores or read-modify-writes of one thread that all publish its earlier writes: the
/// thread calls release_fence() once, and then performs each operation with this order. Thread sanitizers do not model
/// fences; under a sanitizer each operation is a release itself.
inline constexpr auto after_fence = WYRM_THREAD_SANITIZER != 0 ? release : relaxed;
WYRM_HD inline void release_fence() {
  if constexpr (after_fence == relaxed) cuda::atomic_thread_fence(release, cuda::thread_scope_device);
}

/// Relaxed operations at device scope. Unlike atomic_ref, they are as fast as the memory of a tile
/// (exec::for_each_tile_with_memory) permits, because the compiler knows where it is.
template <class T>
WYRM_HD void add_relaxed(T& place, T value) {
#if defined(WYRM_ATOMIC_REF)
  atomic_ref<T>(place).fetch_add(value, relaxed);
#else
  static_assert(sizeof(T) == sizeof(unsigned) || sizeof(T) == sizeof(unsigned long long));
  using word [[maybe_unused]] = std::conditional_t<sizeof(T) == sizeof(unsigned), unsigned, unsigned long long>;
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (atomicAdd(reinterpret_cast<word*>(&place), static_cast<word>(value));),
                    (atomic_ref<T>(place).fetch_add(value, relaxed);))
#endif
}
/// Writes `desired` if the value is `expected`. Returns the value from before.
WYRM_HD inline std::uint32_t exchange_if_relaxed(std::uint32_t& place, std::uint32_t expected, std::uint32_t desired) {
#if defined(WYRM_ATOMIC_REF)
  atomic_ref<std::uint32_t>(place).compare_exchange_strong(expected, desired, relaxed, relaxed);
#else
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return atomicCAS(&place, expected, desired);),
                    (atomic_ref<std::uint32_t>(place).compare_exchange_strong(expected, desired, relaxed, relaxed);))
#endif
  return expected;
}

/// A relaxed load of block scope. Returns a value that `place` had at some time since the kernel began, or since the
/// last sync() of its team (team.hpp): the load may be served by a cache of the multiprocessor, which writes of other
/// multiprocessors do not update. Use it for words that all threads read and of which an old value is harmless: without
/// the cache, an H200 serves one load of the same word per nanosecond.
template <class T>
[[nodiscard]] WYRM_HD T load_recent(T& place) {
#if defined(WYRM_ATOMIC_REF)
  return atomic_ref<T>(place).load(relaxed);
#else
  return cuda::atomic_ref<T, cuda::thread_scope_block>(place).load(relaxed);
#endif
}

}  // namespace wyrm::exec
