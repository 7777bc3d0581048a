// SPDX-License-Identifier: Apache-2.0
// The bulk primitives on a GPU.
#include "bulk_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::cuda_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, bulk, spaces, by_name);

}  // namespace wyrm::tests
