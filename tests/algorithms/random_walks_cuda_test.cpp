// SPDX-License-Identifier: Apache-2.0
// Random walks on a GPU.
#include "../../exec/cuda_space.hpp"
#include "random_walks_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, random_walks_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
