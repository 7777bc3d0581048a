// SPDX-License-Identifier: Apache-2.0
// Tests that a check finds damage.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "../../exec/error.hpp"

namespace wyrm::tests {

/// check() must throw error(corrupt) with a message that contains `what`.
template <class F>
void expect_corrupt(std::string const& what, F const& check) {
  try {
    check();
    ADD_FAILURE() << "not found: " << what;
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::corrupt);
    EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what() << "\ninstead of: " << what;
  }
}

}  // namespace wyrm::tests
