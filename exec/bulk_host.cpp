// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include "bulk.hpp"
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
}  // namespace

std::uint64_t* host_bulk::sort(std::uint64_t* keys, std::uint64_t*, std::size_t n, unsigned) {
  thrust::sort(policy, keys, keys + n);
  return keys;
}

std::size_t host_bulk::unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n) {
  return static_cast<std::size_t>(thrust::unique_copy(policy, in, in + n, out) - out);
}

void host_bulk::inclusive_sum(std::uint32_t const* in, std::uint64_t* out, std::size_t n) {
  out[0] = 0;
  auto const first = thrust::make_transform_iterator(in, widen{});
  thrust::inclusive_scan(policy, first, first + static_cast<std::ptrdiff_t>(n), out + 1);
}

}  // namespace wyrm::exec
