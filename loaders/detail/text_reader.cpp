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
  in_->restore();
  return static_cast<std::size_t>(std::count(in_->begin(), at_, '\n')) + 1;
}

char const* text_reader::before_blanks() const noexcept {
  auto const* start = at_;
  while (start != begin_ && (start[-1] == ' ' || start[-1] == '\t')) --start;
  return start;
}

void text_reader::skip_line(std::size_t longest) {
  auto const* const last = static_cast<std::size_t>(end_ - at_) > longest ? at_ + longest + 1 : end_;
  auto const* const newline = find(at_, last, '\n');
  auto const* const next = newline == nullptr ? last : newline + 1;
  if ((newline == nullptr && last != end_) || find(at_, next, '\0') != nullptr) fail_line(longest);
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

char const* text_reader::read_long(char const* from, std::uint64_t& value) const noexcept {
  auto const [stop, status] = std::from_chars(from, end_, value);
  return status == std::errc{} ? stop : from;
}

std::from_chars_result text_reader::read_fortran(char const* from, char const* letter, double& value) const {
  auto const* stop = letter;
  while (!at_word_end(stop)) ++stop;
  std::string word(from, stop);
  word[static_cast<std::size_t>(letter - from)] = 'e';
  auto const read = std::from_chars(word.data(), word.data() + word.size(), value);
  return {from + (read.ptr - word.data()), read.ec};
}

void text_reader::fail_line(std::size_t longest) const {
  auto const left = static_cast<std::size_t>(in_->end() - at_);
  std::string_view const most(at_, std::min(left, longest + 1));
  if (most.substr(0, most.find('\n')).find('\0') != std::string_view::npos) {
    fail_at(line(), "text", "a NUL byte", "the file is binary, compressed or damaged: unpack it or fetch it again");
  }
  fail_at(line(), "a line of at most " + std::to_string(longest) + " bytes", "a longer one",
          "the file is damaged, or its format is another one");
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
