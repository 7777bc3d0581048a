// SPDX-License-Identifier: Apache-2.0
// Maintained distances on a GPU.
#include "../../exec/cuda_space.hpp"
#include "maintained_distances_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, maintained_distances_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
