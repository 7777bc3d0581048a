// SPDX-License-Identifier: Apache-2.0
// Minimum spanning forests on a GPU.
#include "../../exec/cuda_space.hpp"
#include "spanning_forest_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, spanning_forest_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
