// SPDX-License-Identifier: Apache-2.0
// Graphs with align-malloc+small on a GPU.
#include "hosted_pool_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, hosted_pool, ::testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
