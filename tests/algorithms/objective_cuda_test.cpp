// SPDX-License-Identifier: Apache-2.0
// Objectives of clustering on a GPU.
#include "../../exec/cuda_space.hpp"
#include "objective_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, objective_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
