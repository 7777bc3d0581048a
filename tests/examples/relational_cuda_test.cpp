// SPDX-License-Identifier: Apache-2.0
// The hash join and the group-by on a GPU.
#include "relational_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, relational_case, relational_allocators<exec::cuda_space>, by_name);

}  // namespace wyrm::tests
