// SPDX-License-Identifier: Apache-2.0
// Algorithms out of core on the CPU.
#include "out_of_core_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cpu, out_of_core, testing::Types<exec::host_space>);

}  // namespace wyrm::tests
