// SPDX-License-Identifier: Apache-2.0
// Generators on a GPU.
#include "../../exec/cuda_space.hpp"
#include "families_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(on, generators_on_space, testing::Types<exec::cuda_space>, by_name);

}  // namespace wyrm::tests
