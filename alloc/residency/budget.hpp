// SPDX-License-Identifier: Apache-2.0
// The number of bytes of device memory that a residency manager may hold: fixed, as many as arrays need, or a lease
// from a broker that several processes share (lease.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "../../exec/error.hpp"

namespace wyrm::alloc::residency {

/// Thread-safe. The manager acquires bytes before it takes device memory, and returns them after it has freed it.
class budget {
 public:
  virtual ~budget() = default;

  /// Takes up to `bytes` more, in multiples of `step`, and returns how many. It is 0 if others hold all bytes and
  /// return none within the patience of the budget, or need not return any.
  [[nodiscard]] virtual std::size_t acquire(std::size_t bytes, std::size_t step) = 0;
  /// Like acquire(), but only takes unused bytes: does not wait, and requests no bytes back from others. The default is
  /// for budgets whose acquire() does neither.
  [[nodiscard]] virtual std::size_t try_acquire(std::size_t bytes, std::size_t step) { return acquire(bytes, step); }
  virtual void give_back(std::size_t bytes) noexcept = 0;
  /// Bytes that others wait for. The manager evicts and returns this many as soon as its launches allow it.
  [[nodiscard]] virtual std::size_t wanted_back() const = 0;
  /// The most that acquire() can ever add up to.
  [[nodiscard]] virtual std::size_t limit() const = 0;
  /// Called before an array is refused because evictions do not make enough room for it. Raises limit() by so many
  /// bytes, or returns false. The default is for budgets that do not grow.
  [[nodiscard]] virtual bool grow(std::size_t bytes) {
    (void)bytes;
    return false;
  }
};

/// A fixed number of bytes that is not shared with other processes.
class fixed_budget : public budget {
 public:
  explicit fixed_budget(std::size_t bytes) : limit_(bytes) {}

  [[nodiscard]] std::size_t acquire(std::size_t bytes, std::size_t step) override {
    std::lock_guard const lock(mutex_);
    std::size_t const granted = std::min(bytes, limit_ - taken_) / step * step;
    taken_ += granted;
    return granted;
  }
  void give_back(std::size_t bytes) noexcept override {
    std::lock_guard const lock(mutex_);
    taken_ -= bytes;
  }
  [[nodiscard]] std::size_t wanted_back() const override { return 0; }
  [[nodiscard]] std::size_t limit() const override {
    std::lock_guard const lock(mutex_);
    return limit_;
  }
  /// Bytes that are acquired at present.
  [[nodiscard]] std::size_t taken() const {
    std::lock_guard const lock(mutex_);
    return taken_;
  }

 protected:
  void raise(std::size_t bytes) {
    std::lock_guard const lock(mutex_);
    limit_ += bytes;
  }

 private:
  mutable std::mutex mutex_;
  std::size_t limit_;
  std::size_t taken_ = 0;
};

/// Grows where a fixed budget refuses an array, so it finds out how much memory some work needs: limit() at its end.
class growing_budget final : public fixed_budget {
 public:
  using fixed_budget::fixed_budget;
  [[nodiscard]] bool grow(std::size_t bytes) override {
    raise(bytes);
    return true;
  }
};

}  // namespace wyrm::alloc::residency
