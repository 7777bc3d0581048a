// SPDX-License-Identifier: Apache-2.0
// Tests quotations: any text is quoted in printable ASCII and comes back, and malformed quotations are refused.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

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

/// The contents of the fields of a line; "!" where taking one fails.
std::vector<std::string> fields(std::string_view line, char delimiter) {
  std::vector<std::string> all;
  while (line.data() != nullptr) {
    auto const field = loaders::take_field(line, delimiter);
    all.push_back(field ? loaders::field_text(*field) : "!");
    if (!field) break;
  }
  return all;
}

TEST(take_field, divides_lines_as_rfc_4180_does) {
  using list = std::vector<std::string>;
  EXPECT_EQ(fields("a,b", ','), (list{"a", "b"}));
  EXPECT_EQ(fields(",", ','), (list{"", ""}));
  EXPECT_EQ(fields(" a , b c ,", ','), (list{"a", "b c", ""}));
  EXPECT_EQ(fields(R"("a,b";"say ""x""";"")", ';'), (list{"a,b", R"(say "x")", ""}));
  EXPECT_EQ(fields(R"("""")", ','), (list{R"(")"}));
  EXPECT_EQ(fields("a\t\tb", '\t'), (list{"a", "", "b"}));
  EXPECT_EQ(fields("  a \t \"b c\"  d ", ' '), (list{"a", "b c", "d"}));
  for (std::string_view const bad : {R"("a)", R"("a"b,c)", R"("a"")", R"(")", R"("a"b)"})
    for (char const delimiter : {',', ' '}) EXPECT_EQ(fields(bad, delimiter), (list{"!"})) << bad;
}

TEST(unquoted, refuses_what_is_no_quotation) {
  for (std::string const bad : {"", "a", "\"", "\"a", "a\"", R"("a"b")", R"("a\")", R"("\n")", R"("\x4")", R"("\x4g")",
                                R"("\x")", R"("\x-1")", R"("\x 1")"})
    EXPECT_FALSE(unquoted(bad)) << bad;
}

}  // namespace
}  // namespace wyrm::tests
