// SPDX-License-Identifier: Apache-2.0
// Wyrm's allocators as memory managers of GPUMemManSurvey, the benchmarks of "Are dynamic memory managers on GPUs
// slow?" (PPoPP 2021), so that these benchmarks can run them beside the allocators of the survey. README.md says how.
//
// A memory manager of the survey is an object that its programs construct on the host with the size of the pool, and
// pass to kernels by value. The copies share one pool, which the last of them frees.
#pragma once

#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

#include "TestInstance.cuh"  // of the survey: MemoryManagerBase

#include <wyrm/alloc/registry.hpp>
#include <wyrm/exec/cuda_space.hpp>

/// Family: the class of an allocator, for example wyrm::alloc::ouroboros_s_p.
template <template <class> class Family>
struct MemoryManagerWyrm final : public MemoryManagerBase {
  using pool_type = Family<wyrm::exec::cuda_space>;
  static constexpr std::size_t alignment = wyrm::alloc::alignment;
  static constexpr char const* name = pool_type::name;

  /// A pool of so many bytes on the current device, which does not grow and is not checked.
  explicit MemoryManagerWyrm(std::size_t bytes = std::size_t{2} << 30)
      : MemoryManagerBase(bytes), pool_(make_pool(bytes)), ref_(pool_->ref()) {}

  // Some versions of the survey have an init() that the constructor of the manager precedes, others have none.
  virtual void init() {}

  virtual __device__ __forceinline__ void* malloc(std::size_t bytes) override { return ref_.malloc(bytes); }
  virtual __device__ __forceinline__ void free(void* p) override { ref_.free(p); }

 private:
  static std::shared_ptr<pool_type> make_pool(std::size_t bytes) {
    int device = 0;
    cudaGetDevice(&device);
    wyrm::exec::cuda_space const space(device);
    auto pool = std::make_shared<pool_type>(
        space, wyrm::alloc::options{.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false});
    space.synchronize();  // kernels of the survey are on another stream
    return pool;
  }

  std::shared_ptr<pool_type> pool_;  // only used on the host
  typename pool_type::ref_type ref_;
};

// One name per family, as the survey has.
using MemoryManagerWyrmOuroborosSP = MemoryManagerWyrm<wyrm::alloc::ouroboros_s_p>;
using MemoryManagerWyrmOuroborosVAP = MemoryManagerWyrm<wyrm::alloc::ouroboros_va_p>;
using MemoryManagerWyrmOuroborosVLP = MemoryManagerWyrm<wyrm::alloc::ouroboros_vl_p>;
using MemoryManagerWyrmOuroborosSC = MemoryManagerWyrm<wyrm::alloc::ouroboros_s_c>;
using MemoryManagerWyrmOuroborosVAC = MemoryManagerWyrm<wyrm::alloc::ouroboros_va_c>;
using MemoryManagerWyrmOuroborosVLC = MemoryManagerWyrm<wyrm::alloc::ouroboros_vl_c>;
using MemoryManagerWyrmRW = MemoryManagerWyrm<wyrm::alloc::rw>;
using MemoryManagerWyrmRWBM = MemoryManagerWyrm<wyrm::alloc::rw_bm>;
using MemoryManagerWyrmCoRW = MemoryManagerWyrm<wyrm::alloc::corw>;
using MemoryManagerWyrmCRW = MemoryManagerWyrm<wyrm::alloc::crw>;
using MemoryManagerWyrmRWMalloc = MemoryManagerWyrm<wyrm::alloc::rw_malloc>;
using MemoryManagerWyrmScatterAlloc = MemoryManagerWyrm<wyrm::alloc::scatteralloc>;
using MemoryManagerWyrmListSize = MemoryManagerWyrm<wyrm::alloc::list_size>;
using MemoryManagerWyrmListMP = MemoryManagerWyrm<wyrm::alloc::list_mp>;
using MemoryManagerWyrmAlignMalloc = MemoryManagerWyrm<wyrm::alloc::align_malloc>;
using MemoryManagerWyrmAlignMallocSmall = MemoryManagerWyrm<wyrm::alloc::align_malloc_small>;
using MemoryManagerWyrmBump = MemoryManagerWyrm<wyrm::alloc::bump>;
