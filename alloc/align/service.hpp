// SPDX-License-Identifier: Apache-2.0
// The thread of the host that serves pools while kernels run: one for all pools of the process. It starts with the
// first pool, and ends with the last.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace wyrm::alloc::detail {

/// What the thread serves.
class served_by_host {
 public:
  /// Answers all requests that are there; returns whether there were some. Must not wait for the device.
  virtual bool serve() noexcept = 0;

 protected:
  ~served_by_host() = default;
};

/// While requests come, and `busy` after the last one, the thread polls all the time. Then it sleeps between two polls,
/// a quarter of the time since the last request, but at most `longest_sleep`: so long the first request after a pause
/// may wait. All functions are thread-safe.
class host_service {
 public:
  static constexpr std::chrono::microseconds busy{100};
  static constexpr std::chrono::microseconds longest_sleep{1000};

  /// The service of the process. It is never destroyed, because pools may be destroyed later than any static object, or
  /// not at all. The thread ends at the end of the process at the latest, before what the process had when it made its
  /// first pool.
  static host_service& instance() {
    static host_service& one = *new host_service;
    static ends_with_the_process const end{one};
    return one;
  }
  host_service(host_service const&) = delete;
  host_service& operator=(host_service const&) = delete;

  /// Serves `pool` from now on. Throws std::system_error if the system refuses a thread; then nothing has changed.
  void add(served_by_host& pool) {
    std::lock_guard const one_at_a_time(changes_);
    std::unique_lock const lock = stop_polling();
    pools_.push_back(&pool);
    if (thread_.joinable()) return;
    over_ = false;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (...) {
      pools_.pop_back();
      throw;
    }
  }
  /// When this returns, the thread does not use `pool` any more.
  void remove(served_by_host& pool) noexcept {
    std::lock_guard const one_at_a_time(changes_);
    {
      std::unique_lock const lock = stop_polling();
      std::erase(pools_, &pool);
      over_ = pools_.empty();
    }
    if (!over_ || !thread_.joinable()) return;
    sleep_.notify_all();
    thread_.join();
  }
  /// Whether the thread exists.
  [[nodiscard]] bool is_running() const {
    std::lock_guard const one_at_a_time(changes_);
    return thread_.joinable();
  }

 private:
  using clock = std::chrono::steady_clock;
  struct ends_with_the_process {
    host_service& service;
    ~ends_with_the_process() { service.end(); }
  };
  void end() noexcept {
    std::lock_guard const one_at_a_time(changes_);
    {
      std::unique_lock const lock = stop_polling();
      over_ = true;
    }
    if (!thread_.joinable()) return;
    sleep_.notify_all();
    thread_.join();
  }
  host_service() = default;
  ~host_service() = default;

  // The lock of what the thread reads. A mutex is not fair, so the thread leaves it alone while others want it.
  [[nodiscard]] std::unique_lock<std::mutex> stop_polling() {
    waiting_.fetch_add(1);
    std::unique_lock lock(state_);
    waiting_.fetch_sub(1);
    return lock;
  }
  void run() {
    std::unique_lock lock(state_);
    clock::time_point last = clock::now();
    while (!over_) {
      bool some = false;
      for (served_by_host* const pool : pools_) some = pool->serve() || some;
      clock::time_point const now = clock::now();
      if (some) last = now;
      if (now - last < busy) {
        lock.unlock();
        while (waiting_.load() > 0) std::this_thread::yield();
        lock.lock();
      } else {
        sleep_.wait_for(lock, std::min<clock::duration>((now - last) / 4, longest_sleep));
      }
    }
  }

  mutable std::mutex changes_;  // one add() or remove() at a time
  std::mutex state_;            // of pools_ and over_
  std::condition_variable sleep_;
  std::atomic<int> waiting_ = 0;
  std::vector<served_by_host*> pools_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace wyrm::alloc::detail
