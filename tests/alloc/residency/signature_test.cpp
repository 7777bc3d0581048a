// SPDX-License-Identifier: Apache-2.0
// Signatures on the CPU and on simulated warps (simt_space).
#include "signature_suite.hpp"

#include "../../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, signature_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, signature_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
