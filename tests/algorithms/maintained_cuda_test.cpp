// SPDX-License-Identifier: Apache-2.0
// Maintained results on a GPU.
#include "../../exec/cuda_space.hpp"
#include "maintained_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, maintained_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
