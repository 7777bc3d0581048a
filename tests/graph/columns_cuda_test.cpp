// SPDX-License-Identifier: Apache-2.0
// Columns of ids and arrays of edges with values on a GPU.
#include "../../alloc/registry.hpp"
#include "../../exec/cuda_space.hpp"
#include "columns_suite.hpp"

namespace wyrm::tests {

using batches_on_cuda = testing::Types<batch_case<exec::cuda_space, alloc::ouroboros_va_p, graph::no_value>,
                                       batch_case<exec::cuda_space, alloc::ouroboros_va_p, float>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, batches, batches_on_cuda);

}  // namespace wyrm::tests
