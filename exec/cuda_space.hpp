// SPDX-License-Identifier: Apache-2.0
// The space of one CUDA device: memory, copies and launches. The class needs the CUDA runtime only, so any compiler can
// use it; launches need nvcc. All work is enqueued on one stream, in order; copies to the host wait for it. Every call
// preserves the caller's current device. A successful call does not consume a pending CUDA error of the caller. A
// failing call throws; then a pending error of the caller is lost, because CUDA stores one error per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "config.hpp"
#include "device_guard.hpp"
#include "memory_kind.hpp"
#include "memory_manager.hpp"
#include "stream_identity.hpp"
#include "team.hpp"
#include "tile.hpp"

#if WYRM_CUDACC
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#endif

struct CUstream_st;
struct CUevent_st;

namespace wyrm::exec {

class cuda_bulk;
class cuda_stopwatch;
class cuda_upload;

namespace detail {
/// Access to the current device of the calling thread. Tests replace the two functions.
struct cuda_device {
  static int current() { return get(); }
  static void make_current(int device) { set(device); }
  static int (*get)();
  static void (*set)(int);
};
struct destroy_stream {
  void operator()(CUstream_st* stream) const noexcept;
};
struct destroy_event {
  void operator()(CUevent_st* event) const noexcept;
};
using stream_owner = std::unique_ptr<CUstream_st, destroy_stream>;
using event_owner = std::unique_ptr<CUevent_st, destroy_event>;
/// The number of streams and events that spaces, uploads and stopwatches own at present.
[[nodiscard]] int live_handles();
}  // namespace detail

class cuda_space {
 public:
  using bulk = cuda_bulk;
  using stopwatch = cuda_stopwatch;
  using upload = cuda_upload;
  /// While a guard exists, the device of the space is the current device of the calling thread, and the memory manager
  /// of the space, if there is one, moves no memory.
  class guard {
   public:
    explicit guard(cuda_space const& space) : device_(space.device()), work_(space.manager_) {}

   private:
    basic_device_guard<detail::cuda_device> device_;
    managed_work work_;
  };
  /// A cudaEvent_t.
  using event = CUevent_st*;
  static constexpr char const* name = "cuda";
  template <unsigned W>
  static constexpr unsigned tile_size = W;

  /// Throws error(device) when there is no such device. Copies of the space use the same stream; copying is cheap.
  explicit cuda_space(int device = 0);
  /// On the caller's stream, which must outlive the space and all memory and objects on it.
  cuda_space(int device, CUstream_st* stream);
  /// The same device with a stream of the highest priority: its kernels start before those of other streams that wait
  /// for multiprocessors. For short kernels that a host waits for.
  [[nodiscard]] cuda_space urgent() const;
  /// The same space with its memory managed; see memory_manager.hpp. nullptr: not managed.
  [[nodiscard]] cuda_space managed_by(memory_manager* manager) const {
    cuda_space bound = *this;
    bound.manager_ = manager;
    return bound;
  }
  [[nodiscard]] memory_manager* manager() const { return manager_; }

  /// The number of devices; 0 without a driver. Never throws.
  [[nodiscard]] static int device_count() noexcept;

  void synchronize() const;
  /// All later work of the space, including copies by its uploads, begins after the work that `recorded` has recorded,
  /// on any stream and device. The host does not wait. The event may be recorded again, or destroyed, after this call.
  void wait_for(event recorded) const;
  /// Waits for all work of all streams of the device. Ignores errors; never throws.
  void wait_for_all() const noexcept;

  /// Memory of any kind. Throws error(out_of_memory): for managed memory already if the device, for pinned memory if
  /// the host, has less memory free than that.
  [[nodiscard]] void* allocate(std::size_t bytes, memory_kind kind = memory_kind::device) const;
  void deallocate(void* p, std::size_t bytes, memory_kind kind = memory_kind::device) const noexcept;
  /// The copies and fill() take memory of the space of any kind.
  void copy_in(void* to, void const* from_host, std::size_t bytes) const;
  void copy_out(void* to_host, void const* from, std::size_t bytes) const;
  /// Asynchronous copies: the host memory must not change, or be freed, until synchronize() returns.
  void enqueue_copy_in(void* to, void const* from_host, std::size_t bytes) const;
  void enqueue_copy_out(void* to_host, void const* from, std::size_t bytes) const;
  void copy(void* to, void const* from, std::size_t bytes) const;
  void fill(void* p, unsigned char byte, std::size_t bytes) const;

