// SPDX-License-Identifier: Apache-2.0
#include "../support/simt_space.hpp"
#include "residency_suite.hpp"

namespace wyrm::tests {
using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, resident_graphs, spaces, by_name);
}  // namespace wyrm::tests
