// SPDX-License-Identifier: Apache-2.0
#include "cuda_space.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cuda_driver.hpp"
#include "error.hpp"
#include "host_space.hpp"
#include "injected_failure.hpp"
#include "memory_limit.hpp"

namespace wyrm::exec {

namespace {

using detail::attribute_of;
using detail::bind_context;
using detail::check;
using detail::driver;
using detail::drop;
using detail::mib;
using detail::require_host_memory;

int multiprocessors_of(int device) { return attribute_of(device, cudaDevAttrMultiProcessorCount); }
int resident_lanes_of(int device) {
  return multiprocessors_of(device) * attribute_of(device, cudaDevAttrMaxThreadsPerMultiProcessor);
}

// Of the current device.
struct device_memory {
  std::size_t free = 0;
  std::size_t total = 0;
  device_memory() { check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo"); }
};

// The bytes of managed memory of this process on a device. The device has to keep as many free, because managed memory
// that it has no room for moves at every access. They count as free for cudaMemGetInfo even while their pages are on
// the device, since other memory may take their place. The mutex is held from the test of what is free until the memory
// is counted. The map is never destroyed, because reservations may be static objects.
std::mutex promises_mutex;
struct managed_bytes {
  std::size_t promised = 0;   // allocated
  std::size_t committed = 0;  // of these, used
};
managed_bytes& managed_on(int device) {
  static auto& all = *new std::map<int, managed_bytes>;
  return all[device];
}

// How many more bytes of managed memory the device, which is current, has room for. Under the mutex.
std::size_t left_for_managed(int device) {
  std::size_t const free = device_memory().free;
  return free - std::min(free, managed_on(device).promised);
}

// Infers from the addresses on which side memory is, because memory of the space may be on the host.
void enqueue_memcpy(void* to, void const* from, std::size_t bytes, cudaStream_t stream, char const* what) {
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), what);
}

cudaMemLocation location_of(memory_location where, int device) {
  cudaMemLocation location{};
  location.type = where == memory_location::device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
  location.id = where == memory_location::device ? device : 0;
  return location;
}

cudaMemoryAdvise advice_for(memory_advice advice) {
  switch (advice) {
    case memory_advice::read_mostly: return cudaMemAdviseSetReadMostly;
    case memory_advice::no_read_mostly: return cudaMemAdviseUnsetReadMostly;
    case memory_advice::preferred_location: return cudaMemAdviseSetPreferredLocation;
    case memory_advice::no_preferred_location: return cudaMemAdviseUnsetPreferredLocation;
    case memory_advice::accessed_by: return cudaMemAdviseSetAccessedBy;
    case memory_advice::not_accessed_by: return cudaMemAdviseUnsetAccessedBy;
  }
  throw error(error_code::bad_argument, "there is no such advice for managed memory");
}

#if CUDART_VERSION < 13000  // later versions take a location under the plain names
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#define cudaMemAdvise cudaMemAdvise_v2
#endif

}  // namespace

namespace detail {

int (*cuda_device::get)() = [] {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
};
void (*cuda_device::set)(int) = [](int device) { check(cudaSetDevice(device), "cudaSetDevice"); };

namespace {
std::atomic<int> handles = 0;
}  // namespace

stream_owner make_stream(bool urgent) {
  count_request();
  int highest = 0;
  if (urgent) check(cudaDeviceGetStreamPriorityRange(nullptr, &highest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest), "cudaStreamCreate");
  ++handles;
  return stream_owner(stream);
}
event_owner make_event(unsigned flags) {
  count_request();
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreate");
  ++handles;
  return event_owner(event);
}

void destroy_stream::operator()(CUstream_st* stream) const noexcept {
  drop(cudaStreamDestroy(stream));
  --handles;
}
void destroy_event::operator()(CUevent_st* event) const noexcept {
  drop(cudaEventDestroy(event));
  --handles;
}
int live_handles() { return handles; }

}  // namespace detail

