// SPDX-License-Identifier: Apache-2.0
// Algorithms on snapshots on a GPU.
#include "../../exec/cuda_space.hpp"
#include "snapshot_algorithms_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, snapshot_algorithms, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
