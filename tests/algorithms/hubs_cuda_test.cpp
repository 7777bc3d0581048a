// SPDX-License-Identifier: Apache-2.0
// PageRank with hubs first on a GPU.
#include "../../exec/cuda_space.hpp"
#include "hubs_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, hubs_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
