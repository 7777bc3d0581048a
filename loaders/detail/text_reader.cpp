// SPDX-License-Identifier: Apache-2.0
// The parts of the text reader outside the fast path: changes of lines, and error messages.
#include "text_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "../../exec/error.hpp"
#include "../quoted.hpp"

namespace wyrm::loaders::detail {
namespace {

char const* find(char const* begin, char const* end, char c) {
  if (begin == end) return nullptr;
  return static_cast<char const*>(std::memchr(begin, c, static_cast<std::size_t>(end - begin)));
}

}  // namespace

std::string shown(double value) {
  std::array<char, 32> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::size_t text_reader::line() const noexcept {
  return static_cast<std::size_t>(std::count(in_->begin(), at_, '\n')) + 1;
}

void text_reader::skip_line() {
  auto const* const newline = find(at_, end_, '\n');
  auto const* const next = newline == nullptr ? end_ : newline + 1;
  refuse_nul(next);
  at_ = next;
}

std::string_view text_reader::peek_word() noexcept {
  skip_blanks();
  auto const* stop = at_;
  while (!at_word_end(stop)) ++stop;
  return {at_, static_cast<std::size_t>(stop - at_)};
}

std::string_view text_reader::rest_of_line() const noexcept {
  auto const* stop = at_;
  while (!at_line_end(stop)) ++stop;
  return {at_, static_cast<std::size_t>(stop - at_)};
}

char const* text_reader::read_long(std::uint64_t& value) const noexcept {
  auto const [stop, status] = std::from_chars(at_, end_, value);
  return status == std::errc{} ? stop : at_;
}

void text_reader::refuse_nul(char const* end) const {
  auto const* const nul = find(at_, end, '\0');
  if (nul == nullptr) return;
  auto const newlines = std::count(in_->begin(), nul, '\n');
  fail_at(static_cast<std::size_t>(newlines) + 1, "text", "a NUL byte",
          "the file is binary, compressed or damaged: unpack it or fetch it again");
}

void text_reader::fail(expectation const& expected) {
  auto const word = peek_word();
  auto const found = !word.empty()       ? quoted(word)
                     : at_ == in_->end() ? std::string("the end of the file")
                                         : std::string("the end of the line");
  fail_at(line(), expected.what, found, expected.advice);
}

void text_reader::fail_size(expectation const& expected) {
  fail({std::string(expected.what) + " (of size 4.9e-324 to 1.8e308 unless 0)", expected.advice});
}

void text_reader::fail_range(expectation const& expected, std::string const& least, std::string const& most) {
  std::string what(expected.what);
  what += least == most ? " (" + most + ")" : " (" + least + " to " + most + ")";
  fail({what, expected.advice});
}

void text_reader::fail_at(std::size_t line, std::string_view expected, std::string_view found,
                          std::string_view advice) const {
  auto message = in_->name + ":" + std::to_string(line) + ": expected ";
  message.append(expected).append(", found ").append(found).append("; ").append(advice);
  throw error(error_code::bad_input, message);
}

}  // namespace wyrm::loaders::detail
