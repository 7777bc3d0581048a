// SPDX-License-Identifier: Apache-2.0
// Strong components on a GPU.
#include "../../exec/cuda_space.hpp"
#include "strong_components_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, strong_components_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
