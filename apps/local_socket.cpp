// SPDX-License-Identifier: Apache-2.0
#include "local_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"

namespace wyrm::apps {

namespace {

int new_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

// A program that was killed leaves its socket behind.
void remove_abandoned(std::string const& path, sockaddr_un const& address) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISSOCK(about.st_mode)) return;
  int const probe = new_socket();
  bool const refused =
      ::connect(probe, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 && errno == ECONNREFUSED;
  if (probe >= 0) ::close(probe);
  if (refused) ::unlink(path.c_str());
}

}  // namespace

local_socket::local_socket(std::string path) : path_(std::move(path)), descriptor_(-1) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.empty() || path_.size() >= sizeof address.sun_path)
    throw error(error_code::bad_argument, "the path of a socket has 1 to " +
                                              std::to_string(sizeof address.sun_path - 1) + " bytes: '" + path_ + "'");
  path_.copy(address.sun_path, path_.size());
  remove_abandoned(path_, address);
  descriptor_ = new_socket();
  bool const bound = descriptor_ >= 0 && ::fchmod(descriptor_, 0600) == 0 &&  // of the file that bind() makes
                     ::bind(descriptor_, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
  if (bound && ::listen(descriptor_, 1) == 0) return;
  int const reason = errno;
  if (bound) ::unlink(path_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
  throw error(error_code::io, "cannot listen at " + path_ + ": " + std::generic_category().message(reason));
}

local_socket::~local_socket() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

int local_socket::accept() const {
  int const client = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return -1;
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == ::geteuid()) return client;
  ::close(client);
  return -1;
}

}  // namespace wyrm::apps
