// SPDX-License-Identifier: Apache-2.0
#include "cuda_space.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <string>
#include <utility>

#include "error.hpp"
#include "injected_failure.hpp"

namespace wyrm::exec {

namespace {

void check(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error of this call, so that the caller does not see it again
  error_code const code = status == cudaErrorMemoryAllocation ? error_code::out_of_memory : error_code::device;
  throw error(code, std::string(what) + ": " + cudaGetErrorString(status));
}

// Ignores the status of a call that must not throw, and clears its error, so that the caller does not see it.
void drop(cudaError_t status) noexcept {
  if (status != cudaSuccess) cudaGetLastError();
}

void check(CUresult status, char const* what) {
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

memory_functions const& driver() {
  static memory_functions const functions;
  return functions;
}

// Functions of the driver need a current context of the calling thread. A thread has one only after a call of the
// runtime that needs a context. Call this under a guard.
cudaError_t bind_context(int device) { return cudaSetDevice(device); }

int multiprocessors_of(int device) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return multiprocessors;
}

int resident_lanes_of(int device) {
  int threads = 0;
  check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device), "cudaDeviceGetAttribute");
  return multiprocessors_of(device) * threads;
}

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

// On the current device.
stream_owner make_stream() {
  count_request();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
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
}  // namespace

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

struct cuda_space::state {
  int device;
  int resident_lanes;
  detail::stream_owner own;
  cudaStream_t stream;

  explicit state(int d) : device(d), resident_lanes(resident_lanes_of(d)) {
    basic_device_guard<detail::cuda_device> const current(device);
    own = detail::make_stream();
    stream = own.get();
  }
  state(int d, cudaStream_t s) : device(d), resident_lanes(resident_lanes_of(d)), stream(s) {}
  state(state const&) = delete;
  state& operator=(state const&) = delete;
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

int cuda_space::device() const { return state_->device; }
CUstream_st* cuda_space::stream() const { return state_->stream; }
std::size_t cuda_space::lanes_for(std::uint32_t const*) const {
  return static_cast<std::size_t>(state_->resident_lanes);
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
  under_guard<guard>(*this, [] { drop(cudaDeviceSynchronize()); });
}

void* cuda_space::allocate(std::size_t bytes) const {
  guard const current(*this);
  void* p = nullptr;
  std::string const what = "allocate " + std::to_string((bytes >> 20) + (bytes % (1u << 20) != 0)) + " MiB on the GPU";
  check(cudaMalloc(&p, bytes > 0 ? bytes : 1), what.c_str());
  return p;
}

// cudaFree itself does not wait for work on streams that do not block the default stream. Errors are ignored: they are
// errors of earlier work, which are reported where that work is waited for.
void cuda_space::deallocate(void* p, std::size_t) const noexcept {
  under_guard<guard>(*this, [&] {
    drop(cudaStreamSynchronize(stream()));
    drop(cudaFree(p));
  });
}

void cuda_space::enqueue_copy_in(void* to, void const* from_host, std::size_t bytes) const {
  guard const current(*this);
  check(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, stream()), "copy to the GPU");
}

void cuda_space::enqueue_copy_out(void* to_host, void const* from, std::size_t bytes) const {
  guard const current(*this);
  check(cudaMemcpyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, stream()), "copy from the GPU");
}

void cuda_space::copy_in(void* to, void const* from_host, std::size_t bytes) const {
  guard const current(*this);
  enqueue_copy_in(to, from_host, bytes);
  synchronize();
}

void cuda_space::copy_out(void* to_host, void const* from, std::size_t bytes) const {
  guard const current(*this);
  enqueue_copy_out(to_host, from, bytes);
  synchronize();
}

void* cuda_space::allocate_staging(std::size_t bytes) const {
  guard const current(*this);
  void* p = nullptr;
  check(cudaMallocHost(&p, bytes > 0 ? bytes : 1), "pin host memory");
  return p;
}

void cuda_space::deallocate_staging(void* p) const noexcept {
  under_guard<guard>(*this, [&] {
    drop(cudaStreamSynchronize(stream()));
    drop(cudaFreeHost(p));
  });
}

void cuda_space::copy(void* to, void const* from, std::size_t bytes) const {
  guard const current(*this);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()), "copy on the GPU");
}

void cuda_space::fill(void* p, unsigned char byte, std::size_t bytes) const {
  guard const current(*this);
  check(cudaMemsetAsync(p, byte, bytes, stream()), "fill on the GPU");
}

void* cuda_space::reserve(std::size_t bytes) const {
  guard const current(*this);
  check(bind_context(device()), "cudaSetDevice");
  CUdeviceptr base = 0;
  check(driver().address_reserve(&base, bytes, 0, 0, 0), "reserve addresses on the GPU");
  return reinterpret_cast<void*>(base);
}

void cuda_space::commit(void* base, std::size_t from, std::size_t to) const {
  guard const current(*this);
  check(bind_context(device()), "cudaSetDevice");
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device()}};
  CUmemGenericAllocationHandle memory = 0;
  std::string const what = "commit " + std::to_string((to - from) >> 20) + " MiB on the GPU";
  check(driver().create(&memory, to - from, &kind, 0), what.c_str());
  CUdeviceptr const place = reinterpret_cast<CUdeviceptr>(base) + from;
  CUresult status = driver().map(place, to - from, 0, memory, 0);
  driver().release(memory);  // the mapping keeps the memory alive
  check(status, what.c_str());
  CUmemAccessDesc access{};
  access.location = kind.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  status = driver().set_access(place, to - from, &access, 1);
  if (status != CUDA_SUCCESS) driver().unmap(place, to - from);
  check(status, what.c_str());
}

void cuda_space::unreserve(void* base, std::size_t reserved, std::size_t committed) const noexcept {
  under_guard<guard>(*this, [&] {
    drop(bind_context(device()));
    drop(cudaStreamSynchronize(stream()));
    CUdeviceptr const place = reinterpret_cast<CUdeviceptr>(base);
    if (committed > 0) driver().unmap(place, committed);
    driver().address_free(place, reserved);
  });
}

std::size_t cuda_space::memory_total() const {
  guard const current(*this);
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return total;
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
  check(cudaMemcpyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, stream_.get()), "copy to the GPU");
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
