// SPDX-License-Identifier: Apache-2.0
// The baseline allocators on a GPU.
#include "blocks_suite.hpp"
#include "conformance.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

using on_cuda = types_of<alloc::baseline_family<exec::cuda_space>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, conformance, on_cuda, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, blocks_suite, on_cuda, by_name);

// The first pool of CUDA's device malloc fixes the size of the heap until the process ends: so the largest comes first.
class largest_pool_first : public ::testing::Environment {
 public:
  void SetUp() override {
    if (!available<exec::cuda_space>()) return;
    alloc::system_malloc<exec::cuda_space> const first(
        make_space<exec::cuda_space>(),
        alloc::options{.pool_bytes = largest_pool(), .reserve_bytes = 2 * largest_pool()});
  }
};
[[maybe_unused]] ::testing::Environment* const environment =
    ::testing::AddGlobalTestEnvironment(new largest_pool_first);

}  // namespace wyrm::tests
