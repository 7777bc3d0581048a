// SPDX-License-Identifier: Apache-2.0
// Values of edges and batches of several operations on a GPU.
#include "../../alloc/registry.hpp"
#include "edge_values_suite.hpp"

namespace wyrm::tests {

using values_on_cuda = testing::Types<value_case<exec::cuda_space, alloc::ouroboros_va_p, graph::no_value>,
                                      value_case<exec::cuda_space, alloc::ouroboros_va_p, float>,
                                      value_case<exec::cuda_space, alloc::ouroboros_va_p, std::int64_t>,
                                      value_case<exec::cuda_space, alloc::ouroboros_va_p, payment, add_payments>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, graph_values, values_on_cuda);

}  // namespace wyrm::tests
