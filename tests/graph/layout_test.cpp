// SPDX-License-Identifier: Apache-2.0
// Layouts of dynamic_graph on the CPU, and on simulated warps (simt_space).
#include "../../alloc/registry.hpp"
#include "../support/simt_space.hpp"
#include "layout_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
using layouts_on_host =
    testing::Types<graph_case<exec::host_space, alloc::ouroboros_s_p>, graph_case<exec::host_space, alloc::bump>,
                   graph_case<exec::host_space, alloc::system_malloc>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, layout_test, layouts_on_host);
#endif
#if WYRM_TEST_SIMT
using layouts_on_simt = testing::Types<graph_case<simt_space, alloc::ouroboros_s_p>>;
INSTANTIATE_TYPED_TEST_SUITE_P(simt, layout_test, layouts_on_simt);
#endif

}  // namespace wyrm::tests
