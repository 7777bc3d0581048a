// SPDX-License-Identifier: Apache-2.0
// Plain LRU: the least recently used block is evicted first.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "policy.hpp"
#include "recency_stack.hpp"

namespace wyrm::alloc::residency {

/// What an LRU policy writes back.
enum class write_back : std::uint8_t {
  by_check,  // a victim whose contents are unknown is compared, one at a time; a clean one is not written back
  always,    // every victim, nothing is compared
};

struct lru_options {
  write_back writes = write_back::by_check;
  bool use_hints = true;  // false: all uses are use_hint::normal
};

/// O(log n) per block and operation, n: resident blocks.
class lru : public policy {
 public:
  static constexpr char const* name = "lru";
  explicit lru(lru_options const& o = {}) : options_(o) {}

  void loaded(block_number b, object_number) override {
    if (b >= contents_.size()) contents_.resize(std::size_t{b} + 1);
    stack_.load(b);
    contents_[b] = block_contents::clean;
    forget_offer(b);
  }
  void used(std::span<block_number const> blocks, launch_number launch, bool writes, use_hint hint) override {
    stack_.use(blocks, launch, options_.use_hints ? hint : use_hint::normal);
    for (block_number const b : blocks) {
      if (writes && contents_[b] == block_contents::clean) contents_[b] = block_contents::unknown;
      forget_offer(b);
    }
  }
  void finished(launch_number launch) override { stack_.finish(launch); }
  void overwritten(block_number b) override {
    stack_.remove(b);
    forget_offer(b);
  }
  void copied_out(block_number b) override {
    stack_.require_resident(b, "a transfer to the host");
    if (stack_.is_idle(b)) contents_[b] = block_contents::clean;  // else a launch may write it after the transfer
  }
  void removed(block_number b) override {
    if (offered_ && offered_->block == b) ++(offered_->write_back ? counts_.evictions_dirty : counts_.evictions_clean);
    stack_.remove(b);
    forget_offer(b);
  }
  [[nodiscard]] std::optional<victim> next_victim(dirty_check& check) override {
    auto const b = stack_.bottom();
    if (!b) return {};
    if (options_.writes == write_back::by_check && contents_[*b] == block_contents::unknown) {
      bool dirty = true;
      check.check({&*b, 1}, {&dirty, 1});
      ++counts_.signatures;
      contents_[*b] = dirty ? block_contents::dirty : block_contents::clean;
    }
    offered_ = victim{*b, options_.writes == write_back::always || contents_[*b] == block_contents::dirty};
    return offered_;
  }
  [[nodiscard]] policy_statistics statistics() const override { return counts_; }

 private:
  void forget_offer(block_number b) {
    if (offered_ && offered_->block == b) offered_.reset();
  }

  lru_options options_;
  recency_stack stack_;
  std::vector<block_contents> contents_;  // by block number
  std::optional<victim> offered_;         // what next_victim() said last
  policy_statistics counts_;
};

}  // namespace wyrm::alloc::residency
