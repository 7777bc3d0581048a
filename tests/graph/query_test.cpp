// SPDX-License-Identifier: Apache-2.0
// Queries on the CPU, on simulated warps (simt_space), and on any_graph.
#include "../support/simt_space.hpp"
#include "any_query_suite.hpp"
#include "query_suite.hpp"
#include "sample_suite.hpp"

namespace wyrm::tests {

// Always on host threads: there is no any_graph on simulated warps.
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, any_query_test, testing::Types<exec::host_space>);
#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, query_test, testing::Types<exec::host_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, sample_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, query_test, testing::Types<simt_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, sample_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
