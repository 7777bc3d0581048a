// SPDX-License-Identifier: Apache-2.0
// The allocators as a library, on threads of the host and on lanes that are fibers.
#include "library_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, library, ::testing::Types<exec::host_space>, by_name);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, library, ::testing::Types<simt_space>, by_name);
#endif

}  // namespace wyrm::tests
