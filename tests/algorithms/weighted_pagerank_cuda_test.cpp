// SPDX-License-Identifier: Apache-2.0
// PageRank by the values of graphs on a GPU.
#include "../../exec/cuda_space.hpp"
#include "weighted_pagerank_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, weighted_pagerank_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
