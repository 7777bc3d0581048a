// SPDX-License-Identifier: Apache-2.0
// Queries on a GPU, also on any_graph.
#include "../../exec/cuda_space.hpp"
#include "any_query_suite.hpp"
#include "query_suite.hpp"
#include "sample_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, any_query_test, testing::Types<exec::cuda_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, query_test, testing::Types<exec::cuda_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, sample_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
