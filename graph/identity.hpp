// SPDX-License-Identifier: Apache-2.0
// Which graph it is, and in which state: what tells a maintained result whether it still belongs to a graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace wyrm::graph {

/// A member of a graph. Ids are unique in the process, and never 0: an identity that was moved from has the id 0. The
/// version counts changes of the contents. Construction is thread-safe.
class identity {
 public:
  identity() : id_(next_id()) {}
  identity(identity&& other) noexcept : id_(std::exchange(other.id_, 0)), version_(std::exchange(other.version_, 0)) {}
  identity& operator=(identity&&) = delete;

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// The contents are others from now on.
  void change() { ++version_; }

 private:
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  std::uint64_t id_;
  std::uint64_t version_ = 0;
};

}  // namespace wyrm::graph