  /// Pinned host memory, which is copied without staging.
  [[nodiscard]] void* allocate_staging(std::size_t bytes) const;
  void deallocate_staging(void* p) const noexcept;

  /// Address ranges, for `reservation`.
  [[nodiscard]] void* reserve(std::size_t bytes, memory_kind kind = memory_kind::device,
                              use_rate rate = use_rate::normal) const;
  void commit(void* base, std::size_t from, std::size_t to, memory_kind kind = memory_kind::device) const;
  void unreserve(void* base, std::size_t reserved, std::size_t committed,
                 memory_kind kind = memory_kind::device) const noexcept;
  /// For managed memory: move pages, in the order of the work of the space; give advice, immediately. They do nothing
  /// on a device whose managed memory does not move while kernels run (no concurrentManagedAccess).
  void prefetch(void* p, std::size_t bytes, memory_location to) const;
  void advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) const;
  [[nodiscard]] std::size_t granularity() const { return std::size_t{2} << 20; }
  [[nodiscard]] std::size_t memory_total() const;
  /// The memory of a kind that one large object may take: all memory of the device; for managed memory a quarter of
  /// it, or what the device has left for managed memory if that is less; for pinned memory that of host_space.
  [[nodiscard]] std::size_t memory_limit(memory_kind kind = memory_kind::device) const;

  /// Makes the heap of device malloc large enough for `bytes`. Throws error(out_of_memory) when the heap is smaller and
  /// in use already: CUDA fixes its size at the first use.
  void prepare_malloc(std::size_t bytes) const;

  /// The number of lanes for work on a list whose length is in memory of the space: as many as the device can run at
  /// the same time, because the host does not read the length.
  [[nodiscard]] std::size_t lanes_for(std::uint32_t const* length) const;
  [[nodiscard]] std::size_t multiprocessors() const;
  [[nodiscard]] int device() const;
  [[nodiscard]] CUstream_st* stream() const;
  /// Differs for the default streams of two devices, whose handles are equal.
  [[nodiscard]] stream_identity identity() const { return {device(), stream(), manager_}; }
  /// For reports: "cuda:0 (NVIDIA H200)".
  [[nodiscard]] std::string description() const;

#if WYRM_CUDACC
  template <class F>
  void run(std::size_t n, F const& f) const;
  template <unsigned W, class F>
  void run_tiles(std::integral_constant<unsigned, W>, std::size_t n, F const& f) const;
  /// As run_tiles, in blocks that share a copy of values[0 ... count), which f gets as a third argument.
  template <unsigned W, class T, class F>
  void run_tiles_with_table(std::integral_constant<unsigned, W>, std::size_t n, T const* values, std::size_t count,
                            F const& f) const;
  /// As run_tiles, with Bytes bytes of shared memory for each tile, which f gets as a third argument.
  template <unsigned W, std::size_t Bytes, class F>
  void run_tiles_with_memory(std::integral_constant<unsigned, W>, std::integral_constant<std::size_t, Bytes>,
                             std::size_t n, F const& f) const;
  template <class F>
  void run_blocks(std::size_t n, F const& f) const;
  template <unsigned W>
  [[nodiscard]] std::size_t team_tiles(std::integral_constant<unsigned, W>) const;
  template <unsigned W, class F>
  void run_team(std::integral_constant<unsigned, W>, F const& f) const;
  template <unsigned W, class F>
  [[nodiscard]] int tile_registers() const;
#endif
  /// The largest table of run_tiles_with_table.
  [[nodiscard]] std::size_t table_bytes() const;

 private:
  /// For calls that do not touch memory of the space.
  class device_guard : basic_device_guard<detail::cuda_device> {
   public:
    explicit device_guard(cuda_space const& space) : basic_device_guard(space.device()) {}
  };
  [[nodiscard]] void* reserve_managed(std::size_t bytes) const;
  void commit_managed(void* p, std::size_t bytes) const;
  void release_managed(void* p, std::size_t promised, std::size_t committed) const noexcept;
  /// status: the cudaError_t that the launch returned.
  static void check_launch(int status);

