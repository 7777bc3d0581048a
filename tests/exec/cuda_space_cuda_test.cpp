// SPDX-License-Identifier: Apache-2.0
// A CUDA space preserves the caller's current device and pending errors of the caller. Tiles work in blocks of any
// shape.
#include "../../exec/cuda_space.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/bulk.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using exec::cuda_space;

struct fill_with_index {
  std::uint64_t* words;
  WYRM_HD void operator()(std::size_t i) const { words[i] = i; }
};
struct fill_by_tile {
  std::uint64_t* words;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    if (t.rank() == 0) words[i] = i;
  }
};

/// Simulates that device 7 is current, and records the calls that set a device, without setting one.
class fake_current_device {
 public:
  fake_current_device() : get_(exec::detail::cuda_device::get), set_(exec::detail::cuda_device::set) {
    now = 7;
    calls.clear();
    exec::detail::cuda_device::get = [] { return now; };
    exec::detail::cuda_device::set = [](int device) {
      calls.push_back(device);
      now = device;
    };
  }
  ~fake_current_device() {
    exec::detail::cuda_device::get = get_;
    exec::detail::cuda_device::set = set_;
  }
  static inline int now = 7;
  static inline std::vector<int> calls;

 private:
  int (*get_)();
  void (*set_)(int);
};

class cuda_space_test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_space::device_count() == 0) GTEST_SKIP() << "there is no CUDA device";
  }
};

// All operations of a space, with names; each checks its own result.
std::vector<std::pair<std::string, std::function<void()>>> operations(cuda_space const& space,
                                                                      exec::buffer<std::uint64_t, cuda_space>& words,
                                                                      exec::cuda_bulk& bulk) {
  static std::vector<std::uint64_t> host(1000, 5);
  static cudaEvent_t const event = [] {
    cudaEvent_t made = nullptr;
    EXPECT_EQ(cudaEventCreate(&made), cudaSuccess);
    return made;
  }();
  std::uint64_t* const p = words.data();
  return {
      {"allocate", [=] { space.deallocate(space.allocate(100), 100); }},
      {"allocate_staging", [=] { space.deallocate_staging(space.allocate_staging(100)); }},
      {"copy_in", [=] { space.copy_in(p, host.data(), 8000); }},
      {"copy_out", [=] { space.copy_out(host.data(), p, 8000); }},
      {"copy", [=] { space.copy(p + 1000, p, 8000); }},
      {"fill", [=] { space.fill(p, 1, 8000); }},
      {"run", [=] { exec::for_each(space, 1000, fill_with_index{p}); }},
      {"run_tiles", [=] { exec::for_each_tile<32>(space, 1000, fill_by_tile{p}); }},
      {"run_blocks", [=] { exec::for_each_block(space, 1000, fill_by_tile{p}); }},
      {"synchronize", [=] { space.synchronize(); }},
      {"wait_for", [=] { space.wait_for(event); }},
      {"reserve",
       [=] {
         exec::reservation<cuda_space> pool(space, 1);
         pool.commit(1);
       }},
      {"reserve managed memory",
       [=] {
         exec::reservation<cuda_space> pool(space, 1, exec::memory_kind::managed);
         pool.commit(1);
         pool.prefetch(0, 1, exec::memory_location::host);
         pool.advise(0, 1, exec::memory_advice::read_mostly);
       }},
      {"reserve host memory",
       [=] {
         exec::reservation<cuda_space> pool(space, 1, exec::memory_kind::host);
         pool.commit(1);
       }},
      {"allocate managed memory",
       [=] { space.deallocate(space.allocate(100, exec::memory_kind::managed), 100, exec::memory_kind::managed); }},
      {"allocate host memory",
       [=] { space.deallocate(space.allocate(100, exec::memory_kind::host), 100, exec::memory_kind::host); }},
      {"memory_limit", [=] { EXPECT_GT(space.memory_limit(exec::memory_kind::managed), 0u); }},
      {"memory_total", [=] { EXPECT_GT(space.memory_total(), 0u); }},
      {"upload",
       [=] {
         exec::cuda_upload upload(space);
         upload.start();
         upload.enqueue(p, host.data(), 80);
       }},
      {"stopwatch",
       [=] {
         exec::cuda_stopwatch watch(space);
         watch.start();
         EXPECT_GE(watch.stop(), 0.0);
       }},
      {"sort",
       [=, &bulk] {
         std::vector<std::uint64_t> const values{3, 1, 2};
         space.copy_in(p, values.data(), 24);
         EXPECT_EQ(exec::copy_out(space, bulk.sort(p, p + 3, 3, 8), 3), (std::vector<std::uint64_t>{1, 2, 3}));
       }},
      {"unique",
       [=, &bulk] {
         std::vector<std::uint64_t> const values{1, 1, 2};
         space.copy_in(p, values.data(), 24);
         EXPECT_EQ(bulk.unique(p, p + 3, 3), 2u);
       }},
      {"inclusive_sum",
       [=, &bulk] {
         std::vector<std::uint32_t> const values{1, 2};
         space.copy_in(p + 10, values.data(), 8);
         bulk.inclusive_sum(reinterpret_cast<std::uint32_t const*>(p + 10), p, 2);
         EXPECT_EQ(exec::copy_out(space, p, 3), (std::vector<std::uint64_t>{0, 1, 3}));
       }},
      {"sum",
       [=, &bulk] {
         std::vector<std::uint64_t> const values{4, 5};
         space.copy_in(p, values.data(), 16);
         EXPECT_EQ(bulk.sum(p, 2), 9u);
       }},
  };
}

