// SPDX-License-Identifier: Apache-2.0
// The identity and the version of a graph, by which a maintained result detects changes that it has not followed.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace wyrm::graph {

/// A member of a graph. Ids are unique in the process and not 0; a moved-from identity has id 0. The version counts
/// changes of the contents. Construction is thread-safe.
class identity {
 public:
  identity() : id_(next_id()) {}
  identity(identity&& other) noexcept : id_(std::exchange(other.id_, 0)), version_(std::exchange(other.version_, 0)) {}
  identity& operator=(identity&&) = delete;

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Records a change of the contents.
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
