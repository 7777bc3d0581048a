// SPDX-License-Identifier: Apache-2.0
// LRU-COST ("GDM: Device Memory Management for GPGPU Computing", SIGMETRICS 2014, section 4.4): the lowest part of an
// LRU stack, the COST section, is sorted by what eviction costs. The block at its bottom goes first. When the section
// is empty, it is filled with the lowest blocks of the LRU section that no launch uses, and their contents are compared
// with their copies in host memory, in at most two calls of the dirty_check.
//
// The order in the COST section, from the bottom; within each rank the block whose last use is oldest goes first:
//   clean            eviction copies nothing
//   dirty            eviction writes the block back
//   copy expected    a transfer to the host will probably make it clean: compared only when its turn comes
//   overwrite expected   a transfer from the host will probably replace it: compared only when its turn comes
// A block is expected to be copied out or overwritten if this has happened to it before, and if it has not reached the
// bottom since without that. The history of a block number remains when the block is removed, which costs at most a
// wrong prediction.
//
// Departures from the paper: a block is known to be clean without a comparison if no launch since it was loaded could
// write it. A block that becomes clean in the COST section goes to the clean ones by its last use, and not below them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../exec/error.hpp"
#include "policy.hpp"
#include "recency_stack.hpp"

namespace wyrm::alloc::residency {

struct lru_cost_options {
  double selection_factor = 0.2;  // largest part of the stack in the COST section, in (0, 1]; at least one block
  // Heuristics that save comparisons:
  bool uniformity = true;                 // if first, middle and last block of an object were dirty, all others are
  bool overwrite_elimination = true;      // blocks that will probably be overwritten go last, not compared
  bool double_transfer_avoidance = true;  // what was copied out is clean; what probably will be goes late, not compared
};

/// O(log n) per block and operation, n: resident blocks; filling the COST section with k blocks takes O(k log n), and
/// next_victim() is O(log n) otherwise. The blocks of an object are in the order of their numbers.
class lru_cost final : public policy {
 public:
  static constexpr char const* name = "lru-cost";

  /// Throws error(bad_argument) for a selection factor that is not in (0, 1].
  explicit lru_cost(lru_cost_options const& o = {}) : options_(o) {
    if (!(o.selection_factor > 0 && o.selection_factor <= 1))
      throw error(error_code::bad_argument, "lru-cost: the selection factor is " + std::to_string(o.selection_factor) +
                                                "; give one above 0, and at most 1");
  }

  void loaded(block_number b, object_number object) override {
    reserve(b);
    members& all = objects_[object];
    if (!blocks_[b].is_member || blocks_[b].object != object) detail::make_room(all.blocks, 1);
    stack_.load(b);
    join(b, object, all);
    blocks_[b].contents = block_contents::clean;
    blocks_[b].clean_by_copy = false;
    forget_offer(b);
  }

  void used(std::span<block_number const> blocks, launch_number launch, bool writes, use_hint hint) override {
    stack_.use(blocks, launch, hint);
    for (block_number const b : blocks) {
      block& x = blocks_[b];
      forget_offer(b);
      if (!writes || x.contents != block_contents::clean) continue;
      x.contents = block_contents::unknown;
      x.clean_by_copy = false;
    }
  }

  void finished(launch_number launch) override { stack_.finish(launch); }

  void overwritten(block_number b) override {
    reserve(b);
    if (options_.overwrite_elimination) {
      if (is_deferred(b)) ++counts_.saved_by_overwrite;
      blocks_[b].overwrite_expected = true;
    }
    stack_.remove(b);
    forget_offer(b);
  }

  void copied_out(block_number b) override {
    stack_.require_resident(b, "a transfer to the host");
    if (!options_.double_transfer_avoidance) return;
    block& x = blocks_[b];
    x.copy_expected = true;
    if (!stack_.is_idle(b)) return;  // a launch may write it after the transfer
    if (is_deferred(b))
      ++counts_.saved_by_copy;
    else if (x.contents == block_contents::unknown)
      x.clean_by_copy = true;
    x.contents = block_contents::clean;
    if (stack_.rank_of(b) != recency_stack::lru_section) stack_.set_rank(b, rank_of(b));
  }

  void removed(block_number b) override {
    if (offered_ && offered_->block == b) ++(offered_->write_back ? counts_.evictions_dirty : counts_.evictions_clean);
    stack_.remove(b);
    forget_offer(b);
  }

  [[nodiscard]] std::optional<victim> next_victim(dirty_check& check) override {
    if (stack_.lowered() == 0) refill(check);
    auto const b = stack_.bottom();
    if (!b) return {};
    if (stack_.rank_of(*b) > dirty) {  // what was expected has not come in time
      if (blocks_[*b].contents == block_contents::unknown) compare({&*b, 1}, check);
      give_up_expectations(*b);
      stack_.set_rank(*b, rank_of(*b));
    }
    offered_ = victim{*b, blocks_[*b].contents == block_contents::dirty};
    return offered_;
  }

  [[nodiscard]] policy_statistics statistics() const override { return counts_; }

 private:
  enum cost : recency_stack::rank { clean, dirty, copy_expected, overwrite_expected };

