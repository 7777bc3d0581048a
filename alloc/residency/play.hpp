// SPDX-License-Identifier: Apache-2.0
// Plays a trace (trace.hpp) through a replacement policy: counts what a manager with a given number of device blocks
// would load, evict and compare. It runs anywhere, and moves no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "policy.hpp"
#include "trace.hpp"

namespace wyrm::alloc::residency {

/// Counts of blocks, but for `launches` and `waits`.
struct played {
  std::uint64_t launches = 0;
  std::uint64_t uses = 0;          // by launches
  std::uint64_t hits = 0;          // uses of blocks that were resident
  std::uint64_t loads = 0;         // uses of blocks that were copied to the device
  std::uint64_t in_place = 0;      // uses of blocks for which the launch itself left no room: read over the bus
  std::uint64_t evictions = 0;     // with or without a copy
  std::uint64_t written_back = 0;  // evictions with a copy
  std::uint64_t signatures = 0;    // blocks whose contents were compared
  std::uint64_t waits = 0;         // for a launch to finish, because launches used all blocks
  bool operator==(played const&) const = default;
  played& operator+=(played const& other) {
    for (auto const count : {&played::launches, &played::uses, &played::hits, &played::loads, &played::in_place,
                             &played::evictions, &played::written_back, &played::signatures, &played::waits})
      this->*count += other.*count;
    return *this;
  }
  /// Blocks copied in either direction.
  [[nodiscard]] std::uint64_t moved() const { return loads + written_back; }
};

namespace detail {

/// The manager of a trace. It loads the blocks of a launch when the launch is issued, in their order, and evicts one
/// block for each for which there is no room. If launches use all, it waits for the one that was issued first.
class played_manager final : public dirty_check {
 public:
  played_manager(trace const& events, policy& p, std::size_t capacity)
      : events_(events), policy_(p), capacity_(capacity), changes_(changes_of(events)) {}

  [[nodiscard]] played play() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      event const& e = events_[i];
      for (block_number const b : e.blocks) step(e, b);
      if (e.kind == event_kind::use) launch(e, changes_[i]);
      if (e.kind == event_kind::finish) finish(e.number);
    }
    return counts_;
  }

  void check(std::span<block_number const> blocks, std::span<bool> dirty) override {
    for (std::size_t i = 0; i < blocks.size(); ++i) dirty[i] = blocks_.at(blocks[i]).is_dirty;
    counts_.signatures += blocks.size();
  }

 private:
  struct block {
    object_number object = 0;
    bool is_resident = false;
    bool is_dirty = false;
    std::size_t running = 0;  // launches that use it
  };
  struct running_launch {
    launch_number number;
    std::vector<block_number> blocks;
  };

  /// For each event, which of its blocks a use really changes.
  static std::vector<std::vector<bool>> changes_of(trace const& events) {
    struct place {
      std::size_t event;
      std::size_t index;
    };
    std::vector<std::vector<bool>> changes(events.size());
    std::unordered_map<block_number, std::vector<place>> open;  // uses that nothing has been said about
    for (std::size_t i = 0; i < events.size(); ++i) {
      event const& e = events[i];
      if (e.kind == event_kind::use) changes[i].assign(e.blocks.size(), e.writes);
      for (std::size_t j = 0; j < e.blocks.size(); ++j) {
        if (e.kind == event_kind::use) {
          if (e.writes) open[e.blocks[j]].push_back({i, j});
          continue;
        }
        auto const found = open.find(e.blocks[j]);
        if (found == open.end()) continue;
        if (e.kind == event_kind::clean)
          for (place const& p : found->second) changes[p.event][p.index] = false;
        open.erase(found);
      }
    }
    return changes;
  }

  // An event of one block; uses follow in launch().
  void step(event const& e, block_number b) {
    block& x = blocks_[b];
    if (e.kind == event_kind::load) x.object = static_cast<object_number>(e.number);
    if (e.kind == event_kind::overwrite) {
      policy_.overwritten(b);
      leave(b, x);
    }
    if (e.kind == event_kind::release && x.is_resident) {
      policy_.removed(b);
      leave(b, x);
    }
    if (e.kind == event_kind::copy_out && x.is_resident) {
      policy_.copied_out(b);
      if (x.running == 0) x.is_dirty = false;
    }
  }

