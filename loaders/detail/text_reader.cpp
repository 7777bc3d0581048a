// SPDX-License-Identifier: Apache-2.0
// The parts of the text reader that are off the fast path: getting the file into memory, changing lines, and wording
// errors.
#include "text_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

namespace wyrm::loaders::detail {
namespace {

constexpr std::size_t report_interval = std::size_t{4} << 20;
constexpr std::size_t most_shown = 32;  // bytes of a found word that a message repeats

[[noreturn]] void fail_io(std::string const& name, char const* action) {
  auto const reason = std::generic_category().message(errno);
  throw error(error_code::io,
              name + ": cannot be " + action + ": " + reason + "; check the name, the permissions and the disk");
}

[[noreturn]] void fail_memory(std::string const& name, std::size_t bytes) {
  throw error(error_code::out_of_memory, name + ": loading its " + std::to_string(bytes) +
                                             " bytes needs more memory than there is; use a machine with more memory");
}

/// A file may hold anything, a terminal and a log want printable text of modest length.
std::string quoted(std::string_view word) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown = "\"";
  for (char const c : word.substr(0, most_shown)) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      shown += '\\';
      shown += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += "\\x";
      shown += digits[byte >> 4];
      shown += digits[byte & 15];
    }
  }
  return shown + (word.size() > most_shown ? "...\"" : "\"");
}

std::string read_all(std::FILE* file, std::string const& name, std::size_t first_guess, std::size_t limit) {
  std::string text(std::min(first_guess, limit), '\0');
  std::size_t used = 0;
  while (true) {
    used += std::fread(text.data() + used, 1, text.size() - used, file);
    if (used < text.size() || used == limit) break;
    text.resize(std::min(limit, 2 * text.size()));  // the size was unknown (a pipe) or the file has grown
  }
  if (std::ferror(file) != 0) fail_io(name, "read");
  text.resize(used);
  return text;
}

}  // namespace

text_file read_text(std::filesystem::path const& path, std::size_t limit) {
  text_file file{path.string(), {}};
  struct closer {
    void operator()(std::FILE* handle) const noexcept { std::fclose(handle); }
  };
  std::unique_ptr<std::FILE, closer> const handle(std::fopen(path.c_str(), "rb"));
  if (!handle) fail_io(file.name, "opened");

  std::error_code unknown_size;
  auto const size = std::filesystem::file_size(path, unknown_size);
  // One byte more than the file has, so that a single read sees its end.
  auto const first_guess = std::max(std::size_t{4096}, unknown_size ? 0 : static_cast<std::size_t>(size) + 1);
  try {
    file.text = read_all(handle.get(), file.name, first_guess, limit);
  } catch (std::bad_alloc const&) {
    fail_memory(file.name, first_guess - 1);
  } catch (std::length_error const&) {
    fail_memory(file.name, first_guess - 1);
  }
  return file;
}

text_reader::text_reader(text_file const& file, progress const& report)
    : file_(&file),
      report_(&report),
      begin_(file.text.data()),
      end_(begin_ + file.text.size()),
      at_(begin_),
      report_at_(report ? report_interval : std::numeric_limits<std::size_t>::max()) {
  if (auto const nul = file.text.find('\0'); nul != std::string::npos) {
    auto const newlines = std::count(begin_, begin_ + nul, '\n');
    fail_at(static_cast<std::size_t>(newlines) + 1, "text", "a NUL byte",
            "the file is binary, compressed or damaged: unpack it or fetch it again");
  }
}

void text_reader::skip_line() {
  auto const* const newline = static_cast<char const*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
  if (newline == nullptr) {
    at_ = end_;
  } else {
    at_ = newline + 1;
    ++line_;
  }
  if (auto const done = static_cast<std::size_t>(at_ - begin_); done >= report_at_) {
    report_at_ = done + report_interval;
    (*report_)(done, bytes());
  }
}

std::string_view text_reader::peek_word() noexcept {
  skip_blanks();
  auto const* stop = at_;
  while (!at_word_end(stop)) ++stop;
  return {at_, static_cast<std::size_t>(stop - at_)};
}

void text_reader::fail(expectation const& expected) {
  auto const word = peek_word();
  auto const found = !word.empty() ? quoted(word)
                     : at_ == end_ ? std::string("the end of the file")
                                   : std::string("the end of the line");
  fail_at(line_, expected.what, found, expected.advice);
}

void text_reader::fail_range(expectation const& expected, std::string const& least, std::string const& most) {
  std::string what(expected.what);
  what += least == most ? " (" + most + ")" : " (" + least + " to " + most + ")";
  fail({what, expected.advice});
}

void text_reader::fail_at(std::size_t line, std::string_view expected, std::string_view found,
                          std::string_view advice) const {
  auto message = file_->name + ":" + std::to_string(line) + ": expected ";
  message.append(expected).append(", found ").append(found).append("; ").append(advice);
  throw error(error_code::bad_input, message);
}

void text_reader::finish() const {
  if (*report_) (*report_)(bytes(), bytes());
}

graph::edge_list load_text(std::filesystem::path const& path, progress const& report,
                           graph::edge_list (*parse)(text_reader&)) {
  auto const file = read_text(path);
  try {
    text_reader reader(file, report);
    auto list = parse(reader);
    reader.finish();
    return list;
  } catch (std::bad_alloc const&) {
    fail_memory(file.name, file.text.size());
  }
}

}  // namespace wyrm::loaders::detail
