// SPDX-License-Identifier: Apache-2.0
// The cursor with which all text formats except JSON read numbers and words. For unexpected text it throws an error
// whose message has the file, the line, what was expected, and what was found.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "../limits.hpp"
#include "source.hpp"

namespace wyrm::loaders::detail {

/// For messages: what is expected ("the id of a neighbour"), and what the user can do about an error.
struct expectation {
  std::string_view what;
  std::string_view advice;
};

/// A cursor in a part of the text of a file. Blanks are spaces and tabs; a line ends with LF, CRLF or the end of the
/// file. Every read function first skips blanks, stays within the line, and throws wyrm::error (bad_input) for
/// unexpected text. Lines are counted for messages only. The source must outlive the reader.
class text_reader {
 public:
  /// Reads from `from`, a position in the source, to the end. Lines whose first character after blanks is one of
  /// `comment_marks` are comments.
  text_reader(source const& in, char const* from, std::string_view comment_marks)
      : in_(&in), marks_(comment_marks), begin_(from), at_(from), end_(in.end()) {}
  /// Reads `lines`, whole lines of the source.
  text_reader(source const& in, std::string_view lines, std::string_view comment_marks)
      : in_(&in), marks_(comment_marks), begin_(lines.data()), at_(lines.data()), end_(lines.data() + lines.size()) {}

  [[nodiscard]] source const& in() const noexcept { return *in_; }
  [[nodiscard]] char const* at() const noexcept { return at_; }
  /// The start of the blanks before the cursor, in its part of the text.
  [[nodiscard]] char const* before_blanks() const noexcept;
  /// The line of the cursor, from 1. Time: linear in the length of the text before it.
  [[nodiscard]] std::size_t line() const noexcept;

  /// Whether the cursor is at the end of its part of the text.
  [[nodiscard]] bool end_of_file() const noexcept { return at_ == end_; }
  [[nodiscard]] bool end_of_line() noexcept {
    skip_blanks();
    return at_line_end(at_);
  }
  [[nodiscard]] bool comment() noexcept {
    skip_blanks();
    if (at_ == end_) return false;
    for (char const mark : marks_)  // one or two marks; find() would be a function call
      if (*at_ == mark) return true;
    return false;
  }

  /// Moves to the next line and ignores the rest of this one. Throws bad_input when that rest has a NUL byte, or more
  /// than `longest` bytes.
  void skip_line(std::size_t longest = longest_line);
  /// Moves to the next line. Throws bad_input if this line has further text.
  void end_line(expectation const& expected) {
    if (at_ != end_ && *at_ == '\n') {
      ++at_;
      return;
    }
    if (!end_of_line()) fail(expected);
    skip_line();
  }
  /// Moves past comments and empty lines.
  void skip_comments() {
    while (!end_of_file() && (comment() || end_of_line())) skip_line();
  }

  [[nodiscard]] std::uint64_t read_unsigned(std::uint64_t least, std::uint64_t most, expectation const& expected) {
    skip_blanks();
    constexpr std::ptrdiff_t safe_digits = 19;
    std::uint64_t value = 0;
    auto const* const from = after_plus(at_);
    auto const* stop = from;
    for (; stop != end_; ++stop) {
      auto const digit = static_cast<unsigned>(*stop) - '0';
      if (digit > 9) break;
      value = value * 10 + digit;
    }
    if (stop - from > safe_digits) stop = read_long(from, value);
    if (stop == from || !at_word_end(stop) || value < least || value > most) {
      fail_range(expected, std::to_string(least), std::to_string(most));
    }
    at_ = stop;
    return value;
  }
  [[nodiscard]] std::int64_t read_signed(std::int64_t least, std::int64_t most, expectation const& expected) {
    skip_blanks();
    std::int64_t value = 0;
    auto const [stop, status] = std::from_chars(after_plus(at_), end_, value);
    if (status != std::errc{} || !at_word_end(stop) || value < least || value > most) {
      fail_range(expected, std::to_string(least), std::to_string(most));
    }
    at_ = stop;
    return value;
  }
  /// A finite number greater than `above`: no infinities, no NaN, no hexadecimal, and no number that a double rounds to
  /// infinity or, unless it is 0, to 0. The letter of the exponent may be D, as in Fortran.
  [[nodiscard]] double read_real(expectation const& expected, double above = -std::numeric_limits<double>::infinity()) {
    return read_number(expected, [above](double value) { return std::isfinite(value) && value > above; });
  }
  /// The same for any number; also inf, infinity and nan, in upper or lower case.
  [[nodiscard]] double read_any_real(expectation const& expected) {
    return read_number(expected, [](double) { return true; });
  }

