// SPDX-License-Identifier: Apache-2.0
#include "../../exec/cuda_space.hpp"
#include "residency_suite.hpp"

namespace wyrm::tests {
using spaces = ::testing::Types<exec::cuda_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, resident_graphs, spaces, by_name);
}  // namespace wyrm::tests
