// SPDX-License-Identifier: Apache-2.0
#include "../../exec/cuda_space.hpp"
#include "random_walk_allocators.hpp"
#include "random_walk_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, random_walk, random_walk_pools<exec::cuda_space>, random_walk_names);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, random_walk_allocator, random_walk_allocators<exec::cuda_space>, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, rw_malloc_suite, ::testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
