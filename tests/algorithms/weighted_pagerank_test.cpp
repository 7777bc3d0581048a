// SPDX-License-Identifier: Apache-2.0
// PageRank by the values of graphs on the CPU, and with tiles of fibers.
#include "weighted_pagerank_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, weighted_pagerank_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, weighted_pagerank_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
