// SPDX-License-Identifier: Apache-2.0
// A replacement policy that evicts the least recently used block, and fails the test if the manager breaks the contract
// of policies. And a budget that can change.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../../../alloc/residency/budget.hpp"
#include "../../../alloc/residency/options.hpp"
#include "../../../alloc/residency/policy.hpp"

namespace wyrm::tests {

class checked_lru final : public alloc::residency::policy {
 public:
  using number = alloc::residency::block_number;
  using launch_number = alloc::residency::launch_number;

  ~checked_lru() override {
    EXPECT_TRUE(blocks_.empty());
    EXPECT_TRUE(living_.empty());
  }
  void loaded(number n, alloc::residency::object_number) override {
    EXPECT_TRUE(blocks_.emplace(n, entry{last_, 0, contents::clean}).second);
  }
  void used(std::span<number const> blocks, launch_number launch, bool writes, alloc::residency::use_hint) override {
    EXPECT_FALSE(blocks.empty());
    EXPECT_GT(launch, last_);
    last_ = launch;
    for (number const n : blocks) {
      entry& e = blocks_.at(n);
      e.last = launch;
      ++e.users;
      if (writes) e.state = contents::unknown;
    }
    living_[launch].assign(blocks.begin(), blocks.end());
  }
  void finished(launch_number launch) override {
    for (number const n : living_.at(launch)) --blocks_.at(n).users;
    living_.erase(launch);
  }
  void overwritten(number n) override {
    if (blocks_.contains(n)) removed(n);
  }
  void copied_out(number n) override {
    if (blocks_.at(n).users == 0) blocks_.at(n).state = contents::clean;
  }
  void removed(number n) override {
    EXPECT_EQ(blocks_.at(n).users, 0u);
    blocks_.erase(n);
  }
  std::optional<alloc::residency::victim> next_victim(alloc::residency::dirty_check& check) override {
    auto oldest = blocks_.end();
    for (auto i = blocks_.begin(); i != blocks_.end(); ++i)
      if (i->second.users == 0 && (oldest == blocks_.end() || i->second.last < oldest->second.last)) oldest = i;
    if (oldest == blocks_.end()) return std::nullopt;
    bool dirty = false;
    if (oldest->second.state == contents::unknown) {
      number const n = oldest->first;
      check.check({&n, 1}, {&dirty, 1});
    }
    return alloc::residency::victim{oldest->first, dirty};
  }

 private:
  using contents = alloc::residency::block_contents;
  struct entry {
    launch_number last;
    unsigned users;
    contents state;
  };
  std::map<number, entry> blocks_;
  std::map<launch_number, std::vector<number>> living_;
  launch_number last_ = 0;
};

class elastic_budget final : public alloc::residency::budget {
 public:
  explicit elastic_budget(std::size_t bytes) : limit_(bytes) {}
  ~elastic_budget() override { EXPECT_EQ(taken_, 0u); }
  std::size_t acquire(std::size_t bytes, std::size_t step) override {
    std::lock_guard const lock(mutex_);
    std::size_t const granted = limit_ < taken_ ? 0 : std::min(bytes, limit_ - taken_) / step * step;
    taken_ += granted;
    return granted;
  }
  void give_back(std::size_t bytes) noexcept override {
    std::lock_guard const lock(mutex_);
    EXPECT_LE(bytes, taken_);
    taken_ -= bytes;
  }
  std::size_t wanted_back() const override {
    std::lock_guard const lock(mutex_);
    return taken_ > limit_ ? taken_ - limit_ : 0;
  }
  std::size_t limit() const override { return unlimited_; }
  void set_limit(std::size_t bytes) {
    std::lock_guard const lock(mutex_);
    limit_ = bytes;
  }
  std::size_t taken() const {
    std::lock_guard const lock(mutex_);
    return taken_;
  }

 private:
  static constexpr std::size_t unlimited_ = alloc::residency::unlimited;
  mutable std::mutex mutex_;
  std::size_t limit_;
  std::size_t taken_ = 0;
};

[[nodiscard]] inline alloc::residency::options options_with(std::shared_ptr<alloc::residency::budget> budget,
                                                            std::size_t block_bytes) {
  alloc::residency::options o;
  o.budget = std::move(budget);
  o.block_bytes = block_bytes;
  o.lazy_transfers = true;  // what is resident depends on launches only
  o.make_policy = [] { return std::make_unique<checked_lru>(); };
  return o;
}

}  // namespace wyrm::tests
