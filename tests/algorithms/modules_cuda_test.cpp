// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden on a GPU.
#include "../../exec/cuda_space.hpp"
#include "modules_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, modules_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
