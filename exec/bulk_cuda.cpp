// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <algorithm>
#include <cub/cub.cuh>
#include <string>
#include <thread>

#include "bulk.hpp"

namespace wyrm::exec {

namespace {
// CUB mistakes a pending error of an earlier call for one of its own. A pending error belongs to the caller: it must
// neither fail the primitive nor be consumed. Pending errors are per host thread, so CUB is called on another thread if
// there is one.
template <class F>
cudaError_t status_of(F const& f) {
  if (cudaPeekAtLastError() == cudaSuccess) return f();
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  std::thread([&] {
    status = cudaSetDevice(device);
    if (status == cudaSuccess) status = f();
  }).join();
  return status;
}

template <class F>
void checked(F const& f) {
  cudaError_t const before = cudaPeekAtLastError();
  cudaError_t const status = status_of(f);
  if (status == cudaSuccess) return;
  if (before == cudaSuccess) cudaGetLastError();  // the primitive's own error
  throw error(error_code::device, std::string("a CUB primitive failed: ") + cudaGetErrorString(status));
}

struct widen {
  __host__ __device__ std::uint64_t operator()(std::uint32_t value) const { return value; }
};
struct begins_run {
  std::uint64_t const* keys;
  __device__ bool operator()(std::uint32_t i) const { return i == 0 || keys[i] != keys[i - 1]; }
};
}  // namespace

template <class Primitive>
void cuda_bulk::call(Primitive const& primitive) {
  cuda_space::guard const current(space_);
  std::size_t bytes = 0;
  checked([&] { return primitive(nullptr, bytes); });
  if (bytes > scratch_.size()) reserved_ = 0;  // if the next line throws, scratch_ is empty
  scratch_.reserve(bytes > 0 ? bytes : 1);
  checked([&] { return primitive(scratch_.data(), bytes); });
}

void cuda_bulk::reserve(std::size_t n) {
  if (n <= reserved_) return;
  n = std::max(n, reserved_ + reserved_ / 4);  // like a buffer, so that growth is rare
  cuda_space::guard const current(space_);
  std::size_t most = 1;
  auto const need = [&](auto const& primitive) {
    std::size_t bytes = 0;
    checked([&] { return primitive(bytes); });
    most = std::max(most, bytes);
  };
  // The scratch of a primitive grows with the number of values and of bits, so n values and all bits are the maximum.
  std::uint64_t* const none = nullptr;
  std::uint32_t const* const narrow = nullptr;
  double* const real = nullptr;
  cudaStream_t const stream = space_.stream();
  need([&](std::size_t& bytes) {
    cub::DoubleBuffer<std::uint64_t> both(none, none);
    return cub::DeviceRadixSort::SortKeys(nullptr, bytes, both, n, 0, 64, stream);
  });
  need([&](std::size_t& bytes) { return cub::DeviceSelect::Unique(nullptr, bytes, none, none, none, n, stream); });
  need([&](std::size_t& bytes) {
    return cub::DeviceSelect::If(nullptr, bytes, thrust::counting_iterator<std::uint32_t>(0),
                                 static_cast<std::uint32_t*>(nullptr), none, n, begins_run{none}, stream);
  });
  need([&](std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(nullptr, bytes, thrust::make_transform_iterator(narrow, widen{}), none, n,
                                         stream);
  });
  need([&](std::size_t& bytes) { return cub::DeviceReduce::Sum(nullptr, bytes, none, none, n, stream); });
  need([&](std::size_t& bytes) { return cub::DeviceReduce::Sum(nullptr, bytes, real, real, n, stream); });
  reserved_ = 0;
  scratch_.reserve(most);
  reserved_ = n;
}

std::uint64_t* cuda_bulk::sort(std::uint64_t* keys, std::uint64_t* spare, std::size_t n, unsigned bits) {
  cub::DoubleBuffer<std::uint64_t> both(keys, spare);
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, both, n, 0, static_cast<int>(bits), space_.stream());
  });
  return both.Current();
}

sorted_pairs cuda_bulk::sort_pairs(std::uint64_t* keys, std::uint64_t* spare, std::uint32_t* values,
                                   std::uint32_t* spare_values, std::size_t n, unsigned bits) {
  cub::DoubleBuffer<std::uint64_t> both_keys(keys, spare);
  cub::DoubleBuffer<std::uint32_t> both_values(values, spare_values);
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, both_keys, both_values, n, 0, static_cast<int>(bits),
                                           space_.stream());
  });
  return {both_keys.Current(), both_values.Current()};
}

std::size_t cuda_bulk::unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, in, out, result_.data(), n, space_.stream());
  });
  return read(space_, result_.data());
}

void cuda_bulk::run_begins(std::uint64_t const* in, std::uint32_t* out, std::size_t n) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0), out, result_.data(), n,
                                 begins_run{in}, space_.stream());
  });
}

void cuda_bulk::inclusive_sum(std::uint32_t const* in, std::uint64_t* out, std::size_t n) {
  space_.fill(out, 0, sizeof(*out));
  auto const first = thrust::make_transform_iterator(in, widen{});
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, first, out + 1, n, space_.stream());
  });
}

double cuda_bulk::sum(double const* values, std::size_t n) {
  double* const result = reinterpret_cast<double*>(result_.data());
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, values, result, n, space_.stream());
  });
  return read(space_, result);
}

std::uint64_t cuda_bulk::sum(std::uint64_t const* values, std::size_t n) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, values, result_.data(), n, space_.stream());
  });
  return read(space_, result_.data());
}

}  // namespace wyrm::exec