  void leave(block_number b, block& x) {
    if (x.is_resident) --resident_;
    x.is_resident = x.is_dirty = false;
    if (std::exchange(x.running, 0) > 0)
      for (running_launch& r : running_) std::erase(r.blocks, b);
  }

  void launch(event const& e, std::vector<bool> const& changed) {
    if (running_.empty() || running_.back().number != e.number) {
      running_.push_back({e.number, {}});
      ++counts_.launches;
    }
    counts_.uses += e.blocks.size();
    // First those that are resident, so that no other block of the launch takes their room.
    std::vector<std::size_t> absent;
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < e.blocks.size(); ++i)
      (blocks_[e.blocks[i]].is_resident ? present : absent).push_back(i);
    counts_.hits += present.size();
    for (std::size_t const i : present) use(e, e.blocks[i], changed[i]);
    for (std::size_t const i : absent) {
      block_number const b = e.blocks[i];
      if (!blocks_[b].is_resident && !make_room()) {
        ++counts_.in_place;
        continue;
      }
      if (!blocks_[b].is_resident) load(b);
      use(e, b, changed[i]);
    }
  }
  void load(block_number b) {
    policy_.loaded(b, blocks_[b].object);
    blocks_[b].is_resident = true;
    ++resident_;
    ++counts_.loads;
  }
  void use(event const& e, block_number b, bool changed) {
    policy_.used({&b, 1}, e.number, e.writes, e.hint);
    running_.back().blocks.push_back(b);
    ++blocks_[b].running;
    blocks_[b].is_dirty |= changed;
  }

  /// Whether there is room for a block now.
  bool make_room() {
    while (resident_ >= capacity_) {
      if (auto const v = policy_.next_victim(*this)) {
        evict(*v);
      } else {
        if (running_.size() < 2) return false;
        ++counts_.waits;
        finish(running_.front().number);
      }
    }
    return true;
  }
  void evict(victim const& v) {
    block& x = blocks_.at(v.block);
    if (!x.is_resident || x.running > 0 || (x.is_dirty && !v.write_back))
      throw error(error_code::corrupt,
                  "playing a residency trace: the policy evicts block " + std::to_string(v.block) +
                      (x.is_resident ? x.running > 0 ? ", which a launch uses" : ", and loses what was written"
                                     : ", which is not resident") +
                      "; this is a bug of the policy");
    policy_.removed(v.block);
    leave(v.block, x);
    ++counts_.evictions;
    if (v.write_back) ++counts_.written_back;
  }
  void finish(launch_number number) {
    auto const found =
        std::find_if(running_.begin(), running_.end(), [&](running_launch const& r) { return r.number == number; });
    if (found == running_.end()) return;  // it was waited for
    policy_.finished(number);
    for (block_number const b : found->blocks) --blocks_[b].running;
    running_.erase(found);
  }

  trace const& events_;
  policy& policy_;
  std::size_t capacity_;
  std::vector<std::vector<bool>> changes_;
  std::unordered_map<block_number, block> blocks_;
  std::deque<running_launch> running_;
  std::size_t resident_ = 0;
  played counts_;
};

}  // namespace detail

/// Plays a trace through a new policy with room for `capacity` blocks. O(log capacity) for each use of a block, and
/// what the policy takes. Throws error(bad_argument) for a capacity of 0, and what the policy throws about a trace that
/// is no trace of a manager; the policy is in an undefined state then. Throws error(corrupt) if the policy evicts a
/// block that is in use or loses writes.
[[nodiscard]] inline played play(trace const& events, policy& p, std::size_t capacity) {
  if (capacity == 0)
    throw error(error_code::bad_argument, "a residency trace is played with 0 blocks of device memory; give some");
  return detail::played_manager(events, p, capacity).play();
}

}  // namespace wyrm::alloc::residency