  /// Of memory of that kind.
  [[nodiscard]] memory_manager* managing(memory_kind kind) const {
    return kind == memory_kind::device ? manager_ : nullptr;
  }

  struct state;
  std::shared_ptr<state const> state_;
  memory_manager* manager_ = nullptr;
};

/// Copies from the host on a stream of their own, concurrently with the work of a space.
class cuda_upload {
 public:
  static constexpr bool is_concurrent = true;
  explicit cuda_upload(cuda_space const& space);
  ~cuda_upload();
  cuda_upload(cuda_upload&&) noexcept = default;
  cuda_upload& operator=(cuda_upload&& other) noexcept;

  /// Copies that are enqueued from now on begin after the work that is on the space now.
  void start();
  /// Work that is enqueued on the space after this call waits for this copy, but not for later copies.
  void enqueue(void* to, void const* from_host, std::size_t bytes);

 private:
  cuda_space space_;
  detail::stream_owner stream_;
  detail::event_owner event_;
};

/// Time that the device spends on the work of a space, measured by events of the device.
class cuda_stopwatch {
 public:
  explicit cuda_stopwatch(cuda_space const& space);

  void start();
  /// Seconds since start(). Waits for the work.
  [[nodiscard]] double stop();

 private:
  cuda_space space_;
  detail::event_owner events_[2];
};

#if WYRM_CUDACC
namespace detail {
inline constexpr unsigned block_threads = 256;

/// Whether a kernel is launched while the previous kernel of the stream still runs (programmatic dependent launch).
/// This needs code that can wait for the previous kernel, which all compiled architectures must have (from 9.0 on).
inline constexpr bool launches_ahead = [] {
  for (int const architecture : {__CUDA_ARCH_LIST__})
    if (architecture < 900) return false;
  return true;
}();

/// The beginning of each kernel. It permits the launch of the next kernel, and waits until the previous kernels have
/// completed and their writes are visible.
__device__ inline void begin_kernel() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (cudaTriggerProgrammaticLaunchCompletion(); cudaGridDependencySynchronize();))
}

template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(std::size_t n, __grid_constant__ F const f) {
  begin_kernel();
  std::size_t const step = std::size_t{gridDim.x} * block_threads;
  for (std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x; i < n; i += step) f(i);
}

// All lanes of a tile have the same i, so the lanes of a tile leave the loop in the same iteration.
template <unsigned W, class F>
__global__ void __launch_bounds__(block_threads, resident_blocks_of<F>())
    for_each_tile_kernel(std::size_t n, __grid_constant__ F const f) {
  begin_kernel();
  constexpr unsigned tiles = block_threads / W;
  std::size_t const step = std::size_t{gridDim.x} * tiles;
  for (std::size_t i = std::size_t{blockIdx.x} * tiles + threadIdx.x / W; i < n; i += step) f(warp_tile<W, true>{}, i);
}

template <unsigned W, std::size_t Bytes, class F>
__global__ void __launch_bounds__(block_threads, resident_blocks_of<F>())
    for_each_tile_with_memory_kernel(std::size_t n, __grid_constant__ F const f) {
  constexpr unsigned tiles = block_threads / W;
  __shared__ uint4 memory[tiles][Bytes / sizeof(uint4)];
  begin_kernel();
  std::size_t const step = std::size_t{gridDim.x} * tiles;
  for (std::size_t i = std::size_t{blockIdx.x} * tiles + threadIdx.x / W; i < n; i += step) {
    f(warp_tile<W, true>{}, i, reinterpret_cast<std::byte*>(memory[threadIdx.x / W]));
    warp_tile<W, true>{}.sync();
  }
}

/// The block of for_each_block().
class thread_block {
 public:
  __device__ static constexpr unsigned size() { return block_threads; }
  __device__ static unsigned rank() { return threadIdx.x; }
  __device__ static void sync() { __syncthreads(); }
};

template <class F>
__global__ void __launch_bounds__(block_threads, resident_blocks_of<F>())
    for_each_block_kernel(std::size_t n, __grid_constant__ F const f) {
  begin_kernel();
  for (std::size_t i = blockIdx.x; i < n; i += gridDim.x) f(thread_block{}, i);
}

inline constexpr unsigned table_block_threads = 1024;

