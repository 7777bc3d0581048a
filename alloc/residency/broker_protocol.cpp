// SPDX-License-Identifier: Apache-2.0
#include "broker_protocol.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace wyrm::alloc::residency::detail {

descriptor::~descriptor() {
  if (number_ >= 0) ::close(number_);
}

void throw_io(std::string const& what) {
  throw error(error_code::io, what + ": " + std::generic_category().message(errno));
}

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

void channel::send(message const& m) {
  if (unsent_.size() >= most_unsent) lost_ = true;
  if (lost_) return;
  unsent_.push_back(m);
  flush();
}

void channel::flush() {
  while (!lost_ && !unsent_.empty()) {
    auto const* const bytes = reinterpret_cast<char const*>(&unsent_.front());
    ssize_t const n = ::send(socket_.get(), bytes + sent_, sizeof(message) - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR) continue;
      lost_ = errno != EAGAIN && errno != EWOULDBLOCK;
      return;
    }
    sent_ += static_cast<std::size_t>(n);
    if (sent_ < sizeof(message)) continue;
    unsent_.pop_front();
    sent_ = 0;
  }
}

bool channel::receive(message& m) {
  while (received_ < sizeof(message)) {
    ssize_t const n = ::recv(socket_.get(), partial_.data() + received_, sizeof(message) - received_, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) lost_ = true;
      return false;
    }
    received_ += static_cast<std::size_t>(n);
  }
  std::memcpy(&m, partial_.data(), sizeof(message));
  received_ = 0;
  return true;
}

std::string socket_path(std::string_view device) {
  char const* const runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string const folder = runtime != nullptr && *runtime == '/' ? std::string(runtime) + "/wyrm"
                                                                   : "/tmp/wyrm-" + std::to_string(::geteuid());
  return folder + "/broker-" + std::string(device) + ".sock";
}

void make_private_folder(std::string const& socket) {
  std::string folder = std::filesystem::path(socket).parent_path();
  if (folder.empty()) folder = ".";
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw_io("cannot create the folder " + folder);
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) throw_io("cannot look at the folder " + folder);
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 022) != 0)
    throw error(error_code::io, "the folder " + folder +
                                    " of the broker's socket must be a folder of this user in which nobody else may "
                                    "write; remove it, or choose another socket");
}

namespace {

descriptor new_socket(std::string const& path, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw error(error_code::bad_argument, "the path of a socket has 1 to " +
                                              std::to_string(sizeof address.sun_path - 1) + " bytes: '" + path + "'");
  path.copy(address.sun_path, path.size());
  descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) throw_io("cannot make a socket");
  return made;
}

}  // namespace

descriptor connect_to(std::string const& path) {
  sockaddr_un address{};
  descriptor made = new_socket(path, address);
  if (::connect(made.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0) return made;
  if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN) return descriptor();
  throw_io("cannot connect to the broker at " + path);
}

descriptor listen_at(std::string const& path) {
  sockaddr_un address{};
  descriptor made = new_socket(path, address);
  ::unlink(path.c_str());
  ::fchmod(made.get(), 0600);  // of the file that bind() makes
  if (::bind(made.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(made.get(), 128) != 0)
    throw_io("cannot listen at " + path);
  return made;
}

std::string lease_folder(std::string const& socket) { return socket + ".leases"; }

std::string lease_file(std::string const& socket, std::uint64_t id) {
  return lease_folder(socket) + "/" + std::to_string(id);
}

bool is_released(int file) { return ::flock(file, LOCK_EX | LOCK_NB) == 0; }

}  // namespace wyrm::alloc::residency::detail
