// SPDX-License-Identifier: Apache-2.0
// Independent sets and colourings on a GPU.
#include "../../exec/cuda_space.hpp"
#include "vertex_sets_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, vertex_sets_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
