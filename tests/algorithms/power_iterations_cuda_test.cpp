// SPDX-License-Identifier: Apache-2.0
// Hubs and authorities, Katz and eigenvector centrality on a GPU.
#include "../../exec/cuda_space.hpp"
#include "power_iterations_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, power_iterations_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
