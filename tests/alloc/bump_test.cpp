// SPDX-License-Identifier: Apache-2.0
// The bump pointer at the end of the pool: requests that do not fit leave it there, however many there are.
#include "../../alloc/baseline/bump.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "../../exec/host_space.hpp"

namespace wyrm::tests {

namespace {

// As large as addresses can be, so that a few requests would make the pointer overflow. There is no memory of that
// size.
class bump_of_2_to_60_bytes : public ::testing::Test {
 protected:
  static constexpr std::uint64_t size = std::uint64_t{1} << 60;
  [[nodiscard]] alloc::bump_ref ref() { return {reinterpret_cast<std::byte*>(16), size, &used_, ledger_.ref()}; }
  [[nodiscard]] std::uint64_t failures() const {
    alloc::statistics s;
    ledger_.report(s);
    return s.failures;
  }

  std::uint64_t used_ = 0;
  alloc::ledger<exec::host_space> ledger_{exec::host_space(1), nullptr, 0, false};
};

TEST_F(bump_of_2_to_60_bytes, refusals_do_not_wrap_the_pointer) {
  ASSERT_NE(ref().malloc(size - 16), nullptr);
  for (int i = 1; i <= 100; ++i) ASSERT_EQ(ref().malloc(size), nullptr) << "refusal " << i;
  // After a request that did not fit, the pool counts as used up.
  EXPECT_EQ(ref().malloc(16), nullptr);
  EXPECT_EQ(failures(), 101u);
  EXPECT_GE(used_, size);
  EXPECT_LE(used_, 2 * size);
}

TEST_F(bump_of_2_to_60_bytes, refused_requests_of_a_full_pool_do_not_move_the_pointer) {
  ASSERT_NE(ref().malloc(size), nullptr);
  for (int i = 1; i <= 100; ++i) ASSERT_EQ(ref().malloc(size), nullptr) << "refusal " << i;
  EXPECT_EQ(used_, size);
}

}  // namespace

}  // namespace wyrm::tests
