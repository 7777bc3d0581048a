// SPDX-License-Identifier: Apache-2.0
// Compares words of files.
#pragma once

#include <algorithm>
#include <string_view>

namespace wyrm::loaders::detail {

/// Whether two words are equal when upper and lower case of ASCII letters do not matter.
[[nodiscard]] inline bool same_word(std::string_view a, std::string_view b) noexcept {
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace wyrm::loaders::detail
