// SPDX-License-Identifier: Apache-2.0
// align-malloc+small on a GPU.
#include "align_small_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, align_small_suite, ::testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
