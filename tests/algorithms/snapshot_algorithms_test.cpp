// SPDX-License-Identifier: Apache-2.0
// Algorithms on snapshots on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "snapshot_algorithms_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, snapshot_algorithms, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, snapshot_algorithms, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
