// SPDX-License-Identifier: Apache-2.0
// Rounds of a team on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "small_rounds_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, small_rounds_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, small_rounds_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
