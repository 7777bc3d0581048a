// SPDX-License-Identifier: Apache-2.0
// Algorithms out of core on a GPU.
#include "../../exec/cuda_space.hpp"
#include "out_of_core_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, out_of_core, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
