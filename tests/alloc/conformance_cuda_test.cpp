// SPDX-License-Identifier: Apache-2.0
// Every allocator on a GPU.
#include "conformance.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

// CUDA's heap of device malloc has one size for the life of the process.
[[maybe_unused]] ::testing::Environment* const environment =
    ::testing::AddGlobalTestEnvironment(new largest_pools_first<exec::cuda_space>);

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, conformance, all_allocators<exec::cuda_space>, by_name);

}  // namespace wyrm::tests
