// SPDX-License-Identifier: Apache-2.0
#include "quoted.hpp"

namespace wyrm::loaders {

std::string escaped(std::string_view word, std::size_t most) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (char const c : word.substr(0, most)) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += "\\x";
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
  }
  if (word.size() > most) text += "...";
  return text;
}

std::string quoted(std::string_view word, std::size_t most) { return '"' + escaped(word, most) + '"'; }

}  // namespace wyrm::loaders
