// SPDX-License-Identifier: Apache-2.0
// A line on standard error that shows how a command proceeds, only when that is a terminal. It replaces itself at most
// five times a second, and erases itself.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

namespace wyrm::apps {

class status_line {
 public:
  status_line() : shown_(isatty(STDERR_FILENO) == 1), shared_(isatty(STDOUT_FILENO) == 1) {}
  ~status_line() { erase(); }
  status_line(status_line const&) = delete;
  status_line& operator=(status_line const&) = delete;

  /// Whether show() may be called now.
  [[nodiscard]] bool is_due() const {
    return shown_ && std::chrono::steady_clock::now() - last_ >= std::chrono::milliseconds(200);
  }
  /// Shows what fits in a line of the terminal.
  void show(std::string const& text) {
    winsize size{};
    bool const known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    std::size_t const width = known ? size.ws_col - std::size_t{1} : 79;
    std::fprintf(stderr, "\r\033[K%s", text.substr(0, width).c_str());
    std::fflush(stderr);
    last_ = std::chrono::steady_clock::now();
    visible_ = true;
  }
  /// To be called before standard output is written to: makes room for it if it is on a terminal, too.
  void make_room() {
    if (shared_) erase();
  }

 private:
  void erase() {
    if (!visible_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    visible_ = false;
  }

  bool shown_;
  bool shared_;
  bool visible_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace wyrm::apps
