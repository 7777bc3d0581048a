// SPDX-License-Identifier: Apache-2.0
// The residency manager on a CPU: the suite on host threads and on simulated warps, and what needs host threads or a
// clock under control.
#include "manager_suite.hpp"

#include "../../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, residency_manager, spaces, by_name);

}  // namespace wyrm::tests
