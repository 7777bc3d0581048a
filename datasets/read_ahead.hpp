// SPDX-License-Identifier: Apache-2.0
// Reads and groups the next batches of a stream in a thread of its own, while the last one is applied.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "stream.hpp"

namespace wyrm::datasets {

/// A source throws it to end the stream at once: the batch that is being collected is dropped.
struct reading_stopped {};

/// At most `depth` batches wait; the thread waits while there are so many. So at most depth + 2 batches exist: one is
/// being collected, and one is applied. An error of the source is thrown by the call of next() after the last whole
/// batch. Only the constructor starts a thread; next() and stop() are for one other thread, waiting() for any.
class read_ahead : public batch_source {
 public:
  /// `wake` makes a source that waits for input return or throw; stop() calls it. It may do nothing.
  explicit read_ahead(
      batch_source& from, std::function<void()> wake = [] {}, std::size_t depth = 2)
      : from_(from), wake_(std::move(wake)), depth_(depth), thread_([this] { run(); }) {}
  ~read_ahead() override { stop(); }
  read_ahead(read_ahead const&) = delete;
  read_ahead& operator=(read_ahead const&) = delete;

  bool next(timed_batch& to) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || ended_; });
    if (full_.empty()) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return false;
    }
    std::swap(to, full_.front());
    empty_.push_back(std::move(full_.front()));
    full_.erase(full_.begin());
    changed_.notify_all();
    return true;
  }

  /// Ends reading, and waits for the thread. Afterwards next() returns the batches that wait.
  void stop() {
    {
      std::lock_guard const lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (!thread_.joinable()) return;
    wake_();
    thread_.join();
  }

  /// Number of batches that wait.
  [[nodiscard]] std::size_t waiting() const {
    std::lock_guard const lock(mutex_);
    return full_.size();
  }

 private:
  void run() {
    std::exception_ptr failure;
    try {
      timed_batch batch;
      while (from_.next(batch) && push(batch)) continue;
    } catch (reading_stopped const&) {
    } catch (...) {
      failure = std::current_exception();
    }
    {
      std::lock_guard const lock(mutex_);
      ended_ = true;
      failure_ = std::move(failure);
    }
    changed_.notify_all();
  }
  // Exchanges the batch for an empty one; false after stop().
  bool push(timed_batch& batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return full_.size() < depth_ || stopped_; });
    if (stopped_) return false;
    full_.push_back(std::move(batch));
    batch = {};
    if (!empty_.empty()) {
      batch = std::move(empty_.back());
      empty_.pop_back();
    }
    changed_.notify_all();
    return true;
  }

  batch_source& from_;
  std::function<void()> wake_;
  std::size_t depth_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::vector<timed_batch> full_;   // in order
  std::vector<timed_batch> empty_;  // memory for further batches
  std::thread thread_;              // last, as it uses the others
};

}  // namespace wyrm::datasets
