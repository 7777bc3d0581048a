// SPDX-License-Identifier: Apache-2.0
// The patterns of access on a GPU.
#include "../../exec/cuda_space.hpp"
#include "patterns_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, patterns_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
