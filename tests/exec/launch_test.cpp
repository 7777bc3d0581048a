// SPDX-License-Identifier: Apache-2.0
// The launches on host threads and on simulated warps (simt_space).
#include "launch_suite.hpp"

#include <algorithm>
#include <vector>

#include "../../exec/host_space.hpp"
#include "../../exec/launch.hpp"
#include "../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, launch, spaces, by_name);

TEST(host_space, says_nothing_about_more_threads_than_cores) {
  testing::internal::CaptureStderr();
  exec::host_space const space(1000);
  std::vector<int> all(100'000, 1);
  exec::for_each(space, all.size(), [values = all.data()](std::size_t i) { values[i] = 2; });
  EXPECT_EQ(std::ranges::count(all, 2), 100'000);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace wyrm::tests
