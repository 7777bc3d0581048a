// SPDX-License-Identifier: Apache-2.0
// The accounts of a broker: which clients hold how many bytes of a budget, which wait for more, and which should return
// some. It uses neither sockets nor clocks, so a test can compare it with a model.
//
// Shares are max-min fair with weights. A client's demand is what it holds and waits for. Its fair share is
//     min(demand, max(least, level x priority)),
// with the highest level at which all shares fit into the budget. So a client that requests little leaves the rest to
// others, and two clients that request everything get shares in proportion to their priorities. Clients at their shares
// cannot take bytes from each other, so they do not exchange memory forever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace wyrm::alloc::residency {

/// Not thread-safe. Times are in milliseconds of any clock that does not run backwards. n: number of clients.
class lease_ledger {
 public:
  using client_id = std::uint64_t;
  using milliseconds = std::uint64_t;

  struct client {
    std::uint32_t priority = 1;  // > 0
    std::size_t least = 0;       // bytes below which it is not asked to give back
    std::size_t held = 0;        // bytes
    std::size_t waits_for = 0;   // bytes; 0 if it does not wait
    std::size_t step = 1;        // of its last request: it gives back in multiples, too, unless its share is less
    std::size_t wanted = 0;      // bytes that it should give back
    milliseconds deadline = 0;   // when it waits no longer
    bool reserved = false;       // it has no connection: it is never asked, and its share is what it holds
  };
  struct grant {
    client_id to;
    std::size_t bytes;
  };

  /// `total`: the budget in bytes, below 2^63.
  explicit lease_ledger(std::size_t total) : total_(total) {}

  /// Whether the `least` of another client fits beside those of all clients. O(n).
  [[nodiscard]] bool can_promise(std::size_t least) const;
  /// Adds a client that already holds some bytes. The id is not in use, and the priority is not 0. O(log n).
  void join(client_id, std::uint32_t priority, std::size_t least, std::size_t held);
  /// Adds the bytes of a client without connection, and its guaranteed bytes. No bytes are requested back from it, and
  /// it requests none. The id is not in use. O(log n).
  void reserve(client_id, std::size_t least, std::size_t held);
  /// Removes a client or a reservation; its bytes are free. O(n).
  void leave(client_id);
  /// The client waits for `bytes`, in multiples of `step`, until `deadline`. False, without effect, if it waits
  /// already, or if a number is 0 or `step` exceeds `bytes`. O(log n).
  [[nodiscard]] bool request(client_id, std::size_t bytes, std::size_t step, milliseconds deadline);
  /// False, without effect, if the client holds fewer bytes. O(log n).
  [[nodiscard]] bool give_back(client_id, std::size_t bytes);

  /// Serves waiting clients in the order of their requests, and updates `wanted` of all clients. The first one gets its
  /// bytes when all are free; a part of them, possibly none, at its deadline; and as soon as no client has to return
  /// more, a part of them: at least one step, or none if a step more would exceed its share. No client overtakes it.
  /// O(64 n) per grant.
  [[nodiscard]] std::vector<grant> settle(milliseconds now);

  /// The time at which settle() has to be called although nothing has changed; nothing if no client waits.
  [[nodiscard]] std::optional<milliseconds> next_deadline() const;
  [[nodiscard]] std::size_t total() const noexcept { return total_; }
  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  /// 0 if clients have declared more than the budget.
  [[nodiscard]] std::size_t unused() const noexcept { return held_ < total_ ? total_ - held_ : 0; }
  [[nodiscard]] std::map<client_id, client> const& clients() const noexcept { return clients_; }

 private:
  [[nodiscard]] static std::size_t share_at(std::size_t level, client const&);
  [[nodiscard]] std::size_t fair_level() const;
  [[nodiscard]] std::size_t ask();
  [[nodiscard]] std::size_t serve_first(milliseconds now, bool& served);

  std::size_t total_;
  std::size_t held_ = 0;
  std::map<client_id, client> clients_;
  std::deque<client_id> waiting_;  // in the order of requests
};

}  // namespace wyrm::alloc::residency