// One block per multiprocessor, because a table takes all of its shared memory.
template <unsigned W, class T, class F>
__global__ void __launch_bounds__(table_block_threads, 1)
    for_each_tile_with_table_kernel(std::size_t n, T const* values, std::uint32_t count, __grid_constant__ F const f) {
  extern __shared__ uint4 shared_memory[];
  T* const table = reinterpret_cast<T*>(shared_memory);
  begin_kernel();
  constexpr std::uint32_t in_line = sizeof(uint4) / sizeof(T);
  std::uint32_t const whole = count / in_line;
  for (std::uint32_t i = threadIdx.x; i < whole; i += table_block_threads)
    shared_memory[i] = reinterpret_cast<uint4 const*>(values)[i];
  for (std::uint32_t i = whole * in_line + threadIdx.x; i < count; i += table_block_threads) table[i] = values[i];
  __syncthreads();
  constexpr unsigned tiles = table_block_threads / W;
  std::size_t const step = std::size_t{gridDim.x} * tiles;
  for (std::size_t i = std::size_t{threadIdx.x / W} * gridDim.x + blockIdx.x; i < n; i += step)
    f(warp_tile<W, true>{}, i, static_cast<T const*>(table));
}

inline constexpr unsigned team_threads = 1024;  // per block
// Like launches_ahead, clusters exist from 9.0 on. A cluster of 8 blocks runs on all but very small devices.
inline constexpr unsigned team_blocks = launches_ahead ? 8 : 1;

/// The team of all tiles of a block.
template <unsigned W>
class block_team {
 public:
  __device__ static unsigned rank() { return threadIdx.x / W; }
  __device__ static constexpr unsigned tiles() { return team_threads / W; }
  __device__ static void sync() {
    __syncwarp();  // tiles of a warp may come at different times
    __syncthreads();
  }
};

/// The team of all tiles of a cluster of blocks, or of one block. Consecutive tiles are in different blocks, so that
/// few items occupy all multiprocessors of the cluster.
template <unsigned W>
class cluster_team {
 public:
  __device__ static unsigned rank() { return threadIdx.x / W * team_blocks + blockIdx.x; }
  __device__ static constexpr unsigned tiles() { return team_blocks * team_threads / W; }
  // The release makes writes visible to other blocks, and the acquire drops old lines of the L1 cache.
  __device__ static void sync() {
    if constexpr (team_blocks == 1) {
      block_team<W>::sync();
    } else {
      NV_IF_TARGET(NV_PROVIDES_SM_90, (__syncwarp(); asm volatile("barrier.cluster.arrive.release;" ::
                                                                      : "memory");
                                       asm volatile("barrier.cluster.wait.acquire;" ::
                                                        : "memory");))
    }
  }
  __device__ static bool in_part() { return blockIdx.x == 0; }
  __device__ static constexpr block_team<W> part() { return {}; }
  __device__ static constexpr unsigned tiles_of_part() { return block_team<W>::tiles(); }
};

template <unsigned W, class F>
__global__ void __launch_bounds__(team_threads, 1) for_team_kernel(__grid_constant__ F const f) {
  begin_kernel();
  f(warp_tile<W, true>{}, cluster_team<W>{});
}

/// Of a kernel that is set up while the one before it ends; see begin_kernel().
inline cudaLaunchAttribute ahead_attribute() {
  cudaLaunchAttribute ahead{};
  ahead.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  ahead.val.programmaticStreamSerializationAllowed = 1;
  return ahead;
}

inline cudaLaunchConfig_t team_launch(cudaLaunchAttribute (&attributes)[2], cudaStream_t stream) {
  attributes[0] = ahead_attribute();
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = team_blocks;
  attributes[1].val.clusterDim.y = 1;
  attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = team_blocks;
  config.blockDim = team_threads;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = launches_ahead ? 2 : 0;
  return config;
}

struct no_work {
  template <class Tile, class Team>
  WYRM_HD void operator()(Tile const&, Team const&) const {}
};

