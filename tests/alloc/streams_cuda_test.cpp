// SPDX-License-Identifier: Apache-2.0
// Pools that kernels on two streams use at the same time.
#include "../../exec/cuda_space.hpp"
#include "streams_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, streams, shared_pools<exec::cuda_space>, by_name);

}  // namespace wyrm::tests
