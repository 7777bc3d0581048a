// SPDX-License-Identifier: Apache-2.0
// A Unix domain socket at which one client of the same user delivers input. Needs Linux.
#pragma once

#include <string>

namespace wyrm::apps {

class local_socket {
 public:
  /// Listens at a path that does not exist, or is a socket at which nobody listens. Only this user may connect. Throws
  /// error(bad_argument) for a path that is too long or empty, error(io) with the reason.
  explicit local_socket(std::string path);
  /// Removes the path.
  ~local_socket();
  local_socket(local_socket const&) = delete;
  local_socket& operator=(local_socket const&) = delete;

  /// poll() reports it as readable when a client waits.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// The connection of a client that waits, which the caller closes; -1 if there is none, or it is of another user.
  [[nodiscard]] int accept() const;

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace wyrm::apps
