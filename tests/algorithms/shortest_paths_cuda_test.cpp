// SPDX-License-Identifier: Apache-2.0
// Trees of BFS and shortest paths with lengths on a GPU.
#include "../../exec/cuda_space.hpp"
#include "shortest_paths_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, shortest_paths_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
