// SPDX-License-Identifier: Apache-2.0
// Queries of values, samples by weight and erasures by a predicate on a GPU; queries of any_graph.
#include "../../exec/cuda_space.hpp"
#include "any_value_query_suite.hpp"
#include "edge_query_suite.hpp"
#include "weighted_sample_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, any_value_query_test, testing::Types<exec::cuda_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, edge_query_test, testing::Types<exec::cuda_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, weighted_sample_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
