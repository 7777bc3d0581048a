// SPDX-License-Identifier: Apache-2.0
// Layouts of dynamic_graph on a GPU.
#include "../../alloc/registry.hpp"
#include "../../exec/cuda_space.hpp"
#include "layout_suite.hpp"

namespace wyrm::tests {

using layouts_on_cuda =
    testing::Types<graph_case<exec::cuda_space, alloc::ouroboros_s_p>, graph_case<exec::cuda_space, alloc::bump>,
                   graph_case<exec::cuda_space, alloc::system_malloc>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, layout_test, layouts_on_cuda);

}  // namespace wyrm::tests
