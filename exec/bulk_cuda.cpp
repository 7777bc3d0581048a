// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/transform_iterator.h>
#include <algorithm>
#include <cub/cub.cuh>
#include <string>

#include "bulk.hpp"

namespace wyrm::exec {

namespace {
struct widen {
  __host__ __device__ std::uint64_t operator()(std::uint32_t value) const { return value; }
};
}  // namespace

template <class Primitive>
void cuda_bulk::call(Primitive const& primitive) {
  std::size_t bytes = 0;
  cudaError_t status = primitive(nullptr, bytes);
  if (status == cudaSuccess) {
    if (bytes > scratch_.size()) reserved_ = 0;  // should there be no memory, scratch is empty
    scratch_.reserve(bytes > 0 ? bytes : 1);
    status = primitive(scratch_.data(), bytes);
  }
  if (status != cudaSuccess)
    throw error(error_code::device, std::string("a CUB primitive failed: ") + cudaGetErrorString(status));
}

void cuda_bulk::reserve(std::size_t n) {
  if (n <= reserved_) return;
  n = std::max(n, reserved_ + reserved_ / 4);  // as a buffer does, so that it is rarely asked again
  std::size_t most = 1;
  auto const need = [&](cudaError_t status, std::size_t bytes) {
    if (status != cudaSuccess)
      throw error(error_code::device,
                  std::string("a CUB primitive does not say what it needs: ") + cudaGetErrorString(status));
    most = std::max(most, bytes);
  };
  // What a primitive takes grows with the number of values, and of bits.
  std::uint64_t* const none = nullptr;
  std::size_t bytes = 0;
  cub::DoubleBuffer<std::uint64_t> both(none, none);
  need(cub::DeviceRadixSort::SortKeys(nullptr, bytes, both, n, 0, 64, space_.stream()), bytes);
  need(cub::DeviceSelect::Unique(nullptr, bytes, none, none, none, n, space_.stream()), bytes);
  std::uint32_t const* const narrow = nullptr;
  auto const widened = thrust::make_transform_iterator(narrow, widen{});
  need(cub::DeviceScan::InclusiveSum(nullptr, bytes, widened, none, n, space_.stream()), bytes);
  double* const real = nullptr;
  need(cub::DeviceReduce::Sum(nullptr, bytes, none, none, n, space_.stream()), bytes);
  need(cub::DeviceReduce::Sum(nullptr, bytes, real, real, n, space_.stream()), bytes);
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

std::size_t cuda_bulk::unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n) {
  call([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, in, out, result_.data(), n, space_.stream());
  });
  return read(space_, result_.data());
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
