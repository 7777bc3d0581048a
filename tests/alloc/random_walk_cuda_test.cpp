// SPDX-License-Identifier: Apache-2.0
#include "../../exec/cuda_space.hpp"
#include "random_walk_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, random_walk, random_walk_pools<exec::cuda_space>, random_walk_names);

}  // namespace wyrm::tests
