// SPDX-License-Identifier: Apache-2.0
// PageRank, triangles and related algorithms on a GPU.
#include "../../exec/cuda_space.hpp"
#include "algorithms_suite.hpp"
#include "boundaries_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, algorithms_test, testing::Types<exec::cuda_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, boundaries_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
