// SPDX-License-Identifier: Apache-2.0
#include "quoted.hpp"

#include <algorithm>
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

std::optional<std::string_view> take_field(std::string_view& line, char delimiter) {
  constexpr std::string_view blanks = " \t";
  bool const is_blank = delimiter == ' ';
  auto const skips = [&](char c) { return c == ' ' || (c == '\t' && delimiter != '\t'); };
  std::size_t begin = 0;
  while (begin < line.size() && skips(line[begin])) ++begin;
  std::size_t end = begin;
  if (begin < line.size() && line[begin] == '"') {
    for (++end; end < line.size() && (line[end] != '"' || line.substr(end + 1).starts_with('"')); ++end)
      if (line[end] == '"') ++end;  // the first of two
    if (end++ >= line.size()) return std::nullopt;
  } else {
    end = is_blank ? line.find_first_of(blanks, begin) : line.find(delimiter, begin);
    end = std::min(end, line.size());
    while (end > begin && skips(line[end - 1])) --end;
  }
  auto const field = line.substr(begin, end - begin);
  while (end < line.size() && skips(line[end])) ++end;
  if (end < line.size() && !is_blank && line[end] != delimiter) return std::nullopt;
  if (end < line.size() && is_blank && end == begin + field.size()) return std::nullopt;
  line = end == line.size() ? std::string_view() : line.substr(end + (is_blank ? 0 : 1));
  return field;
}

std::string field_text(std::string_view field) {
  if (!field.starts_with('"')) return std::string(field);
  std::string text;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"') ++i;
  }
  return text;
}

}  // namespace wyrm::loaders