namespace {
// A page of pinned memory for small copies to the host, allocated when the first one is made.
struct arrivals {
  static constexpr std::size_t size = 4096;
  std::mutex mutex;
  void* pinned = nullptr;
  bool is_refused = false;
  // For the holder of the mutex: whether there is such memory.
  [[nodiscard]] bool prepare() {
    if (pinned != nullptr || is_refused) return pinned != nullptr;
    cudaError_t const status = cudaMallocHost(&pinned, size);
    drop(status);
    is_refused = status != cudaSuccess;
    if (is_refused) pinned = nullptr;
    return !is_refused;
  }
};
}  // namespace

struct cuda_space::state {
  int device;
  int resident_lanes;
  bool moves_managed;  // pages of managed memory move on demand
  detail::stream_owner own;
  cudaStream_t stream;
  mutable arrivals arrived;

  explicit state(int d, bool urgent = false)
      : device(d), resident_lanes(resident_lanes_of(d)), moves_managed(can_move(d)) {
    basic_device_guard<detail::cuda_device> const current(device);
    own = detail::make_stream(urgent);
    stream = own.get();
  }
  state(int d, cudaStream_t s)
      : device(d), resident_lanes(resident_lanes_of(d)), moves_managed(can_move(d)), stream(s) {}
  ~state() {
    if (arrived.pinned == nullptr) return;
    under_device_guard<detail::cuda_device>(device, [&] { drop(cudaFreeHost(arrived.pinned)); });
  }
  state(state const&) = delete;
  state& operator=(state const&) = delete;

 private:
  static bool can_move(int device) { return attribute_of(device, cudaDevAttrConcurrentManagedAccess) != 0; }
};

int cuda_space::device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

namespace {
int checked_device(int device) {
  int const count = cuda_space::device_count();
  if (device < 0 || device >= count)
    throw error(error_code::device, "there is no CUDA device " + std::to_string(device) + "; this machine has " +
                                        std::to_string(count) + " (use the CPU instead)");
  return device;
}
}  // namespace

cuda_space::cuda_space(int device) : state_(std::make_shared<state const>(checked_device(device))) {}
cuda_space::cuda_space(int device, CUstream_st* stream)
    : state_(std::make_shared<state const>(checked_device(device), stream)) {}

cuda_space cuda_space::urgent() const {
  cuda_space made = *this;
  made.state_ = std::make_shared<state const>(device(), true);
  return made;
}

int cuda_space::device() const { return state_->device; }
CUstream_st* cuda_space::stream() const { return state_->stream; }
std::size_t cuda_space::lanes_for(std::uint32_t const*) const {
  return static_cast<std::size_t>(state_->resident_lanes);
}
std::size_t cuda_space::table_bytes() const {
  return static_cast<std::size_t>(attribute_of(device(), cudaDevAttrMaxSharedMemoryPerBlockOptin));
}
std::size_t cuda_space::multiprocessors() const { return static_cast<std::size_t>(multiprocessors_of(device())); }
void cuda_space::check_launch(int status) { check(static_cast<cudaError_t>(status), "kernel launch"); }
void cuda_space::synchronize() const {
  guard const current(*this);
  check(cudaStreamSynchronize(stream()), "a kernel failed");
}

void cuda_space::wait_for(event recorded) const {
  guard const current(*this);
  check(cudaStreamWaitEvent(stream(), recorded), "wait for an event");
}

void cuda_space::wait_for_all() const noexcept {
  under_device_guard<detail::cuda_device>(device(), [] { drop(cudaDeviceSynchronize()); });
}

void* cuda_space::allocate(std::size_t bytes, memory_kind kind) const {
  device_guard const current(*this);
  std::size_t const some = std::max<std::size_t>(bytes, 1);
  void* p = nullptr;
  switch (kind) {
    case memory_kind::device:
      return allocate_managed(manager_, some, [&] {
        check(cudaMalloc(&p, some), ("allocate " + mib(bytes) + " on the GPU").c_str());
        return p;
      });
    case memory_kind::managed:
      p = reserve_managed(some);
      try {
        commit_managed(p, some);
      } catch (...) {
        release_managed(p, some, 0);
        throw;
      }
      break;
    case memory_kind::host:
      require_host_memory(bytes, bytes);
      check(cudaHostAlloc(&p, some, cudaHostAllocMapped | cudaHostAllocPortable),
            ("pin " + mib(bytes) + " of host memory").c_str());
  }
  return p;
}

