// SPDX-License-Identifier: Apache-2.0
// dynamic_graph on the CPU, and on simulated warps (simt_space).
#include "../../alloc/registry.hpp"
#include "../support/simt_space.hpp"
#include "graph_suite.hpp"
#include "limits_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
using graphs_on_host =
    testing::Types<graph_case<exec::host_space, alloc::ouroboros_s_p>, graph_case<exec::host_space, alloc::bump>,
                   graph_case<exec::host_space, alloc::system_malloc>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, dynamic_graph_test, graphs_on_host);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, graph_limits, graphs_on_host);
#endif
#if WYRM_TEST_SIMT
using graphs_on_simt = testing::Types<graph_case<simt_space, alloc::ouroboros_s_p>>;
INSTANTIATE_TYPED_TEST_SUITE_P(simt, dynamic_graph_test, graphs_on_simt);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, graph_limits, graphs_on_simt);
#endif

}  // namespace wyrm::tests
