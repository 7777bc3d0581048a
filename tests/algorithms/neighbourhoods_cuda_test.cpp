// SPDX-License-Identifier: Apache-2.0
// Clustering coefficients and similarities on a GPU.
#include "../../exec/cuda_space.hpp"
#include "neighbourhoods_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, neighbourhoods_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