// cudaFree itself does not wait for work on streams that do not block the default stream. Errors are ignored: they are
// errors of earlier work, which are reported where that work is waited for.
void cuda_space::deallocate(void* p, std::size_t bytes, memory_kind kind) const noexcept {
  under_device_guard<detail::cuda_device>(device(), [&] {
    std::size_t const some = std::max<std::size_t>(bytes, 1);
    if (kind == memory_kind::managed) return release_managed(p, some, some);
    drop(cudaStreamSynchronize(stream()));
    drop(kind == memory_kind::host ? cudaFreeHost(p) : cudaFree(p));
    if (managing(kind) != nullptr) manager_->freed(some);
  });
}

void cuda_space::enqueue_copy_in(void* to, void const* from_host, std::size_t bytes) const {
  guard const current(*this);
  enqueue_memcpy(to, from_host, bytes, stream(), "copy to the GPU");
}

void cuda_space::enqueue_copy_out(void* to_host, void const* from, std::size_t bytes) const {
  guard const current(*this);
  enqueue_memcpy(to_host, from, bytes, stream(), "copy from the GPU");
}

void cuda_space::copy_in(void* to, void const* from_host, std::size_t bytes) const {
  guard const current(*this);
  enqueue_copy_in(to, from_host, bytes);
  synchronize();
}

// A few bytes arrive 3 us earlier by way of pinned memory: CUDA stages copies to other memory, and waits twice. If
// another thread is using that memory, the copy does without it.
void cuda_space::copy_out(void* to_host, void const* from, std::size_t bytes) const {
  guard const current(*this);
  arrivals& in = state_->arrived;
  std::unique_lock<std::mutex> own(in.mutex, std::defer_lock);
  bool const is_staged = bytes > 0 && bytes <= arrivals::size && own.try_lock() && in.prepare();
  enqueue_copy_out(is_staged ? in.pinned : to_host, from, bytes);
  synchronize();
  if (is_staged) std::memcpy(to_host, in.pinned, bytes);
}

void* cuda_space::allocate_staging(std::size_t bytes) const {
  device_guard const current(*this);
  void* p = nullptr;
  check(cudaMallocHost(&p, bytes > 0 ? bytes : 1), "pin host memory");
  return p;
}

void cuda_space::deallocate_staging(void* p) const noexcept {
  under_device_guard<detail::cuda_device>(device(), [&] {
    drop(cudaStreamSynchronize(stream()));
    drop(cudaFreeHost(p));
  });
}

void cuda_space::copy(void* to, void const* from, std::size_t bytes) const {
  guard const current(*this);
  enqueue_memcpy(to, from, bytes, stream(), "copy on the GPU");
}

void cuda_space::fill(void* p, unsigned char byte, std::size_t bytes) const {
  guard const current(*this);
  cudaError_t const status = cudaMemsetAsync(p, byte, bytes, stream());
  cudaPointerAttributes place{};
  if (status != cudaErrorInvalidValue || cudaPointerGetAttributes(&place, p) != cudaSuccess ||
      place.type != cudaMemoryTypeHost)
    return check(status, "fill on the GPU");
  // CUDA does not fill pinned memory that was committed in several steps.
  drop(cudaGetLastError());
  synchronize();
  std::memset(p, byte, bytes);
}

void* cuda_space::reserve_managed(std::size_t bytes) const {
  std::lock_guard const lock(promises_mutex);
  std::size_t const left = left_for_managed(device());
  if (bytes > left)
    throw error(error_code::out_of_memory,
                mib(bytes) + " of managed memory are more than cuda:" + std::to_string(device()) +
                    " has left: " + mib(device_memory().free) + " are free, of which other managed memory needs " +
                    mib(managed_on(device()).promised) + "; reserve less (a pool: set a smaller reserve_bytes)");
  void* p = nullptr;
  check(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal), ("allocate " + mib(bytes) + " of managed memory").c_str());
  if (state_->moves_managed) managed_on(device()).promised += bytes;  // else it does not count as free
  return p;
}

