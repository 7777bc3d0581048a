// SPDX-License-Identifier: Apache-2.0
// Tests quotations: any text is quoted in printable ASCII and comes back, and malformed quotations are refused.
#include <gtest/gtest.h>

#include <string>

#include "../../loaders/quoted.hpp"

namespace wyrm::tests {
namespace {

using loaders::quoted;
using loaders::unquoted;

TEST(quoted, is_as_documented) {
  EXPECT_EQ(quoted("a b"), R"("a b")");
  EXPECT_EQ(quoted("\"\\\n\xff"), R"("\"\\\x0a\xff")");
  EXPECT_EQ(quoted("abc", 2), R"("ab...")");
}

TEST(unquoted, is_the_inverse) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  std::string const text = quoted(all, all.size());
  for (char const c : text) EXPECT_TRUE(c >= ' ' && c <= '~');
  EXPECT_EQ(unquoted(text), all);
  EXPECT_EQ(unquoted(R"("")"), "");
  EXPECT_EQ(unquoted("\"\xc3\xa9\""), "\xc3\xa9") << "bytes need no escapes";
}

TEST(unquoted, refuses_what_is_no_quotation) {
  for (std::string const bad : {"", "a", "\"", "\"a", "a\"", R"("a"b")", R"("a\")", R"("\n")", R"("\x4")", R"("\x4g")",
                                R"("\x")", R"("\x-1")", R"("\x 1")"})
    EXPECT_FALSE(unquoted(bad)) << bad;
}

}  // namespace
}  // namespace wyrm::tests
