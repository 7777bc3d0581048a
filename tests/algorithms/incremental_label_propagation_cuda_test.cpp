// SPDX-License-Identifier: Apache-2.0
// Communities that are maintained by label propagation on a GPU.
#include "../../exec/cuda_space.hpp"
#include "incremental_label_propagation_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, incremental_labels_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
