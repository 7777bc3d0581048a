// SPDX-License-Identifier: Apache-2.0
// Graphs with pages of each kind of memory on a GPU.
#include "pool_memory_suite.hpp"

#include "../../alloc/registry.hpp"
#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

using pools_on_cuda =
    testing::Types<graph_case<exec::cuda_space, alloc::ouroboros_va_p>, graph_case<exec::cuda_space, alloc::corw>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, pool_memory, pools_on_cuda);

}  // namespace wyrm::tests
