// SPDX-License-Identifier: Apache-2.0
// Memory of a space, on threads of the host and on warps of fibers.
#include "memory_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, memory, spaces, by_name);

}  // namespace wyrm::tests
