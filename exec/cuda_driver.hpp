// SPDX-License-Identifier: Apache-2.0
// Code that the sources that call CUDA share: checks of status codes, and the driver's functions for virtual memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "cuda_space.hpp"
#include "error.hpp"
#include "host_space.hpp"
#include "memory_limit.hpp"

namespace wyrm::exec::detail {

/// Created on the current device. The calls count as requests for memory (injected_failure), and throw error(device).
/// urgent: its kernels start before those of other streams that wait for multiprocessors.
[[nodiscard]] stream_owner make_stream(bool urgent = false);
[[nodiscard]] event_owner make_event(unsigned flags);

inline void check(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error of this call, so that the caller does not see it again
  error_code const code = status == cudaErrorMemoryAllocation ? error_code::out_of_memory : error_code::device;
  throw error(code, std::string(what) + ": " + cudaGetErrorString(status));
}

// Ignores the status of a call that must not throw, and clears its error, so that the caller does not see it.
inline void drop(cudaError_t status) noexcept {
  if (status != cudaSuccess) cudaGetLastError();
}

inline void check(CUresult status, char const* what) {
  if (status == CUDA_SUCCESS) return;
  error_code const code = status == CUDA_ERROR_OUT_OF_MEMORY ? error_code::out_of_memory : error_code::device;
  throw error(code, std::string(what) + ": driver error " + std::to_string(status));
}

// Functions of the driver are looked up at their first use, so that a program built with CUDA also starts on a machine
// without a driver.
template <class F>
F driver_function(char const* symbol, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(symbol, &function, version, cudaEnableDefault, &found), symbol);
  if (found != cudaDriverEntryPointSuccess)
    throw error(error_code::device, std::string("the CUDA driver has no ") + symbol + "; install a newer driver");
  return reinterpret_cast<F>(function);
}

struct memory_functions {
  decltype(&cuMemAddressReserve) address_reserve =
      driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve", 10020);
  decltype(&cuMemAddressFree) address_free = driver_function<decltype(&cuMemAddressFree)>("cuMemAddressFree", 10020);
  decltype(&cuMemCreate) create = driver_function<decltype(&cuMemCreate)>("cuMemCreate", 10020);
  decltype(&cuMemRelease) release = driver_function<decltype(&cuMemRelease)>("cuMemRelease", 10020);
  decltype(&cuMemMap) map = driver_function<decltype(&cuMemMap)>("cuMemMap", 10020);
  decltype(&cuMemUnmap) unmap = driver_function<decltype(&cuMemUnmap)>("cuMemUnmap", 10020);
  decltype(&cuMemSetAccess) set_access = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess", 10020);
};

inline memory_functions const& driver() {
  static memory_functions const functions;
  return functions;
}

// Functions of the driver need a current context of the calling thread. A thread has one only after a call of the
// runtime that needs a context. Call this under a guard.
inline cudaError_t bind_context(int device) { return cudaSetDevice(device); }

inline int attribute_of(int device, cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

// The size in MiB, rounded up.
inline std::string mib(std::size_t bytes) { return std::to_string((bytes >> 20) + (bytes % (1u << 20) != 0)) + " MiB"; }

// Throws if the host does not have this memory: if too much memory is pinned, the system kills processes. `total`
// includes memory that is pinned already.
inline void require_host_memory(std::size_t bytes, std::size_t total) {
  std::size_t const available = memory_available();
  std::size_t const limit = host_space(1).memory_limit();
  if (bytes <= available && total <= limit) return;
  throw error(error_code::out_of_memory, "cannot pin " + mib(bytes) + " of host memory, " + mib(total) +
                                             " together: the host has " + mib(std::min(available, limit)) +
                                             " available, and permits " + mib(limit) + "; use a smaller pool");
}

}  // namespace wyrm::exec::detail
