// SPDX-License-Identifier: Apache-2.0
// align-malloc+small on threads of the host and on warps of fibers.
#include "align_small_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, align_small_suite, ::testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, align_small_suite, ::testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
