// SPDX-License-Identifier: Apache-2.0
// PageRank, triangles and related algorithms on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "algorithms_suite.hpp"
#include "boundaries_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, algorithms_test, testing::Types<exec::host_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, boundaries_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, algorithms_test, testing::Types<simt_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, boundaries_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
