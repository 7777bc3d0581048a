// SPDX-License-Identifier: Apache-2.0
// Memory of a space, on host threads and on simulated warps (simt_space).
#include "memory_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, memory, spaces, by_name);

}  // namespace wyrm::tests
