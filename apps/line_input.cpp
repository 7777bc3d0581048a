// SPDX-License-Identifier: Apache-2.0
#include "line_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "../exec/error.hpp"
#include "../loaders/limits.hpp"
#include "process.hpp"

namespace wyrm::apps {

namespace {

// Opening /dev/stdin again would hide that standard input is closed (occupy_closed_streams).
bool is_standard_input(std::string const& path) { return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0"; }

}  // namespace

line_input::line_input(std::string const& path)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(is_standard_input(path) ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      stopped_(eventfd(0, EFD_CLOEXEC)),
      owned_(!is_standard_input(path)),
      buffer_(std::size_t{1} << 16) {
  struct stat about {};
  int const reason = descriptor_ < 0 || stopped_ < 0 || fstat(descriptor_, &about) != 0 ? errno
                     : S_ISDIR(about.st_mode)                                           ? EISDIR
                                                                                        : 0;
  if (reason == 0) return;
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  if (stopped_ >= 0) ::close(stopped_);
  fail(reason);
}

line_input::~line_input() {
  if (owned_) ::close(descriptor_);
  ::close(stopped_);
}

void line_input::stop() { (void)eventfd_write(stopped_, 1); }

bool line_input::next(std::string& line) {
  line.clear();
  bool any = false;
  for (bool complete = false; !complete;) {
    if (at_ == end_ && !fill()) break;
    any = true;
    auto const first = buffer_.begin() + static_cast<std::ptrdiff_t>(at_);
    auto const last = buffer_.begin() + static_cast<std::ptrdiff_t>(end_);
    auto const newline = std::find(first, last, '\n');
    complete = newline != last;
    if (line.size() + static_cast<std::size_t>(newline - first) > loaders::longest_line)
      throw error(error_code::bad_input, name_ + ':' + std::to_string(line_ + 1) + ": expected a line of at most " +
                                             std::to_string(loaders::longest_line >> 20) +
                                             " MiB, found a longer one; check the file");
    line.append(first, newline);
    at_ = static_cast<std::size_t>(newline - buffer_.begin()) + (complete ? 1 : 0);
  }
  if (!any) return false;
  if (line_++ == 0 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
  return true;
}

bool line_input::fill() {
  ssize_t got = 0;
  do {
    std::array<pollfd, 3> ready{{{interruption(), POLLIN, 0}, {stopped_, POLLIN, 0}, {descriptor_, POLLIN, 0}}};
    (void)poll(ready.data(), ready.size(), -1);
    cut_ = interrupted() || ready[1].revents != 0;
    if (cut_) return false;
    got = ::read(descriptor_, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail(errno);
  at_ = 0;
  end_ = static_cast<std::size_t>(got);
  return got > 0;
}

void line_input::fail(int reason) const {
  throw error(error_code::io, name_ + ": cannot be read: " + std::generic_category().message(reason));
}

}  // namespace wyrm::apps