/// Whether a device, the current one, has room for the cluster of a team. Asks CUDA once for each device.
inline bool teams_fit(int device) {
  constexpr int most_devices = 64;
  enum : signed char { unknown, fits, does_not_fit };
  static std::atomic<signed char> known[most_devices];
  if (team_blocks == 1 || device >= most_devices) return team_blocks == 1;
  if (known[device] == unknown) {
    cudaLaunchAttribute attributes[2]{};
    cudaLaunchConfig_t const config = team_launch(attributes, nullptr);
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, for_team_kernel<32, no_work>, &config) != cudaSuccess) {
      (void)cudaGetLastError();
      clusters = 0;
    }
    known[device] = clusters > 0 ? fits : does_not_fit;
  }
  return known[device] == fits;
}

inline unsigned blocks_for(std::size_t items, std::size_t items_per_block) {
  return static_cast<unsigned>(std::min<std::size_t>((items + items_per_block - 1) / items_per_block, 0x7fffffff));
}

/// Launches a kernel of n items. Returns the status of this launch, which no earlier error affects.
template <class F>
[[nodiscard]] cudaError_t launch(cudaStream_t stream, void (*kernel)(std::size_t, F const), std::size_t n,
                                 std::size_t items_per_block, F const& f) {
  cudaLaunchAttribute ahead = ahead_attribute();
  cudaLaunchConfig_t config{};
  config.gridDim = blocks_for(n, items_per_block);
  config.blockDim = block_threads;
  config.stream = stream;
  config.attrs = &ahead;
  config.numAttrs = launches_ahead ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, n, f);
}
}  // namespace detail

template <class F>
void cuda_space::run(std::size_t n, F const& f) const {
  guard const current(*this);
  check_launch(detail::launch(stream(), detail::for_each_kernel<F>, n, detail::block_threads, f));
}

template <unsigned W, class F>
void cuda_space::run_tiles(std::integral_constant<unsigned, W>, std::size_t n, F const& f) const {
  guard const current(*this);
  check_launch(detail::launch(stream(), detail::for_each_tile_kernel<W, F>, n, detail::block_threads / W, f));
}
template <unsigned W, std::size_t Bytes, class F>
void cuda_space::run_tiles_with_memory(std::integral_constant<unsigned, W>, std::integral_constant<std::size_t, Bytes>,
                                       std::size_t n, F const& f) const {
  guard const current(*this);
  check_launch(
      detail::launch(stream(), detail::for_each_tile_with_memory_kernel<W, Bytes, F>, n, detail::block_threads / W, f));
}
template <unsigned W, class T, class F>
void cuda_space::run_tiles_with_table(std::integral_constant<unsigned, W>, std::size_t n, T const* values,
                                      std::size_t count, F const& f) const {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(uint4) % sizeof(T) == 0);
  guard const current(*this);
  auto* const kernel = detail::for_each_tile_with_table_kernel<W, T, F>;
  std::size_t const bytes = count * sizeof(T);
  check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  std::size_t const blocks = std::min(multiprocessors(), (n * W - 1) / detail::table_block_threads + 1);
  cudaLaunchAttribute ahead = detail::ahead_attribute();
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = detail::table_block_threads;
  config.dynamicSmemBytes = bytes;
  config.stream = stream();
  config.attrs = &ahead;
  config.numAttrs = detail::launches_ahead ? 1 : 0;
  check_launch(cudaLaunchKernelEx(&config, kernel, n, values, static_cast<std::uint32_t>(count), f));
}
template <class F>
void cuda_space::run_blocks(std::size_t n, F const& f) const {
  guard const current(*this);
  check_launch(detail::launch(stream(), detail::for_each_block_kernel<F>, n, 1, f));
}
template <unsigned W>
std::size_t cuda_space::team_tiles(std::integral_constant<unsigned, W>) const {
  guard const current(*this);
  return detail::teams_fit(device()) ? std::size_t{detail::team_blocks} * detail::team_threads / W : 0;
}
template <unsigned W, class F>
void cuda_space::run_team(std::integral_constant<unsigned, W>, F const& f) const {
  guard const current(*this);
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t const config = detail::team_launch(attributes, stream());
  check_launch(cudaLaunchKernelEx(&config, detail::for_team_kernel<W, F>, f));
}
template <unsigned W, class F>
int cuda_space::tile_registers() const {
  guard const current(*this);
  cudaFuncAttributes attributes{};
  check_launch(cudaFuncGetAttributes(&attributes, detail::for_each_tile_kernel<W, F>));
  return attributes.numRegs;
}
#endif

}  // namespace wyrm::exec
