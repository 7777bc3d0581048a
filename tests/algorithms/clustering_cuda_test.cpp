// SPDX-License-Identifier: Apache-2.0
// Clustering on a GPU.
#include "../../exec/cuda_space.hpp"
#include "clustering_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, clustering_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
