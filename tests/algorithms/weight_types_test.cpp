// SPDX-License-Identifier: Apache-2.0
// Weights of all types on the CPU, and with tiles of fibers.
#include "weight_types_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, weight_types_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, weight_types_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
