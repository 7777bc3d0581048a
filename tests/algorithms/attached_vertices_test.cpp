// SPDX-License-Identifier: Apache-2.0
// Results that follow added and removed vertices, on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "attached_vertices_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, attached_vertices, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, attached_vertices, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
