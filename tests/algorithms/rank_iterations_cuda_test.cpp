// SPDX-License-Identifier: Apache-2.0
// PageRank by other iterations than the power method on a GPU.
#include "../../exec/cuda_space.hpp"
#include "rank_iterations_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, rank_iterations_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
