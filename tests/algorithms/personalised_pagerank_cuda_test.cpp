// SPDX-License-Identifier: Apache-2.0
// Personalised PageRank on a GPU.
#include "../../exec/cuda_space.hpp"
#include "personalised_pagerank_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, personalised_pagerank_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