  struct block {
    object_number object = 0;
    block_contents contents = block_contents::clean;
    block_contents found = block_contents::unknown;  // when it was last in the COST section; not by assumption
    bool is_member = false;                          // of `object`
    bool clean_by_copy = false;                      // was unknown, and no comparison has been saved by that so far
    bool copy_expected = false;
    bool overwrite_expected = false;
  };
  struct members {
    std::vector<block_number> blocks;  // also of blocks that have joined another object, until they are sorted
    std::size_t count = 0;
    bool is_sorted = true;
  };

  void reserve(block_number b) {
    if (b >= blocks_.size()) blocks_.resize(std::size_t{b} + 1);
  }

  void join(block_number b, object_number object, members& all) {
    block& x = blocks_[b];
    if (x.is_member && x.object == object) return;
    if (x.is_member) {
      auto const old = objects_.find(x.object);
      old->second.is_sorted = false;
      if (--old->second.count == 0) objects_.erase(old);
    }
    x.is_member = true;
    x.object = object;
    x.found = block_contents::unknown;
    if (all.blocks.size() > 2 * all.count + 16) sort(all, object);  // most of them have joined another object
    all.is_sorted = all.is_sorted && (all.blocks.empty() || all.blocks.back() < b);
    all.blocks.push_back(b);
    ++all.count;
  }
  void sort(members& all, object_number object) {
    std::erase_if(all.blocks, [&](block_number b) { return blocks_[b].object != object; });
    std::sort(all.blocks.begin(), all.blocks.end());
    all.blocks.erase(std::unique(all.blocks.begin(), all.blocks.end()), all.blocks.end());
    all.is_sorted = true;
  }

  /// The first, the middle and the last block of an object.
  std::array<block_number, 3> samples(object_number object) {
    members& all = objects_.at(object);
    if (!all.is_sorted) sort(all, object);
    return {all.blocks.front(), all.blocks[all.blocks.size() / 2], all.blocks.back()};
  }
  bool is_sample(block_number b) {
    auto const three = samples(blocks_[b].object);
    return std::find(three.begin(), three.end(), b) != three.end();
  }
  bool is_uniformly_dirty(object_number object) {
    auto const three = samples(object);
    return std::all_of(three.begin(), three.end(),
                       [this](block_number b) { return blocks_[b].found == block_contents::dirty; });
  }

  [[nodiscard]] cost rank_of(block_number b) const {
    block const& x = blocks_[b];
    if (x.contents == block_contents::clean) return clean;
    if (x.overwrite_expected) return overwrite_expected;
    return x.copy_expected ? copy_expected : dirty;
  }
  /// Whether a block is in the COST section and has not been compared.
  [[nodiscard]] bool is_deferred(block_number b) const {
    return stack_.is_idle(b) && stack_.rank_of(b) != recency_stack::lru_section &&
           blocks_[b].contents == block_contents::unknown;
  }

  void compare(std::span<block_number const> which, dirty_check& check) {
    if (which.empty()) return;
    auto const is_dirty = std::make_unique<bool[]>(which.size());
    check.check(which, {is_dirty.get(), which.size()});
    counts_.signatures += which.size();
    for (std::size_t i = 0; i < which.size(); ++i) {
      block& x = blocks_[which[i]];
      x.contents = x.found = is_dirty[i] ? block_contents::dirty : block_contents::clean;
    }
  }

  void refill(dirty_check& check) {
    auto const most = static_cast<std::size_t>(options_.selection_factor * static_cast<double>(stack_.size()));
    std::vector<block_number> const section = stack_.lowest_of_lru(std::max<std::size_t>(most, 1));
    std::vector<block_number> now;
    std::vector<block_number> others;  // of objects whose samples are compared first
    for (block_number const b : section) {
      block& x = blocks_[b];
      if (x.contents == block_contents::clean) x.found = block_contents::clean;
      if (x.contents != block_contents::unknown || x.copy_expected || x.overwrite_expected) continue;
      (options_.uniformity && !is_sample(b) ? others : now).push_back(b);
    }
    compare(now, check);
    auto const assumed = std::stable_partition(
        others.begin(), others.end(), [this](block_number b) { return !is_uniformly_dirty(blocks_[b].object); });
    compare({others.begin(), assumed}, check);
    for (auto b = assumed; b != others.end(); ++b) {
      blocks_[*b].contents = block_contents::dirty;
      ++counts_.saved_by_uniformity;
    }
    for (block_number const b : section) {
      if (blocks_[b].clean_by_copy) ++counts_.saved_by_copy;
      blocks_[b].clean_by_copy = false;
      stack_.set_rank(b, rank_of(b));
    }
  }

  void give_up_expectations(block_number b) {
    block& x = blocks_[b];
    if (x.overwrite_expected) ++counts_.mispredicted_overwrites;
    if (x.copy_expected) ++counts_.mispredicted_copies;
    x.overwrite_expected = x.copy_expected = false;
  }

  void forget_offer(block_number b) {
    if (offered_ && offered_->block == b) offered_.reset();
  }

  lru_cost_options options_;
  recency_stack stack_;
  std::vector<block> blocks_;  // by number
  std::unordered_map<object_number, members> objects_;
  std::optional<victim> offered_;  // what next_victim() said last
  policy_statistics counts_;
};

}  // namespace wyrm::alloc::residency
