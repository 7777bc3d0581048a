// SPDX-License-Identifier: Apache-2.0
// Managed and pinned memory of a CUDA space: the host accesses them directly, requests for more than there is are
// refused before anything is allocated, and nothing leaks.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "../../exec/cuda_space.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/memory_limit.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using exec::cuda_space;
using exec::memory_kind;
using exec::memory_location;
using reservation = exec::reservation<cuda_space>;
using words = exec::buffer<std::uint64_t, cuda_space>;
constexpr std::size_t mib = std::size_t{1} << 20;

struct add_number {
  std::uint64_t* words;
  std::uint64_t number;
  WYRM_HD void operator()(std::size_t i) const { words[i] += number + i; }
};

class memory_kind_cuda : public space_fixture<cuda_space> {
 protected:
  void SetUp() override {
    space_fixture<cuda_space>::SetUp();
    if (!IsSkipped()) (void)words(space(), 1);  // what a first allocation takes is taken
  }
  static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
  }
  /// Whether managed memory moves on demand; without that all of it is allocated on the device at once.
  [[nodiscard]] bool moves_managed() const {
    int moves = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&moves, cudaDevAttrConcurrentManagedAccess, space().device()), cudaSuccess);
    return moves != 0;
  }
  template <class F>
  static std::string refusal(F const& f) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown";
      return "";
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
      return e.what();
    }
  }
};

// Host and kernels take turns, without copies.
TEST_F(memory_kind_cuda, the_host_accesses_the_same_addresses) {
  std::size_t const n = 2 * space().granularity() / sizeof(std::uint64_t);
  for (memory_kind const kind : {memory_kind::managed, memory_kind::host}) {
    SCOPED_TRACE(exec::to_string(kind));
    reservation pool(space(), 8 * space().granularity(), kind);
    words array(space(), n, kind);
    pool.commit(space().granularity());
    pool.commit(2 * space().granularity());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.data()) % 4096, 0u);
    for (std::uint64_t* const p : {reinterpret_cast<std::uint64_t*>(pool.data()), array.data()}) {
      for (std::size_t i = 0; i < n; ++i) p[i] = 7 * i;
      exec::for_each(space(), n, add_number{p, 5});
      space().synchronize();
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(p[i], 8 * i + 5) << i;
      p[1] = 100;
      exec::for_each(space(), n, add_number{p, 1});
      EXPECT_EQ(exec::read(space(), p + 1), 102u);
      EXPECT_EQ(exec::read(space(), p + n - 1), 9 * (n - 1) + 6);
    }
  }
}

TEST_F(memory_kind_cuda, prefetch_moves_pages) {
  if (!moves_managed()) GTEST_SKIP() << "managed memory of this device does not move";
  std::size_t const bytes = 64 * mib;
  reservation pool(space(), bytes, memory_kind::managed);
  pool.commit(bytes);
  exec::for_each(space(), bytes / 8, add_number{reinterpret_cast<std::uint64_t*>(pool.data()), 1});
  auto const last_prefetch = [&](std::size_t offset) {
    int location = -100;
    EXPECT_EQ(cudaMemRangeGetAttribute(&location, sizeof(location), cudaMemRangeAttributeLastPrefetchLocation,
                                       pool.data() + offset, 2 * mib),
              cudaSuccess);
    return location;
  };
  EXPECT_EQ(last_prefetch(0), space().device());
  pool.prefetch(0, 32 * mib, memory_location::host);
  space().synchronize();
  EXPECT_EQ(last_prefetch(0), cudaCpuDeviceId);
  EXPECT_EQ(last_prefetch(32 * mib), space().device());
  pool.prefetch(0, 2 * mib, memory_location::device);
  space().synchronize();
  EXPECT_EQ(last_prefetch(0), space().device());
  EXPECT_EQ(last_prefetch(2 * mib), cudaCpuDeviceId);
}

TEST_F(memory_kind_cuda, managed_memory_beyond_what_is_free_is_refused) {
  std::size_t const before = free_bytes();
  std::size_t const more = (before / (2 * mib) + 50) * 2 * mib;
  for (auto const& message : {refusal([&] { reservation(space(), more, memory_kind::managed); }),
                              refusal([&] { words(space(), more / 8, memory_kind::managed); })}) {
    EXPECT_NE(message.find(std::to_string(more / mib) + " MiB of managed memory"), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string((before + mib - 1) / mib) + " MiB are free"), std::string::npos) << message;
  }
  EXPECT_EQ(free_bytes(), before);
  EXPECT_LE(space().memory_limit(memory_kind::managed), before);
  EXPECT_GT(space().memory_limit(memory_kind::managed), before / 8);
}

