// SPDX-License-Identifier: Apache-2.0
// The hash join and the group-by on threads of the host and on warps of fibers.
#include "relational_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, relational_case, relational_allocators<exec::host_space>, by_name);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, relational_case, relational_allocators<simt_space>, by_name);
#endif

}  // namespace wyrm::tests
