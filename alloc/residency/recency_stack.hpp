// SPDX-License-Identifier: Apache-2.0
// The order in which resident blocks go: the stack of "GDM: Device Memory Management for GPGPU Computing" (SIGMETRICS
// 2014), section 4.4, Fig. 4. A policy may lower blocks from the LRU section to ranks below it. Blocks that launches
// use are resident, but have no place in the order until the last of these launches finishes; their place is then that
// of their last use, in whatever order launches finish.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "policy.hpp"

namespace wyrm::alloc::residency {

namespace detail {
/// Reserves room for n more values, so that adding them does not throw. It grows as push_back does: reserve() alone may
/// take the exact size, and then copies all values each time.
template <class T>
void make_room(std::vector<T>& values, std::size_t n) {
  if (values.capacity() - values.size() < n) values.reserve(std::max(2 * values.capacity(), values.size() + n));
}
}  // namespace detail

/// Not thread-safe. Operations take O(log n) per block, n: resident blocks. Only use() allocates memory, and load() for
/// a block that was not resident before. An operation that throws changes nothing.
class recency_stack {
 public:
  using rank = std::uint8_t;  // 0 is the bottom
  static constexpr rank lru_section = 255;

  /// Puts a block on the top. Throws error(bad_argument) if it is resident.
  void load(block_number b) {
    if (is_resident(b))
      throw error(error_code::bad_argument,
                  "residency: block " + std::to_string(b) + " is loaded, but it is resident; report its removal first");
    if (b >= slots_.size()) slots_.resize(std::size_t{b} + 1);
    slot& s = slots_[b];
    place const at{lru_section, next_, b};
    if (s.parked.empty()) {
      idle_.insert(at);
    } else {
      s.parked.value() = at;
      idle_.insert(std::move(s.parked));
    }
    s.at = at;
    ++next_;
    s.is_resident = true;
    ++size_;
  }

  /// A launch uses blocks, which move to the top: the last one of `blocks` is the topmost. Throws error(bad_argument)
  /// if a block is not resident, or if a later launch has been announced.
  void use(std::span<block_number const> blocks, launch_number launch, use_hint hint) {
    for (block_number const b : blocks) require_resident(b, "a use");
    if (launch < last_launch_)
      throw error(error_code::bad_argument, "residency: launch " + std::to_string(launch) + " is announced after " +
                                                std::to_string(last_launch_) + "; announce launches in their order");
    std::vector<use_of_block>& uses = launches_[launch];
    detail::make_room(uses, blocks.size());
    last_launch_ = launch;
    for (block_number const b : blocks) {
      slot& s = slots_[b];
      if (s.running++ == 0) {
        s.parked = idle_.extract(s.at);
        if (s.at.section < lru_section) --lowered_;
      }
      s.at = {lru_section, stamp(hint), b};
      uses.push_back({b, s.generation});
    }
  }

  /// Does nothing for a launch that is not known.
  void finish(launch_number launch) {
    auto const found = launches_.find(launch);
    if (found == launches_.end()) return;
    for (use_of_block const& u : found->second) {
      slot& s = slots_[u.block];
      if (s.generation != u.generation || --s.running > 0) continue;
      s.parked.value() = s.at;
      idle_.insert(std::move(s.parked));
    }
    launches_.erase(found);
  }

  /// Does nothing if the block is not resident. Launches that use the block no longer matter to it.
  void remove(block_number b) {
    if (!is_resident(b)) return;
    slot& s = slots_[b];
    if (s.running == 0) {
      s.parked = idle_.extract(s.at);
      if (s.at.section < lru_section) --lowered_;
    }
    s.running = 0;
    s.is_resident = false;
    ++s.generation;
    --size_;
  }

  /// Moves a block that no launch uses to a rank. The order within a rank is that of last uses.
  void set_rank(block_number b, rank to) {
    slot& s = slots_[b];
    if (s.at.section < lru_section) --lowered_;
    if (to < lru_section) ++lowered_;
    auto node = idle_.extract(s.at);
    s.at.section = to;
    node.value() = s.at;
    idle_.insert(std::move(node));
  }
  [[nodiscard]] rank rank_of(block_number b) const { return slots_[b].at.section; }

  [[nodiscard]] bool is_resident(block_number b) const { return b < slots_.size() && slots_[b].is_resident; }
  /// Whether no launch uses a resident block.
  [[nodiscard]] bool is_idle(block_number b) const { return is_resident(b) && slots_[b].running == 0; }
  /// Throws error(bad_argument), which names the block and what was said of it, if it is not resident.
  void require_resident(block_number b, char const* what) const {
    if (!is_resident(b))
      throw error(error_code::bad_argument, "residency: " + std::string(what) + " of block " + std::to_string(b) +
                                                ", which is not resident; report that it was loaded first");
  }

  /// The number of resident blocks, and of those below the LRU section.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t lowered() const { return lowered_; }

  /// The lowest block that no launch uses.
  [[nodiscard]] std::optional<block_number> bottom() const {
    if (idle_.empty()) return {};
    return idle_.begin()->block;
  }
  /// The lowest blocks of the LRU section that no launch uses, from the bottom, at most `most`. O(most + log n).
  [[nodiscard]] std::vector<block_number> lowest_of_lru(std::size_t most) const {
    std::vector<block_number> lowest;
    for (auto i = idle_.lower_bound({lru_section, 0, 0}); i != idle_.end() && lowest.size() < most; ++i)
      lowest.push_back(i->block);
    return lowest;
  }

 private:
  struct place {
    rank section;
    std::uint64_t stamp;
    block_number block;
    auto operator<=>(place const&) const = default;
  };
  struct use_of_block {
    block_number block;
    std::uint32_t generation;
  };
  struct slot {
    place at{};
    // Of a block that launches use, or that is not resident any more, so that finish() and load() allocate nothing.
    std::set<place>::node_type parked;
    std::uint32_t running = 0;     // uses by launches that have not finished
    std::uint32_t generation = 0;  // how often the block was removed
    bool is_resident = false;
  };

  std::uint64_t stamp(use_hint hint) {
    if (hint == use_hint::once) return next_once_++;
    return next_++ + (hint == use_hint::hot ? size_ : 0);
  }

  std::vector<slot> slots_;  // by block number
  std::set<place> idle_;
  std::map<launch_number, std::vector<use_of_block>> launches_;
  launch_number last_launch_ = 0;
  std::size_t size_ = 0;
  std::size_t lowered_ = 0;
  std::uint64_t next_once_ = 0;
  std::uint64_t next_ = std::uint64_t{1} << 63;  // above all stamps of blocks that are used once
};

}  // namespace wyrm::alloc::residency
