// SPDX-License-Identifier: Apache-2.0
#include "update_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "process.hpp"

namespace wyrm::apps {

update_input::update_input(std::string const& path)
    : descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      owned_(path != "-"),
      buffer_(std::size_t{1} << 16) {
  struct stat about {};
  if (descriptor_ < 0 || fstat(descriptor_, &about) != 0)
    failure_ = errno;
  else if (S_ISDIR(about.st_mode))
    failure_ = EISDIR;
}

update_input::~update_input() {
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
}

update_input::int_type update_input::underflow() {
  ssize_t got = 0;
  do {
    std::array<pollfd, 2> ready{{{interruption(), POLLIN, 0}, {descriptor_, POLLIN, 0}}};
    (void)poll(ready.data(), ready.size(), -1);
    cut_ = interrupted();
    if (cut_) return traits_type::eof();
    got = ::read(descriptor_, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) failure_ = errno;
  if (got <= 0) return traits_type::eof();
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(*gptr());
}

}  // namespace wyrm::apps
