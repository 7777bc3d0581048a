// SPDX-License-Identifier: Apache-2.0
// The residency manager, on a GPU.
#include "manager_suite.hpp"

#include "../../../exec/cuda_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::cuda_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, residency_manager, spaces, by_name);

}  // namespace wyrm::tests