void cuda_space::commit_managed(void* p, std::size_t bytes) const {
  if (!state_->moves_managed) return;
  std::lock_guard const lock(promises_mutex);
  std::size_t const free = device_memory().free;
  std::size_t& committed = managed_on(device()).committed;
  if (committed + bytes > free)
    throw error(error_code::out_of_memory, "cannot commit " + mib(bytes) + " of managed memory beside " +
                                               mib(committed) + ": cuda:" + std::to_string(device()) + " has only " +
                                               mib(free) +
                                               " for both, since other memory was allocated; free some of it");
  prefetch(p, bytes, memory_location::device);
  committed += bytes;
}

// Under a guard.
void cuda_space::release_managed(void* p, std::size_t promised, std::size_t committed) const noexcept {
  drop(cudaStreamSynchronize(stream()));
  drop(cudaFree(p));
  if (!state_->moves_managed) return;
  std::lock_guard const lock(promises_mutex);
  managed_on(device()).promised -= promised;
  managed_on(device()).committed -= committed;
}

void cuda_space::prefetch(void* p, std::size_t bytes, memory_location to) const {
  if (!state_->moves_managed) return;
  guard const current(*this);
  check(cudaMemPrefetchAsync(p, bytes, location_of(to, device()), 0, stream()), "prefetch managed memory");
}

void cuda_space::advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) const {
  if (!state_->moves_managed) return;
  guard const current(*this);
  check(cudaMemAdvise(p, bytes, advice_for(advice), location_of(where, device())), "advise on managed memory");
}

void* cuda_space::reserve(std::size_t bytes, memory_kind kind, use_rate rate) const {
  device_guard const current(*this);
  if (managing(kind) != nullptr) return manager_->reserve(bytes, rate);
  if (kind == memory_kind::managed) return reserve_managed(bytes);
  check(bind_context(device()), "cudaSetDevice");
  CUdeviceptr base = 0;
  check(driver().address_reserve(&base, bytes, 0, 0, 0), "reserve addresses on the GPU");
  return reinterpret_cast<void*>(base);
}

// Pinned memory is created in steps, too: on the host's NUMA node next to the device, and accessible for both.
void cuda_space::commit(void* base, std::size_t from, std::size_t to, memory_kind kind) const {
  device_guard const current(*this);
  if (managing(kind) != nullptr) return manager_->commit(base, from, to);
  if (kind == memory_kind::managed) return commit_managed(static_cast<std::byte*>(base) + from, to - from);
  bool const is_on_host = kind == memory_kind::host;
  if (is_on_host) require_host_memory(to - from, to);
  check(bind_context(device()), "cudaSetDevice");
  CUmemAccessDesc access[2] = {};
  for (CUmemAccessDesc& one : access) one.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  access[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access[0].location.id = device();
  access[1].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  access[1].location.id = std::max(attribute_of(device(), cudaDevAttrHostNumaId), 0);  // -1: without such nodes
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = access[is_on_host ? 1 : 0].location;
  CUmemGenericAllocationHandle memory = 0;
  std::string const what = "commit " + mib(to - from) + (is_on_host ? " of pinned host memory" : " on the GPU");
  check(driver().create(&memory, to - from, &properties, 0), what.c_str());
  CUdeviceptr const place = reinterpret_cast<CUdeviceptr>(base) + from;
  CUresult status = driver().map(place, to - from, 0, memory, 0);
  driver().release(memory);  // the mapping keeps the memory alive
  check(status, what.c_str());
  status = driver().set_access(place, to - from, access, is_on_host ? 2 : 1);
  if (status != CUDA_SUCCESS) driver().unmap(place, to - from);
  check(status, what.c_str());
}

void cuda_space::unreserve(void* base, std::size_t reserved, std::size_t committed, memory_kind kind) const noexcept {
  if (managing(kind) != nullptr) return manager_->unreserve(base, reserved, committed);
  under_device_guard<detail::cuda_device>(device(), [&] {
    if (kind == memory_kind::managed) return release_managed(base, reserved, committed);
    drop(bind_context(device()));
    drop(cudaStreamSynchronize(stream()));
    CUdeviceptr const place = reinterpret_cast<CUdeviceptr>(base);
    if (committed > 0) driver().unmap(place, committed);
    driver().address_free(place, reserved);
  });
}

std::size_t cuda_space::memory_total() const {
  guard const current(*this);
  return device_memory().total;
}

std::size_t cuda_space::memory_limit(memory_kind kind) const {
  if (kind == memory_kind::host) return host_space(1).memory_limit();
  if (managing(kind) != nullptr) return manager_->range_limit();
  if (kind == memory_kind::device) return memory_total();
  guard const current(*this);
  std::lock_guard const lock(promises_mutex);
  std::size_t const most = std::min(device_memory().total / 4, left_for_managed(device()));
  return most - most % granularity();
}

void cuda_space::prepare_malloc(std::size_t bytes) const {
  guard const current(*this);
  std::size_t heap = 0;
  check(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize), "cudaDeviceGetLimit");
  std::size_t const wanted = bytes + bytes / 4;  // includes the metadata of the heap
  if (heap >= wanted || cudaDeviceSetLimit(cudaLimitMallocHeapSize, wanted) == cudaSuccess) return;
  cudaGetLastError();
  throw error(error_code::out_of_memory, "the heap of device malloc has " + std::to_string(heap >> 20) +
                                             " MiB, which its first use fixed; this needs " +
                                             std::to_string(wanted >> 20) + " MiB: construct the largest pool first");
}

