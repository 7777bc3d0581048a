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
#include <cstring>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"
#include "../loaders/limits.hpp"
#include "process.hpp"

namespace wyrm::apps {

namespace {

// Opening /dev/stdin again would hide that standard input is closed (occupy_closed_streams).
bool is_standard_input(std::string const& path) { return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0"; }

constexpr std::string_view of_socket = "unix:";

}  // namespace

line_input::line_input(std::string const& path)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(is_standard_input(path)       ? STDIN_FILENO
                  : path.starts_with(of_socket) ? -1
                                                : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      stopped_(eventfd(0, EFD_CLOEXEC)),
      owned_(!is_standard_input(path)),
      buffer_(std::size_t{1} << 21) {
  if (stopped_ >= 0 && path.starts_with(of_socket)) {
    try {
      socket_.emplace(path.substr(of_socket.size()));
    } catch (...) {
      ::close(stopped_);
      throw;
    }
    return;
  }
  struct stat about {};
  int const reason = descriptor_ < 0 || stopped_ < 0 || fstat(descriptor_, &about) != 0 ? errno
                     : S_ISDIR(about.st_mode)                                           ? EISDIR
                                                                                        : 0;
  if (reason == 0) return;
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  if (stopped_ >= 0) ::close(stopped_);
  fail(reason);
}

bool line_input::is_file(std::string const& path) { return !is_standard_input(path) && !path.starts_with(of_socket); }

line_input::~line_input() {
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
  ::close(stopped_);
}

void line_input::stop() { (void)eventfd_write(stopped_, 1); }

bool line_input::next(std::string_view& line) {
  line = {};
  std::size_t searched = at_;  // no line ends before it
  for (;;) {
    void const* const newline =
        end_ > searched ? std::memchr(buffer_.data() + searched, '\n', end_ - searched) : nullptr;
    bool const complete = newline != nullptr;
    std::size_t const length =
        (complete ? static_cast<std::size_t>(static_cast<char const*>(newline) - buffer_.data()) : end_) - at_;
    if (!passes_over_ && length > loaders::longest_line) {
      passes_over_ = true;
      throw error(error_code::bad_input, name_ + ':' + std::to_string(++line_) + ": expected a line of at most " +
                                             std::to_string(loaders::longest_line >> 20) +
                                             " MiB, found a longer one; check the file");
    }
    bool const skips = passes_over_;
    if (!complete) {
      if (skips) at_ = end_;  // what was read of the line is not kept
      std::size_t const kept = end_ - at_;
      if (fill()) {
        searched = at_ + kept;
        continue;
      }
      if (kept == 0 || cut_) return false;
    }
    std::string_view const found(buffer_.data() + at_, length);
    at_ += length + (complete ? 1 : 0);
    if (skips) {
      passes_over_ = false;
      searched = at_;
      continue;
    }
    line = found;
    if (line_++ == 0 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    return true;
  }
}

std::string_view line_input::whole_lines(std::size_t most) const {
  if (line_ == 0 || passes_over_) return {};  // the first line may begin with a byte order mark
  std::string_view const text(buffer_.data() + at_, std::min(most, end_ - at_));
  return text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0
}

bool line_input::fill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= at_;
  at_ = 0;
  if (2 * end_ > buffer_.size()) buffer_.resize(2 * buffer_.size());
  char* const to = buffer_.data() + end_;
  std::size_t const room = buffer_.size() - end_;
  std::size_t const got = read_text(to, room);
  end_ += got;
  return got > 0 && !cut_;
}

std::size_t line_input::read_text(char* to, std::size_t room) {
  std::size_t got = 0;
  if (!begun_) {
    begun_ = true;
    do {
      std::size_t const more = read_bytes(to + got, room - got);
      got += more;
      if (more == 0) break;
    } while (unpacker::may_be_compressed({to, got}) && got < unpacker::signature_bytes);
    if (cut_) return got;
    is_packed_ = unpacker::is_compressed({to, got});
    if (!is_packed_) return got;
  }
  if (!is_packed_) return read_bytes(to, room);
  try {
    if (!unpacker_)
      unpacker_.emplace(name_, std::string_view(to, got),
                        [this](char* bytes, std::size_t n) { return read_bytes(bytes, n); });
    return unpacker_->read(to, room);
  } catch (error const&) {
    if (!cut_) throw;
    return 0;  // to the unpacker, data that are cut look truncated
  }
}

std::size_t line_input::read_bytes(char* to, std::size_t n) {
  for (;;) {
    while (descriptor_ < 0) {
      if (!wait_for(socket_->descriptor())) return 0;
      descriptor_ = socket_->accept();
    }
    if (!wait_for(descriptor_)) return 0;
    ssize_t const got = ::read(descriptor_, to, n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got > 0 || !socket_) {
      socket_.reset();
      return static_cast<std::size_t>(got);
    }
    ::close(std::exchange(descriptor_, -1));  // it has only looked whether somebody listens
  }
}

bool line_input::wait_for(int descriptor) {
  std::array<pollfd, 3> ready{{{interruption(), POLLIN, 0}, {stopped_, POLLIN, 0}, {descriptor, POLLIN, 0}}};
  (void)poll(ready.data(), ready.size(), -1);
  cut_ = interrupted() || ready[1].revents != 0;
  return !cut_;
}

void line_input::fail(int reason) const {
  throw error(error_code::io, name_ + ": cannot be read: " + std::generic_category().message(reason));
}

}  // namespace wyrm::apps
