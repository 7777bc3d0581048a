// SPDX-License-Identifier: Apache-2.0
// Results that follow added and removed vertices, on a GPU.
#include "../../exec/cuda_space.hpp"
#include "attached_vertices_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, attached_vertices, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
