// SPDX-License-Identifier: Apache-2.0
// What the text formats share: a file in memory and a cursor over it that knows its line, reads numbers and words, and
// turns whatever does not fit into a message that names file, line, what was expected and what stands there instead.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "../../graph/types.hpp"
#include "../progress.hpp"

namespace wyrm::loaders::detail {

/// A file in memory, with the name that messages give it.
struct text_file {
  std::string name;
  std::string text;
};

/// Reads a file, or its first `limit` bytes. Throws wyrm::error: io with the system's reason when it cannot be opened
/// or read, out_of_memory when it does not fit.
[[nodiscard]] text_file read_text(std::filesystem::path const& path,
                                  std::size_t limit = std::numeric_limits<std::size_t>::max());

/// What should stand at a place ("the id of a neighbour") and what the user can do when it does not.
struct expectation {
  std::string_view what;
  std::string_view advice;
};

/// A cursor over a file's text. Blanks are spaces and tabs; a line ends in LF, CRLF or the end of the file. Every
/// reading function first skips blanks, never leaves the line, and throws wyrm::error (bad_input) when something else
/// stands there. The file and the progress function must outlive the reader.
class text_reader {
 public:
  /// Throws bad_input when the text holds a NUL byte: no text format has one, and a compressed or binary file does.
  text_reader(text_file const& file, progress const& report);

  [[nodiscard]] text_file const& file() const noexcept { return *file_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

  [[nodiscard]] bool end_of_file() const noexcept { return at_ == end_; }
  [[nodiscard]] bool end_of_line() noexcept {
    skip_blanks();
    return at_line_end(at_);
  }
  [[nodiscard]] bool comment() noexcept {
    skip_blanks();
    return at_ != end_ && *at_ == '%';
  }

  /// Goes to the next line, whatever is left of this one.
  void skip_line();
  /// The same, but nothing may be left.
  void end_line(expectation const& expected) {
    if (!end_of_line()) fail(expected);
    skip_line();
  }

  [[nodiscard]] std::uint64_t read_unsigned(std::uint64_t least, std::uint64_t most, expectation const& expected) {
    return read_integer<std::uint64_t>(least, most, expected);
  }
  [[nodiscard]] std::int64_t read_signed(std::int64_t least, std::int64_t most, expectation const& expected) {
    return read_integer<std::int64_t>(least, most, expected);
  }
  /// A finite number greater than `above`: no infinities, no NaN, no hexadecimal, no leading plus.
  [[nodiscard]] double read_real(expectation const& expected, double above = -std::numeric_limits<double>::infinity()) {
    skip_blanks();
    double value = 0;
    auto const [stop, status] = std::from_chars(at_, end_, value);
    if (status != std::errc{} || !at_word_end(stop) || !std::isfinite(value) || !(value > above)) {
      fail(expected);
    }
    at_ = stop;
    return value;
  }

  /// The word at the cursor, which stays where it is; empty at the end of the line.
  [[nodiscard]] std::string_view peek_word() noexcept;
  void skip_word() noexcept { at_ += peek_word().size(); }

  /// "FILE:LINE: expected WHAT, found "..."; ADVICE", where what is found is the word at the cursor.
  [[noreturn]] void fail(expectation const& expected);
  /// The same for what is found elsewhere: a line, and words of the caller's own.
  [[noreturn]] void fail_at(std::size_t line, std::string_view expected, std::string_view found,
                            std::string_view advice) const;

  /// Reports that all is done.
  void finish() const;

 private:
  [[nodiscard]] bool at_line_end(char const* at) const noexcept {
    return at == end_ || *at == '\n' || (*at == '\r' && (at + 1 == end_ || at[1] == '\n'));
  }
  [[nodiscard]] bool at_word_end(char const* at) const noexcept { return at_line_end(at) || *at == ' ' || *at == '\t'; }
  void skip_blanks() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }

  template <class Integer>
  [[nodiscard]] Integer read_integer(Integer least, Integer most, expectation const& expected) {
    skip_blanks();
    Integer value = 0;
    auto const [stop, status] = std::from_chars(at_, end_, value);
    if (status != std::errc{} || !at_word_end(stop) || value < least || value > most) {
      fail_range(expected, std::to_string(least), std::to_string(most));
    }
    at_ = stop;
    return value;
  }
  [[noreturn]] void fail_range(expectation const& expected, std::string const& least, std::string const& most);

  text_file const* file_;
  progress const* report_;
  char const* begin_;
  char const* end_;
  char const* at_;
  std::size_t line_ = 1;
  std::size_t report_at_;  // offset at which the next report is due
};

/// Loads a file with a format's parser: reads it, parses it, reports the end. Errors as read_text and the parser have
/// them; memory that runs out becomes wyrm::error (out_of_memory).
[[nodiscard]] graph::edge_list load_text(std::filesystem::path const& path, progress const& report,
                                         graph::edge_list (*parse)(text_reader&));

}  // namespace wyrm::loaders::detail
