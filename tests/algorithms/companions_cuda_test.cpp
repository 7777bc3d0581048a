// SPDX-License-Identifier: Apache-2.0
// Components, levels and core numbers on a GPU.
#include "../../exec/cuda_space.hpp"
#include "companions_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, companions_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