TEST_F(cuda_space_test, every_call_uses_its_device_and_restores_that_of_the_caller) {
  cuda_space const space(0);
  exec::buffer<std::uint64_t, cuda_space> words(space, 2000);
  exec::cuda_bulk bulk(space);
  for (auto const& [name, run] : operations(space, words, bulk)) {
    run();  // allocates what is allocated only once
    fake_current_device const fake;
    run();
    std::vector<int> const& calls = fake_current_device::calls;
    EXPECT_GE(calls.size(), 2u) << name;
    for (std::size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i], i % 2 == 0 ? 0 : 7) << name << ", call " << i;
    EXPECT_EQ(fake_current_device::now, 7) << name;
  }
  fake_current_device const fake;
  {
    cuda_space::guard const current(space);
    for (auto const& [name, run] : operations(space, words, bulk)) run();
  }
  EXPECT_EQ(fake_current_device::calls, (std::vector<int>{0, 7})) << "inner guards have nothing to do";
}

TEST_F(cuda_space_test, a_pending_error_of_the_caller_is_preserved) {
  cuda_space const space(0);
  exec::buffer<std::uint64_t, cuda_space> words(space, 2000);
  exec::cuda_bulk bulk(space);
  for (auto const& [name, run] : operations(space, words, bulk)) {
    ASSERT_EQ(cudaMemcpy(nullptr, nullptr, 8, static_cast<cudaMemcpyKind>(77)), cudaErrorInvalidMemcpyDirection);
    EXPECT_NO_THROW(run()) << name;
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidMemcpyDirection) << name;
  }
}

TEST_F(cuda_space_test, a_failed_call_throws) {
  cuda_space const space(0);
  cudaStream_t gone = nullptr;
  exec::buffer<std::uint64_t, cuda_space> words(space, 100);
  ASSERT_EQ(cudaStreamCreate(&gone), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(gone, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  cuda_space const capturing(0, gone);
  EXPECT_THROW(capturing.synchronize(), error);  // not permitted while a stream is captured
  cudaGraph_t graph = nullptr;
  (void)cudaStreamEndCapture(gone, &graph);
  (void)cudaGetLastError();
  cudaStreamDestroy(gone);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(cuda_space_test, streams_and_events_are_released_when_a_constructor_throws) {
  cuda_space const space(0);
  int const before = exec::detail::live_handles();
  for (std::uint64_t served = 0; served < 2; ++served) {
    exec::injected_failure const failure(served);
    EXPECT_THROW(exec::cuda_upload{space}, error) << served;
    EXPECT_EQ(exec::detail::live_handles(), before) << served;
    exec::injected_failure const again(served);
    EXPECT_THROW(exec::cuda_stopwatch{space}, error) << served;
    EXPECT_EQ(exec::detail::live_handles(), before) << served;
  }
  { exec::cuda_upload const upload(space); }
  { exec::cuda_stopwatch const watch(space); }
  EXPECT_EQ(exec::detail::live_handles(), before);
}

struct lane_report {
  std::uint32_t rank;
  std::uint32_t ballot;  // of the lanes of even rank
  std::uint32_t first;   // the value of lane 0
  std::uint32_t thread;  // in the block, in the order of warps
  std::uint64_t number;
};

template <unsigned W>
__global__ void report_lanes(lane_report* reports) {
  exec::warp_tile<W> const t;
  unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned const block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  reports[block * blockDim.x * blockDim.y * blockDim.z + thread] = {t.rank(), t.ballot(t.rank() % 2 == 0),
                                                                    t.shfl(thread, 0), thread, exec::thread_number(t)};
}

template <unsigned W>
void expect_lanes(cuda_space const& space, dim3 grid, dim3 block) {
  unsigned const threads = block.x * block.y * block.z;
  unsigned const blocks = grid.x * grid.y * grid.z;
  exec::buffer<lane_report, cuda_space> reports(space, std::size_t{blocks} * threads);
  report_lanes<W><<<grid, block, 0, space.stream()>>>(reports.data());
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  std::set<std::uint64_t> numbers;
  std::uint32_t const even = 0x55555555u & (0xffffffffu >> (32 - W));
  for (lane_report const& r : exec::copy_out(space, reports.data(), reports.size())) {
    ASSERT_EQ(r.rank, r.thread % W) << block.x << " x " << block.y << " x " << block.z << ", thread " << r.thread;
    ASSERT_EQ(r.ballot, even);
    ASSERT_EQ(r.first, r.thread / W * W);
    numbers.insert(r.number);
  }
  EXPECT_EQ(numbers.size(), std::size_t{blocks} * threads) << "thread numbers repeat";
}

TEST_F(cuda_space_test, tiles_in_blocks_of_any_shape) {
  cuda_space const space(0);
  for (dim3 const block : {dim3(64), dim3(8, 8), dim3(4, 4, 4), dim3(2, 32), dim3(1, 1, 64), dim3(16, 3, 2)})
    for (dim3 const grid : {dim3(3), dim3(2, 3), dim3(1, 2, 2)}) {
      expect_lanes<32>(space, grid, block);
      expect_lanes<8>(space, grid, block);
      expect_lanes<1>(space, grid, block);
    }
}

}  // namespace
}  // namespace wyrm::tests
