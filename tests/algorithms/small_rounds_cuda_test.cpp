// SPDX-License-Identifier: Apache-2.0
// Rounds of a team on a GPU.
#include "../../exec/cuda_space.hpp"
#include "small_rounds_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, small_rounds_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
