// SPDX-License-Identifier: Apache-2.0
// A text file or standard input, line by line, whose end a signal or another thread brings forward.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wyrm::apps {

class line_input {
 public:
  /// Opens a file; "-" is standard input. Throws error(io) with the reason.
  explicit line_input(std::string const& path);
  ~line_input();
  line_input(line_input const&) = delete;
  line_input& operator=(line_input const&) = delete;

  [[nodiscard]] std::string const& name() const { return name_; }
  /// Reads the next line, without its end and without a byte order mark; false at the end of the input. Throws
  /// error(io) with the reason; error(bad_input) for a line of more than 16 MiB, as in graph files; std::bad_alloc.
  [[nodiscard]] bool next(std::string& line);
  /// The number of the line that was read last, from 1; 0 before the first.
  [[nodiscard]] std::size_t line() const { return line_; }
  /// Whether the input ended because of stop(), or because interrupted() was true, perhaps in the middle of a line.
  [[nodiscard]] bool cut() const { return cut_; }
  /// Ends the input as a signal does. For any thread, while another one reads.
  void stop();

 private:
  // Waits for input or for a signal; false at the end.
  bool fill();
  [[noreturn]] void fail(int reason) const;

  std::string name_;
  int descriptor_;
  int stopped_;  // becomes readable by stop()
  bool owned_;
  bool cut_ = false;
  std::size_t line_ = 0;
  std::vector<char> buffer_;
  std::size_t at_ = 0;  // of buffer_, with the end of what was read
  std::size_t end_ = 0;
};

}  // namespace wyrm::apps
