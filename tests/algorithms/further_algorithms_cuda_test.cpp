// SPDX-License-Identifier: Apache-2.0
// Components, BFS and core numbers on a GPU.
#include "../../exec/cuda_space.hpp"
#include "further_algorithms_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, further_algorithms_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
