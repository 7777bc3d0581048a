// SPDX-License-Identifier: Apache-2.0
// Betweenness on a GPU.
#include "../../exec/cuda_space.hpp"
#include "betweenness_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, betweenness_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
