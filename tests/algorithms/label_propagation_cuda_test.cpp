// SPDX-License-Identifier: Apache-2.0
// Label propagation on a GPU.
#include "../../exec/cuda_space.hpp"
#include "label_propagation_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, label_propagation_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
