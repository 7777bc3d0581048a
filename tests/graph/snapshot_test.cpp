// SPDX-License-Identifier: Apache-2.0
// Snapshots, and vertices that come and go, on the CPU and on simulated warps (simt_space).
#include "../../alloc/registry.hpp"
#include "../support/simt_space.hpp"
#include "snapshot_suite.hpp"
#include "vertices_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
using snapshots_on_host = testing::Types<snapshot_case<exec::host_space, alloc::ouroboros_va_p>,
                                         snapshot_case<exec::host_space, alloc::system_malloc>,
                                         snapshot_case<exec::host_space, alloc::rw_malloc, float>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, snapshots, snapshots_on_host);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, vertices, snapshots_on_host);

TEST(snapshot_readers, read_while_the_graph_changes) {
  read_while_updating<exec::host_space, alloc::ouroboros_va_p<exec::host_space>>(scaled(300, 40));
}
#endif
#if WYRM_TEST_SIMT
using snapshots_on_simt = testing::Types<snapshot_case<simt_space, alloc::ouroboros_va_p>,
                                         snapshot_case<simt_space, alloc::ouroboros_va_p, double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(simt, snapshots, snapshots_on_simt);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, vertices, snapshots_on_simt);
#endif

}  // namespace wyrm::tests
