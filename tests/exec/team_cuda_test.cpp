// SPDX-License-Identifier: Apache-2.0
// Teams on a GPU.
#include "team_suite.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::cuda_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, team, spaces, by_name);

}  // namespace wyrm::tests
