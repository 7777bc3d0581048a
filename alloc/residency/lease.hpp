// SPDX-License-Identifier: Apache-2.0
// A budget that several processes share: this process's lease from a broker (broker.hpp), which the first lease starts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "budget.hpp"

namespace wyrm::alloc::residency {

struct lease_options {
  std::string device = "cpu";  // "cpu" or "cuda:N"
  std::string socket;          // of the broker; default: broker_socket(device)
  std::string name;            // shown by `wyrm broker --status`, up to 63 bytes; default: the name of the program
  std::uint32_t priority = 1;  // > 0; fair shares are in proportion to priorities (lease_ledger.hpp)
  std::size_t least = 0;       // bytes below which the broker does not ask this lease to give back
  /// How long a request waits for all its bytes, up to an hour. The answer takes at most 500 ms more.
  std::chrono::milliseconds patience = std::chrono::seconds(1);
  /// How long the constructor waits for a broker, up to an hour.
  std::chrono::milliseconds start_patience = std::chrono::seconds(5);
  /// What starts a broker if there is none: a program, which is searched in PATH, and its arguments. If only a program
  /// is given, it gets the arguments of `wyrm broker`: --socket, --device and, if it is not 0, --memory. Empty: nothing
  /// is started.
  std::vector<std::string> start = {"wyrm"};
  std::size_t memory = 0;  // budget in bytes of a broker that this lease starts; 0: what the broker chooses
};

/// Thread-safe; one request waits at a time, further ones wait for it.
///
/// If the broker ends, the lease keeps its bytes, gets no more, and connects to the next broker, which it starts if
/// there is none. The next broker counts what the lease holds before it grants anything.
///
/// The lease ends with its destructor or its process, whichever is first. A child process of fork() without exec() also
/// holds the leases of its parent, and must not use them.
class lease final : public budget {
 public:
  /// Connects. Throws error(bad_argument) if an option is wrong; error(io) if there is no broker and none can be
  /// started, or if the broker refuses this client, because it has another version, or cannot guarantee `least`.
  explicit lease(lease_options);
  /// All bytes are free for others. The owner has freed the memory itself.
  ~lease() override;
  lease(lease const&) = delete;
  lease& operator=(lease const&) = delete;

  /// Throws error(bad_argument) if `step` is 0. Without connection it waits, too, and returns 0 in the end. It may
  /// take up to 500 ms longer than the patience, for the answer of the broker to arrive.
  [[nodiscard]] std::size_t acquire(std::size_t bytes, std::size_t step) override;
  /// Waits for the answer of the broker, up to 500 ms. Returns 0 while another request waits.
  [[nodiscard]] std::size_t try_acquire(std::size_t bytes, std::size_t step) override;
  /// `bytes` is at most held(); what exceeds that is ignored.
  void give_back(std::size_t bytes) noexcept override;
  [[nodiscard]] std::size_t wanted_back() const override;
  /// The budget of the broker: others may hold all of it except the `least` of this lease.
  [[nodiscard]] std::size_t limit() const override;
  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] bool is_connected() const;

 private:
  class client;
  std::unique_ptr<client> client_;
};

}  // namespace wyrm::alloc::residency
