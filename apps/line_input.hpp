// SPDX-License-Identifier: Apache-2.0
// A text file, standard input or a client of a Unix socket, line by line, compressed or not, whose end a signal or
// another thread brings forward.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local_socket.hpp"
#include "unpacker.hpp"

namespace wyrm::apps {

class line_input {
 public:
  /// Opens a file; "-" is standard input, and unix:PATH a socket, whose first client that writes is the input. Text, or
  /// text that is compressed as gzip, xz or Zstandard. Throws error(io) with the reason.
  explicit line_input(std::string const& path);
  /// Whether such a path names neither standard input nor a socket.
  [[nodiscard]] static bool is_file(std::string const& path);
  ~line_input();
  line_input(line_input const&) = delete;
  line_input& operator=(line_input const&) = delete;

  [[nodiscard]] std::string const& name() const { return name_; }
  /// Reads the next line, without its end and without a byte order mark; false at the end of the input. The line is
  /// valid until the next call. Throws error(io) with the reason; std::bad_alloc; error(bad_input) for a line of more
  /// than 16 MiB, as in graph files, which the next call passes over.
  [[nodiscard]] bool next(std::string_view& line);
  /// The whole lines, with their ends, that wait in the buffer behind the last one, of at most `most` bytes together;
  /// empty if there are none, and before the first call of next(). Reads and waits for nothing. Valid until next().
  [[nodiscard]] std::string_view whole_lines(std::size_t most) const;
  /// Takes the first of whole_lines(): so many lines, of so many bytes with their ends. Returns them without the last
  /// end. Valid until next().
  std::string_view take(std::size_t bytes, std::size_t lines = 1) {
    std::string_view const taken(buffer_.data() + at_, bytes - 1);
    at_ += bytes;
    line_ += lines;
    return taken;
  }
  /// The number of the line that was read last, from 1; 0 before the first.
  [[nodiscard]] std::size_t line() const { return line_; }
  /// Whether the input ended because of stop(), or because interrupted() was true, perhaps in the middle of a line.
  [[nodiscard]] bool cut() const { return cut_; }
  /// Ends the input as a signal does. For any thread, while another one reads.
  void stop();

 private:
  // Waits for input or for a signal, and appends it to the buffer, behind the line that has begun; false at the end.
  bool fill();
  // Waits, and reads bytes, unpacked; 0 at the end.
  std::size_t read_text(char* to, std::size_t room);
  // Waits, and reads bytes as they are in the file; 0 at the end.
  std::size_t read_bytes(char* to, std::size_t n);
  // Whether a descriptor is readable; false after stop() or a signal.
  bool wait_for(int descriptor);
  [[noreturn]] void fail(int reason) const;

  std::string name_;
  std::optional<local_socket> socket_;  // until a client has written
  int descriptor_;                      // -1 before
  int stopped_;                         // becomes readable by stop()
  bool owned_;
  bool begun_ = false;      // whether the first bytes have told whether the input is compressed
  bool is_packed_ = false;  // whether it is
  std::optional<unpacker> unpacker_;
  bool cut_ = false;
  bool passes_over_ = false;  // whether the rest of the last line is to be skipped
  std::size_t line_ = 0;
  std::vector<char> buffer_;
  std::size_t at_ = 0;   // of buffer_: the start of the next line,
  std::size_t end_ = 0;  // and the end of what was read
};

}  // namespace wyrm::apps
