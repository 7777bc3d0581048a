// SPDX-License-Identifier: Apache-2.0
// Teams on a host thread and on simulated warps (simt_space).
#include "team_suite.hpp"

#include "../../exec/host_space.hpp"
#include "../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, team, spaces, by_name);

}  // namespace wyrm::tests
