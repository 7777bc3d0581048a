// SPDX-License-Identifier: Apache-2.0
#include <thrust/copy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#include <algorithm>
#include <numeric>
#include <vector>

#include "bulk.hpp"
#include "launch.hpp"
#if WYRM_HOST_THREADS == 2
#include <thrust/system/tbb/execution_policy.h>
#else
#include <thrust/system/cpp/execution_policy.h>
#endif

namespace wyrm::exec {

namespace {
#if WYRM_HOST_THREADS == 2
constexpr auto& policy = thrust::tbb::par;
#else
constexpr auto& policy = thrust::cpp::par;
#endif

struct widen {
  std::uint64_t operator()(std::uint32_t value) const { return value; }
};
struct begins_run {
  std::uint64_t const* keys;
  bool operator()(std::uint32_t i) const { return i == 0 || keys[i] != keys[i - 1]; }
};
}  // namespace

std::uint64_t* host_bulk::sort(std::uint64_t* keys, std::uint64_t*, std::size_t n, unsigned) {
  host_space::guard const current(space_);
  thrust::sort(policy, keys, keys + n);
  return keys;
}

sorted_pairs host_bulk::sort_pairs(std::uint64_t* keys, std::uint64_t*, std::uint32_t* values, std::uint32_t*,
                                   std::size_t n, unsigned) {
  host_space::guard const current(space_);
  thrust::stable_sort_by_key(policy, keys, keys + n, values);
  return {keys, values};
}

std::size_t host_bulk::unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n) {
  host_space::guard const current(space_);
  return static_cast<std::size_t>(thrust::unique_copy(policy, in, in + n, out) - out);
}

void host_bulk::run_begins(std::uint64_t const* in, std::uint32_t* out, std::size_t n) {
  host_space::guard const current(space_);
  thrust::counting_iterator<std::uint32_t> const first(0);
  thrust::copy_if(policy, first, first + static_cast<std::ptrdiff_t>(n), out, begins_run{in});
}

void host_bulk::inclusive_sum(std::uint32_t const* in, std::uint64_t* out, std::size_t n) {
  host_space::guard const current(space_);
  out[0] = 0;
  auto const first = thrust::make_transform_iterator(in, widen{});
  thrust::inclusive_scan(policy, first, first + static_cast<std::ptrdiff_t>(n), out + 1);
}

namespace {
// Sums of blocks of a fixed size are added in order, so rounding does not depend on the number of threads.
constexpr std::size_t block = 4096;

template <class T>
struct sum_blocks {
  T const* values;
  std::size_t n;
  T* sums;
  void operator()(scalar_tile, std::size_t b) const {
    std::size_t const end = std::min(n, (b + 1) * block);
    sums[b] = std::accumulate(values + b * block, values + end, T{0});
  }
};

template <class T>
T sum_in_order(host_space const& space, T const* values, std::size_t n) {
  std::vector<T> sums((n + block - 1) / block);
  for_each_tile<1>(space, sums.size(), sum_blocks<T>{values, n, sums.data()});
  return std::accumulate(sums.begin(), sums.end(), T{0});
}
}  // namespace

double host_bulk::sum(double const* values, std::size_t n) { return sum_in_order(space_, values, n); }
std::uint64_t host_bulk::sum(std::uint64_t const* values, std::size_t n) { return sum_in_order(space_, values, n); }

}  // namespace wyrm::exec
