// SPDX-License-Identifier: Apache-2.0
// A global allocator for kernels without an allocator argument: wyrm::malloc, wyrm::free, wyrm::realloc, wyrm::make and
// wyrm::destroy use the pool that the host has selected with alloc::set_global().
//
// The macro WYRM_GLOBAL_ALLOCATOR selects the family at compile time. Its value is the name of an allocator class, for
// example -DWYRM_GLOBAL_ALLOCATOR=corw. All source files of a program need the same value.
//
// Relocatable device code is not needed: every source file that nvcc compiles has its own pointer, in constant memory,
// and registers itself before main() begins. set_global() writes the pointers of all files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/config.hpp"
#include "../exec/error.hpp"
#include "../exec/host_space.hpp"
#include "objects.hpp"
#include "registry.hpp"
#include "shared_view.hpp"
#if WYRM_CUDACC
#include <cuda_runtime_api.h>
#endif

#if !defined(WYRM_GLOBAL_ALLOCATOR)
#define WYRM_GLOBAL_ALLOCATOR ouroboros_va_p
#endif

namespace wyrm::alloc {

/// The family of the global pool.
template <class Space>
using global_allocator = WYRM_GLOBAL_ALLOCATOR<Space>;

namespace detail {
using global_view = typename global_allocator<exec::host_space>::view_type;

/// A source file; `set`: nullptr if nvcc has not compiled it.
struct module {
  std::string_view allocator;
  void (*set)(global_view const* view, bool replaces);
};
inline std::vector<module>& modules() {
  static std::vector<module> all;
  return all;
}
inline global_view const* host_global = nullptr;

#if WYRM_CUDACC
namespace {
[[maybe_unused]] __constant__ global_view const* device_global;

void throw_if_failed(cudaError_t status) {
  if (status != cudaSuccess)
    throw error(error_code::device, std::string("the global pool cannot be set: ") + cudaGetErrorString(status));
}
// Sets the pointer on the device that has the view: to the view, or, if it points there, to nullptr. Kernels on any
// stream may use the pool before, and are ordered after the copy.
void set_in_module(global_view const* view, bool replaces) {
  cudaPointerAttributes place{};
  int current = 0;
  throw_if_failed(cudaPointerGetAttributes(&place, view));
  throw_if_failed(cudaGetDevice(&current));
  throw_if_failed(cudaSetDevice(place.device));
  global_view const* value = nullptr;
  cudaError_t status = cudaDeviceSynchronize();
  if (status == cudaSuccess) status = cudaMemcpyFromSymbol(&value, device_global, sizeof(value));
  if (status == cudaSuccess && (replaces || value == view)) {
    value = replaces ? view : nullptr;
    status = cudaMemcpyToSymbol(device_global, &value, sizeof(value));
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
  }
  throw_if_failed(cudaSetDevice(current));
  throw_if_failed(status);
}
}  // namespace
#else
namespace {
constexpr void (*set_in_module)(global_view const*, bool) = nullptr;
}  // namespace
#endif

namespace {
[[maybe_unused]] bool const is_registered =
    (modules().push_back({global_allocator<exec::host_space>::name, set_in_module}), true);
}  // namespace

[[nodiscard]] WYRM_HD inline global_view const* the_global_view() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return device_global;), (return host_global;))
}

template <class Space>
void set_global_view(global_view const* view, bool replaces) {
  std::string_view const mine = global_allocator<exec::host_space>::name;
  bool has_kernels = false;
  for (module const& m : modules()) {
    has_kernels = has_kernels || m.set != nullptr;
    if (m.allocator != mine)
      throw error(error_code::bad_argument, "source files of this program are compiled for the global allocators " +
                                                std::string(mine) + " and " + std::string(m.allocator) +
                                                "; define WYRM_GLOBAL_ALLOCATOR alike for all");
  }
  if constexpr (std::string_view(Space::name) != "cuda") {
    if (replaces || host_global == view) host_global = replaces ? view : nullptr;
  } else {
    if (!has_kernels)
      throw error(error_code::bad_argument,
                  "no source file that nvcc compiles includes <wyrm/alloc.hpp>, so no kernel can use the global pool");
    for (module const& m : modules())
      if (m.set != nullptr) m.set(view, replaces);
  }
}
}  // namespace detail

/// Makes the pool the global one of its device, or of the host, for kernels that are launched afterwards. Waits for the
/// running kernels of the device. The pool must live until unset_global(), or until no kernel uses it any more. Not
/// thread-safe.
///  - A program of several source files, and shared libraries that are loaded when it starts: one call serves all.
///  - A library that is loaded later, by dlopen: call it again afterwards.
///  - A module that is compiled at run time (NVRTC), or loaded by the driver API: pass pool.ref() to its kernels.
/// Throws error(bad_argument) if source files are compiled for different allocators; error(device).
template <class Pool>
void set_global(Pool const& pool) {
  using space = typename Pool::space_type;
  static_assert(std::is_same_v<Pool, global_allocator<space>>,
                "the pool is not of the family that WYRM_GLOBAL_ALLOCATOR names");
  detail::set_global_view<space>(pool.ref().view(), true);
}
/// If this is the global pool of its device, the device has no global pool afterwards. Waits for running kernels.
template <class Pool>
void unset_global(Pool const& pool) {
  detail::set_global_view<typename Pool::space_type>(pool.ref().view(), false);
}

}  // namespace wyrm::alloc

namespace wyrm {

/// Allocates a block of this many bytes from the global pool, aligned to `align`, a power of two up to 4096. Returns
/// nullptr if the pool has no memory left, or there is no global pool. Per thread; the lanes of a warp that call it at
/// the same time are served by one operation.
[[nodiscard]] WYRM_HD inline void* malloc(std::size_t bytes, std::size_t align = alloc::alignment) {
  alloc::detail::global_view const* const view = alloc::detail::the_global_view();
  return view != nullptr ? alloc::pool_ref(view).malloc(bytes, align) : nullptr;
}
/// Frees a block of malloc(), realloc() or make(); does nothing for nullptr. May be called by any thread of any kernel.
WYRM_HD inline void free(void* p) {
  alloc::detail::global_view const* const view = alloc::detail::the_global_view();
  if (view != nullptr) view->free(p);
}
/// See alloc::reallocate(). For allocators that record the sizes of blocks, which are all except `bump`.
template <alloc::measuring_ref View = alloc::detail::global_view>
[[nodiscard]] WYRM_HD void* realloc(void* p, std::size_t bytes) {
  View const* const view = alloc::detail::the_global_view();
  return view != nullptr ? alloc::reallocate(alloc::pool_ref(view), p, bytes) : nullptr;
}
/// See alloc::make() and alloc::destroy().
template <class T, class... Arguments>
[[nodiscard]] WYRM_HD T* make(Arguments&&... arguments) {
  alloc::detail::global_view const* const view = alloc::detail::the_global_view();
  return view != nullptr ? alloc::make<T>(alloc::pool_ref(view), std::forward<Arguments>(arguments)...) : nullptr;
}
template <class T>
WYRM_HD void destroy(T* object) {
  alloc::detail::global_view const* const view = alloc::detail::the_global_view();
  if (view != nullptr) alloc::destroy(*view, object);
}

}  // namespace wyrm
