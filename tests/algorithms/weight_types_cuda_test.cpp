// SPDX-License-Identifier: Apache-2.0
// Weights of all types on a GPU.
#include "../../exec/cuda_space.hpp"
#include "weight_types_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, weight_types_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
