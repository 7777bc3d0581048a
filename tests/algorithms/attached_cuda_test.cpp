// SPDX-License-Identifier: Apache-2.0
// Results that are attached to a graph, on a GPU.
#include "../../exec/cuda_space.hpp"
#include "attached_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, attached_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
