// SPDX-License-Identifier: Apache-2.0
// What a refused argument is told.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "../../exec/error.hpp"

namespace wyrm::tests {

/// The message of the error that f() throws, which must be a bad_argument; empty if it throws none.
template <class F>
std::string refusal(F const& f) {
  try {
    f();
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument) << e.what();
    return e.what();
  }
  return {};
}

}  // namespace wyrm::tests
