// SPDX-License-Identifier: Apache-2.0
#include "quoted.hpp"

#include <charconv>
#include <system_error>

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

std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string word;
  while (!text.empty()) {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return std::nullopt;
    if (c == '\\') {
      if (text.empty()) return std::nullopt;
      c = text.front();
      std::size_t used = 1;
      if (c == 'x') {
        unsigned char byte = 0;
        auto const* const digits = text.data() + 1;
        auto const read = std::from_chars(digits, digits + (text.size() >= 3 ? 2 : 0), byte, 16);
        if (read.ec != std::errc() || read.ptr != digits + 2) return std::nullopt;
        c = static_cast<char>(byte);
        used = 3;
      } else if (c != '"' && c != '\\') {
        return std::nullopt;
      }
      text.remove_prefix(used);
    }
    word += c;
  }
  return word;
}

}  // namespace wyrm::loaders