  /// The word at the cursor; empty at the end of the line. Does not move the cursor past the word.
  [[nodiscard]] std::string_view peek_word() noexcept;
  void skip_word() noexcept { at_ += peek_word().size(); }
  [[nodiscard]] std::string_view rest_of_line() const noexcept;

  /// Throws bad_input with the message `FILE:LINE: expected WHAT, found FOUND; ADVICE`. FOUND is the word at the
  /// cursor, quoted; or, without quotation marks, "the end of the line" or "the end of the file".
  [[noreturn]] void fail(expectation const& expected);
  /// The same for another line, with the text that was found there.
  [[noreturn]] void fail_at(std::size_t line, std::string_view expected, std::string_view found,
                            std::string_view advice) const;
  /// Throws bad_input for the line that begins at the cursor, because of a NUL byte (which no text format has, but
  /// compressed and binary files have), or else because it has more than `longest` bytes.
  [[noreturn]] void fail_line(std::size_t longest) const;

 private:
  /// Reads a number that accepts(number) permits.
  template <class F>
  [[nodiscard]] double read_number(expectation const& expected, F const& accepts) {
    skip_blanks();
    double value = 0;
    auto const* const from = after_plus(at_);
    auto read = std::from_chars(from, end_, value);
    if (read.ptr != end_ && (*read.ptr == 'D' || *read.ptr == 'd')) read = read_fortran(from, read.ptr, value);
    if (read.ec != std::errc{} || !at_word_end(read.ptr) || !accepts(value)) {
      read.ec == std::errc::result_out_of_range ? fail_size(expected) : fail(expected);
    }
    at_ = read.ptr;
    return value;
  }
  [[nodiscard]] bool at_line_end(char const* at) const noexcept {
    return at == end_ || *at == '\n' || (*at == '\r' && (at + 1 == end_ || at[1] == '\n'));
  }
  [[nodiscard]] bool at_word_end(char const* at) const noexcept {
    return at == end_ || *at == ' ' || *at == '\n' || *at == '\t' || at_line_end(at);
  }
  void skip_blanks() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  /// The position after a plus sign at `at` that begins a number; else `at`.
  [[nodiscard]] char const* after_plus(char const* at) const noexcept {
    bool const sign = at != end_ && *at == '+' && at + 1 != end_ && (at[1] == '.' || (at[1] >= '0' && at[1] <= '9'));
    return sign ? at + 1 : at;
  }
  /// Reads a number of 20 digits or more (leading zeros count). Returns its end, or `from` if it exceeds 64 bits.
  [[nodiscard]] char const* read_long(char const* from, std::uint64_t& value) const noexcept;
  /// Reads a number whose exponent has the letter D at `letter`.
  [[nodiscard]] std::from_chars_result read_fortran(char const* from, char const* letter, double& value) const;
  [[noreturn]] void fail_size(expectation const& expected);
  [[noreturn]] void fail_range(expectation const& expected, std::string const& least, std::string const& most);

  source const* in_;
  std::string_view marks_;
  char const* begin_;
  char const* at_;
  char const* end_;
};

/// A number in the shortest form that reads back as the same number.
[[nodiscard]] std::string shown(double value);

}  // namespace wyrm::loaders::detail
