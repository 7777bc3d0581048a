// SPDX-License-Identifier: Apache-2.0
// The hash join and the group-by on a GPU.
#include "relational_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

// Two allocators, since nvcc takes long for each.
using on_cuda = ::testing::Types<alloc::corw<exec::cuda_space>, alloc::ouroboros_va_p<exec::cuda_space>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, relational_case, on_cuda, by_name);

}  // namespace wyrm::tests