std::string cuda_space::description() const {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device()), "cudaGetDeviceProperties");
  return "cuda:" + std::to_string(device()) + " (" + properties.name + ")";
}

cuda_upload::cuda_upload(cuda_space const& space) : space_(space) {
  cuda_space::guard const current(space_);
  stream_ = detail::make_stream();
  event_ = detail::make_event(cudaEventDisableTiming);
}
cuda_upload& cuda_upload::operator=(cuda_upload&& other) noexcept {
  std::swap(space_, other.space_);
  std::swap(stream_, other.stream_);
  std::swap(event_, other.event_);
  return *this;
}
cuda_upload::~cuda_upload() {
  if (stream_) drop(cudaStreamSynchronize(stream_.get()));
}

// An event can be recorded again immediately: cudaStreamWaitEvent waits for the most recent record at the time of its
// call.
void cuda_upload::start() {
  cuda_space::guard const current(space_);
  check(cudaEventRecord(event_.get(), space_.stream()), "cudaEventRecord");
  check(cudaStreamWaitEvent(stream_.get(), event_.get()), "cudaStreamWaitEvent");
}
void cuda_upload::enqueue(void* to, void const* from_host, std::size_t bytes) {
  cuda_space::guard const current(space_);
  enqueue_memcpy(to, from_host, bytes, stream_.get(), "copy to the GPU");
  check(cudaEventRecord(event_.get(), stream_.get()), "cudaEventRecord");
  check(cudaStreamWaitEvent(space_.stream(), event_.get()), "cudaStreamWaitEvent");
}

cuda_stopwatch::cuda_stopwatch(cuda_space const& space) : space_(space) {
  cuda_space::guard const current(space_);
  for (detail::event_owner& event : events_) event = detail::make_event(cudaEventDefault);
}

void cuda_stopwatch::start() {
  cuda_space::guard const current(space_);
  check(cudaEventRecord(events_[0].get(), space_.stream()), "cudaEventRecord");
}

double cuda_stopwatch::stop() {
  cuda_space::guard const current(space_);
  check(cudaEventRecord(events_[1].get(), space_.stream()), "cudaEventRecord");
  check(cudaEventSynchronize(events_[1].get()), "a kernel failed");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, events_[0].get(), events_[1].get()), "cudaEventElapsedTime");
  return double{milliseconds} / 1e3;
}

}  // namespace wyrm::exec
