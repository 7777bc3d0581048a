// SPDX-License-Identifier: Apache-2.0
// align-malloc on a GPU.
#include "align_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, align_suite, exec::cuda_space, by_name);

}  // namespace wyrm::tests
