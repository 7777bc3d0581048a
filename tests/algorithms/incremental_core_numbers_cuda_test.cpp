// SPDX-License-Identifier: Apache-2.0
// Maintained core numbers on a GPU.
#include "../../exec/cuda_space.hpp"
#include "incremental_core_numbers_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, incremental_core_numbers_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
