// SPDX-License-Identifier: Apache-2.0
// The collectives on a GPU.
#include "collectives_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::cuda_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, collectives, spaces, by_name);

}  // namespace wyrm::tests
