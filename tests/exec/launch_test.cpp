// SPDX-License-Identifier: Apache-2.0
// The launches on host threads and on simulated warps (simt_space).
#include "launch_suite.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, launch, spaces, by_name);

}  // namespace wyrm::tests
