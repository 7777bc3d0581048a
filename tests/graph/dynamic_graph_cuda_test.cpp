// SPDX-License-Identifier: Apache-2.0
// dynamic_graph on a GPU.
#include "../../alloc/registry.hpp"
#include "../../exec/cuda_space.hpp"
#include "graph_suite.hpp"
#include "limits_suite.hpp"

namespace wyrm::tests {

using graphs_on_cuda =
    testing::Types<graph_case<exec::cuda_space, alloc::ouroboros_s_p>, graph_case<exec::cuda_space, alloc::bump>,
                   graph_case<exec::cuda_space, alloc::system_malloc>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, dynamic_graph_test, graphs_on_cuda);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, graph_limits, graphs_on_cuda);

}  // namespace wyrm::tests
