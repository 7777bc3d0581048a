// SPDX-License-Identifier: Apache-2.0
// A memory manager that takes access to its ranges away while no work of the space runs. An operation that touches
// memory of the space outside of a guard ends the program with a signal.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "../../exec/error.hpp"
#include "../../exec/host_space.hpp"
#include "../../exec/memory_manager.hpp"

namespace wyrm::tests {

class protecting_manager final : public exec::memory_manager {
 public:
  static constexpr std::size_t no_limit = ~std::size_t{0};

  void begin() override {
    std::lock_guard const lock(mutex_);
    if (depth_++ == 0) protect_all(PROT_READ | PROT_WRITE);
  }
  void end() noexcept override {
    std::lock_guard const lock(mutex_);
    if (--depth_ == 0) protect_all(PROT_NONE);
  }

  void* reserve(std::size_t bytes, exec::use_rate) override {
    std::lock_guard const lock(mutex_);
    void* const base = plain_.reserve(bytes);
    committed_[base] = 0;
    return base;
  }
  void commit(void* base, std::size_t from, std::size_t to) override {
    std::lock_guard const lock(mutex_);
    plain_.commit(base, from, to);
    committed_[base] = to;
    if (depth_ == 0) mprotect(base, to, PROT_NONE);
  }
  void unreserve(void* base, std::size_t reserved, std::size_t committed) noexcept override {
    std::lock_guard const lock(mutex_);
    committed_.erase(base);
    plain_.unreserve(base, reserved, committed);
  }
  [[nodiscard]] std::size_t range_limit() const override { return plain_.memory_limit(); }

  void allocating(std::size_t bytes) override {
    std::lock_guard const lock(mutex_);
    ++requests_;
    if (bytes > refused_from_ || allocated_ > refused_from_ - bytes)
      throw error(error_code::out_of_memory, "the manager refuses the array");
    allocated_ += bytes;
  }
  void freed(std::size_t bytes) noexcept override {
    std::lock_guard const lock(mutex_);
    allocated_ -= bytes;
  }
  [[nodiscard]] std::size_t room_for_arrays() const override { return room_; }
  [[nodiscard]] std::size_t in_host_memory(void const* base, std::size_t bytes) const override {
    std::lock_guard const lock(mutex_);
    EXPECT_LE(bytes, committed_.at(const_cast<void*>(base)));
    return room_ < no_limit ? bytes : 0;
  }

  /// From now on all ranges are in host memory, and there is said to be room for so many bytes of arrays; but more than
  /// `refused_from` in total are refused.
  void limit_arrays(std::size_t bytes, std::size_t refused_from = no_limit) {
    room_ = bytes;
    refused_from_ = refused_from;
  }
  /// Requests for arrays so far.
  [[nodiscard]] std::size_t requests() const { return requests_; }
  /// Bytes of arrays beside the ranges, and the number of ranges.
  [[nodiscard]] std::size_t allocated() const { return allocated_; }
  [[nodiscard]] std::size_t ranges() const { return committed_.size(); }

 private:
  void protect_all(int access) {
    for (auto const& [base, bytes] : committed_)
      if (bytes > 0) mprotect(base, bytes, access);
  }

  exec::host_space plain_{1};
  mutable std::mutex mutex_;
  std::map<void*, std::size_t> committed_;  // bytes of each range
  std::size_t allocated_ = 0;
  std::size_t room_ = no_limit;
  std::size_t refused_from_ = no_limit;
  std::size_t requests_ = 0;
  unsigned depth_ = 0;
};

}  // namespace wyrm::tests
