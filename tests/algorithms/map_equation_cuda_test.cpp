// SPDX-License-Identifier: Apache-2.0
// Clustering of directed graphs under the map equation on a GPU.
#include "../../exec/cuda_space.hpp"
#include "map_equation_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, map_equation_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
