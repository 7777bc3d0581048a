// SPDX-License-Identifier: Apache-2.0
// Trussness on a GPU.
#include "../../exec/cuda_space.hpp"
#include "truss_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, truss_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
