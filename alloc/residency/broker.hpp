// SPDX-License-Identifier: Apache-2.0
// A broker: it divides a budget of bytes among processes that share a device, as leases (lease.hpp). The data itself
// never leaves its process. Clients connect over a Unix domain socket, which belongs to one user. Needs POSIX.
//
// A lease ends when its process ends, or destroys it: its socket closes, and its bytes are free. A client that does not
// read, or that sends invalid messages, is disconnected, and blocks no other client: sockets do not block, and buffers
// have limits. If a client loses its connection but continues to run, its bytes stay reserved until it reconnects or
// ends. This also holds after the end of a broker: each lease has a file that its process keeps locked. The broker
// writes the guaranteed bytes into this file, and the size of the lease before it grants more. The next broker reserves
// the bytes in these files, and refuses a client that claims more. So the sum of all leases never exceeds the budget,
// as long as the budget does not decrease.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wyrm::alloc::residency {

/// The socket of the broker for a device: "cpu", or "cuda:N", whose name has the UUID of the GPU, in
/// $XDG_RUNTIME_DIR/wyrm or, without that variable, /tmp/wyrm-UID. Throws error(bad_argument) for another name,
/// error(device) for a GPU that does not exist.
[[nodiscard]] std::string broker_socket(std::string const& device);

struct broker_options {
  std::string socket;      // its path, at most 107 bytes; its folder belongs to the user, and nobody else writes in it
  std::size_t memory = 0;  // the budget in bytes, 1 to 2^62
  // run() ends so long after the last client; 0: never; not negative
  std::chrono::milliseconds idle = std::chrono::seconds(60);
  std::size_t most_clients = 512;  // more are refused
};

class broker {
 public:
  /// Listens. Throws error(bad_argument) if an option is wrong, error(io) if the socket cannot be made: above all if
  /// another broker serves it.
  explicit broker(broker_options);
  ~broker();
  broker(broker const&) = delete;
  broker& operator=(broker const&) = delete;

  /// Serves clients until stop(), or until there has been no client for the time of the options. Called once.
  void run();
  /// Thread-safe, and safe in a signal handler.
  void stop() noexcept;

 private:
  class server;
  std::unique_ptr<server> server_;
};

/// The accounts of a broker at one time.
struct broker_status {
  struct client {
    std::string name;
    std::uint64_t pid = 0;  // 0 if the client has no connection at present
    std::uint32_t priority = 0;
    std::size_t least = 0;      // bytes below which it is not asked to give back
    std::size_t held = 0;       // bytes
    std::size_t waits_for = 0;  // bytes
    std::size_t wanted = 0;     // bytes that it is asked to give back
  };
  std::size_t budget = 0;  // bytes
  std::size_t held = 0;    // bytes
  std::vector<client> clients;
};

/// Queries a broker. Throws error(io) if there is none, if it refuses, or if it does not answer within 5 seconds.
[[nodiscard]] broker_status status_of_broker(std::string const& socket);

}  // namespace wyrm::alloc::residency
