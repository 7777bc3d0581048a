// SPDX-License-Identifier: Apache-2.0
// The guard of the current device, with fake devices.
#include "../../exec/device_guard.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace wyrm::tests {
namespace {

struct fake_device {
  static inline int now = 0;
  static inline std::vector<int> calls;
  static inline int refused = -1;
  static int current() { return now; }
  static void make_current(int device) {
    calls.push_back(device);
    if (device == refused) throw std::runtime_error("no such device");
    now = device;
  }
};
using guard = exec::basic_device_guard<fake_device>;

class device_guard : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_device::now = 3;
    fake_device::calls.clear();
    fake_device::refused = -1;
  }
};

TEST_F(device_guard, sets_the_device_and_restores_that_of_the_caller) {
  {
    guard const outer(1);
    EXPECT_EQ(fake_device::now, 1);
    guard const inner(1);  // current already
    guard const other(2);
    EXPECT_EQ(fake_device::now, 2);
  }
  EXPECT_EQ(fake_device::now, 3);
  EXPECT_EQ(fake_device::calls, (std::vector<int>{1, 2, 1, 3}));
}

TEST_F(device_guard, does_nothing_if_the_device_is_current) {
  { guard const same(3); }
  EXPECT_TRUE(fake_device::calls.empty());
}

TEST_F(device_guard, restores_after_an_exception) {
  EXPECT_THROW(
      {
        guard const current(1);
        throw std::runtime_error("a call failed");
      },
      std::runtime_error);
  EXPECT_EQ(fake_device::now, 3);
}

TEST_F(device_guard, throws_for_a_device_that_cannot_be_made_current) {
  fake_device::refused = 1;
  EXPECT_THROW(guard(1), std::runtime_error);
  EXPECT_EQ(fake_device::now, 3);
}

TEST_F(device_guard, ignores_failure_to_restore_the_device) {
  {
    guard const current(1);
    fake_device::refused = 3;
  }
  EXPECT_EQ(fake_device::now, 1);
}

}  // namespace
}  // namespace wyrm::tests
