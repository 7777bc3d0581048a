// SPDX-License-Identifier: Apache-2.0
// A host space whose launches end when a test says so, like those on a stream of a GPU.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "../../../alloc/residency/manager.hpp"
#include "../../../exec/host_space.hpp"

namespace wyrm::tests {

/// Numbers launches from 1 on. Thread-safe.
class launch_queue {
 public:
  std::uint64_t enqueue() {
    std::lock_guard const lock(mutex_);
    return ++enqueued_;
  }
  /// Ends all launches up to this number, also those that are not enqueued yet.
  void finish(std::uint64_t last = std::numeric_limits<std::uint64_t>::max()) {
    std::lock_guard const lock(mutex_);
    finished_ = last;
    changed_.notify_all();
  }
  [[nodiscard]] bool is_done(std::uint64_t number) const {
    std::lock_guard const lock(mutex_);
    return number <= finished_;
  }
  /// How many threads wait for launches.
  [[nodiscard]] unsigned waiting() const {
    std::lock_guard const lock(mutex_);
    return waiting_;
  }
  void wait(std::uint64_t number) const {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [&] { return number <= finished_; });
    --waiting_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable unsigned waiting_ = 0;
  std::uint64_t enqueued_ = 0;
  std::uint64_t finished_ = 0;
};

class queued_space : public exec::host_space {
 public:
  queued_space() : host_space(1), queue_(std::make_shared<launch_queue>()) {}
  [[nodiscard]] launch_queue& queue() const { return *queue_; }
  [[nodiscard]] std::shared_ptr<launch_queue> const& shared_queue() const { return queue_; }
  /// Of a client: what its memory is managed by.
  [[nodiscard]] exec::memory_manager& manager() const { return *manager_; }
  [[nodiscard]] queued_space managed_by(exec::memory_manager* manager) const {
    queued_space bound = *this;
    bound.manager_ = manager;
    return bound;
  }

 private:
  std::shared_ptr<launch_queue> queue_;
  exec::memory_manager* manager_ = nullptr;
};

class queued_span final : public exec::work_span {
 public:
  explicit queued_span(std::shared_ptr<launch_queue> queue) : queue_(std::move(queue)) {}
  void start() override {}
  void stop() noexcept override { number_ = queue_->enqueue(); }
  [[nodiscard]] bool is_done() const override { return queue_->is_done(number_); }
  void wait() const noexcept override { queue_->wait(number_); }
  [[nodiscard]] double seconds() const override { return 0.001; }

 private:
  std::shared_ptr<launch_queue> queue_;
  std::uint64_t number_ = 0;
};

[[nodiscard]] inline std::unique_ptr<exec::work_span> make_work_span(queued_space const& space) {
  return std::make_unique<queued_span>(space.shared_queue());
}
[[nodiscard]] inline std::unique_ptr<exec::block_ranges> make_block_ranges(queued_space const& space,
                                                                           std::size_t block) {
  return exec::make_block_ranges(static_cast<exec::host_space const&>(space), block);
}

}  // namespace wyrm::tests
