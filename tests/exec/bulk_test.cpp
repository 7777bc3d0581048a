// SPDX-License-Identifier: Apache-2.0
// The bulk primitives on host threads (simt_space uses the same ones).
#include "bulk_suite.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, bulk, spaces, by_name);

}  // namespace wyrm::tests
