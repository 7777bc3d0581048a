// SPDX-License-Identifier: Apache-2.0
// Maintained PageRank with weights or sources on a GPU.
#include "../../exec/cuda_space.hpp"
#include "changing_ranks_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, changing_ranks_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