// What a reservation was given is not given to others.
TEST_F(memory_kind_cuda, managed_reservations_share_the_device) {
  if (!moves_managed()) GTEST_SKIP() << "managed memory of this device does not move";
  std::size_t const half = free_bytes() / 2 / (2 * mib) * 2 * mib;
  {
    reservation first(space(), half + 64 * mib, memory_kind::managed);
    auto const message = refusal([&] { reservation(space(), half, memory_kind::managed); });
    EXPECT_NE(message.find("managed memory needs " + std::to_string(half / mib + 64) + " MiB"), std::string::npos)
        << message;
    reservation const fits(space(), half - 256 * mib, memory_kind::managed);
    first.commit(32 * mib);
    (void)refusal([&] { reservation(space(), 256 * mib, memory_kind::managed); });
    reservation const moved(std::move(first));
  }
  reservation const again(space(), half + 64 * mib, memory_kind::managed);
  for (std::size_t served = 0; served < 2; ++served) {  // failed requests promise nothing
    exec::injected_failure const failure(served);
    (void)refusal([&] {
      reservation pool(space(), half - 256 * mib, memory_kind::managed);
      pool.commit(1);
    });
  }
  reservation const rest(space(), half - 256 * mib, memory_kind::managed);
}

// Other memory takes what a reservation was promised.
TEST_F(memory_kind_cuda, commit_is_refused_when_the_device_is_full) {
  if (!moves_managed()) GTEST_SKIP() << "managed memory of this device does not move";
  std::size_t const bytes = 512 * mib;
  reservation pool(space(), bytes, memory_kind::managed);
  pool.commit(2 * mib);
  {
    std::size_t const left = 256 * mib;
    words const others(space(), (free_bytes() - left) / 8);
    auto const message = refusal([&] { pool.commit(bytes); });
    EXPECT_NE(message.find("cannot commit 510 MiB of managed memory"), std::string::npos) << message;
    EXPECT_EQ(pool.committed(), 2 * mib);
    exec::for_each(space(), 2 * mib / 8, add_number{reinterpret_cast<std::uint64_t*>(pool.data()), 1});
    space().synchronize();
  }
  pool.commit(bytes / 2);
  {
    words const others(space(), (free_bytes() - bytes * 3 / 4) / 8);  // room for the rest, if that were all
    (void)refusal([&] { pool.commit(bytes); });
    EXPECT_EQ(pool.committed(), bytes / 2);
  }
  pool.commit(bytes);
  EXPECT_EQ(pool.committed(), bytes);
}

TEST_F(memory_kind_cuda, pinned_memory_beyond_that_of_the_host_is_refused) {
  std::size_t const limit = space().memory_limit(memory_kind::host);
  std::size_t const step = space().granularity();
  reservation pool(space(), limit + 2 * step, memory_kind::host);
  pool.commit(step);
  auto const message = refusal([&] { pool.commit(limit + step); });
  EXPECT_NE(message.find("permits " + std::to_string((limit + mib - 1) / mib) + " MiB"), std::string::npos) << message;
  EXPECT_EQ(pool.committed(), step);
  (void)refusal([&] { words(space(), (limit + step) / 8, memory_kind::host); });
}

TEST_F(memory_kind_cuda, nothing_leaks) {
  auto const use = [&](memory_kind kind) {
    reservation pool(space(), 64 * mib, kind);
    pool.commit(16 * mib);
    pool.commit(48 * mib);
    words const array(space(), 4 * mib, kind);
    exec::for_each(space(), array.size(), add_number{array.data(), 1});
  };
  for (memory_kind const kind : exec::memory_kinds) use(kind);
  std::size_t const device_before = free_bytes();
  std::size_t const host_before = exec::memory_available();
  std::size_t const limit_before = space().memory_limit(memory_kind::managed);
  for (int round = 0; round < 64; ++round)
    for (memory_kind const kind : exec::memory_kinds) use(kind);
  EXPECT_GE(free_bytes() + 64 * mib, device_before);
  EXPECT_GE(exec::memory_available() + std::size_t{2048} * mib, host_before);  // other processes take memory, too
  EXPECT_GE(space().memory_limit(memory_kind::managed) + 64 * mib, limit_before);
}

}  // namespace
}  // namespace wyrm::tests
