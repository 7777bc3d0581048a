// SPDX-License-Identifier: Apache-2.0
// align-malloc on a GPU.
#include "align_suite.hpp"

#include <cstdlib>

#include "../../exec/cuda_space.hpp"
#include "../../exec/error.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, align_suite, exec::cuda_space, by_name);

namespace {

/// Posts requests, one of whose threads then writes to an address without memory.
struct post_and_fault {
  alloc::mailbox_ref host;
  WYRM_HD void operator()(std::size_t i) const {
    (void)host.post(alloc::mail::kind::allocate, 1);
    if (i == 7) *reinterpret_cast<int volatile*>(std::uintptr_t{64}) = 1;
  }
};

/// Exits with 0 if the fault is reported, and the pool can be destroyed after it.
[[noreturn]] void fault() {
  bool is_reported = false;
  {
    exec::cuda_space const space = make_space<exec::cuda_space>();
    alloc::options o;
    o.pool_bytes = o.reserve_bytes = std::size_t{4} << 20;
    watched_pool<exec::cuda_space> pool(space, o);
    try {
      exec::for_each(space, 20, post_and_fault{pool.mailbox()});
      space.synchronize();
    } catch (error const&) {
      is_reported = true;
    }
  }
  std::_Exit(is_reported ? 0 : 1);
}

using align_cuda = space_test<exec::cuda_space>;

}  // namespace

// In a process of its own, as CUDA cannot be used after a fault. Neither the host thread nor the process hangs.
TEST_F(align_cuda, a_kernel_that_faults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0), "");
}

}  // namespace wyrm::tests
