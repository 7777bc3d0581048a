// SPDX-License-Identifier: Apache-2.0
// Graphs with align-malloc+small on threads of the host.
#include "hosted_pool_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cpu, hosted_pool, ::testing::Types<exec::host_space>);

}  // namespace wyrm::tests
