// SPDX-License-Identifier: Apache-2.0
// The interface of replacement policies for a residency manager: a policy selects the resident block to evict next, and
// decides whether its contents have to be written back. Policies handle only numbers of blocks and launches, and no
// memory, so recorded traces can be played through them on any machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace wyrm::alloc::residency {

using block_number = std::uint32_t;   // of a manager; a number is used again after its block was forgotten
using object_number = std::uint32_t;  // blocks of one object come from the same transfer
using launch_number = std::uint64_t;  // 1, 2, ...: launches in the order in which they were issued

/// What is known about a resident block and its copy in host memory.
enum class block_contents : std::uint8_t {
  unknown,  // a launch that may have written it has finished
  clean,    // both are the same: eviction copies nothing
  dirty,    // they differ: eviction writes the block back
};

/// Compares resident blocks with their copies in host memory.
class dirty_check {
 public:
  virtual ~dirty_check() = default;
  /// Sets `dirty[i]` to whether `blocks[i]` differs from its copy in host memory: from its contents when it was loaded,
  /// or was copied out since. May say dirty of a clean block, never clean of a dirty one (up to the collisions that
  /// signature.hpp discusses). No launch uses the blocks.
  virtual void check(std::span<block_number const> blocks, std::span<bool> dirty) = 0;
};

struct victim {
  block_number block;
  bool write_back;
};

/// How a launch uses blocks. Policies may ignore it.
enum class use_hint : std::uint8_t {
  normal,
  once,  // the data is not used again soon: the block goes to the bottom of the LRU order, above earlier such blocks
  hot,   // the data is used often: the order is as if the use were later, by as many block uses as blocks are resident
};

/// What a policy has counted since it was made.
struct policy_statistics {
  std::uint64_t evictions_clean = 0;      // blocks that left as next_victim() said, without a copy
  std::uint64_t evictions_dirty = 0;      // the same, written back
  std::uint64_t signatures = 0;           // blocks whose contents a dirty_check has compared
  std::uint64_t saved_by_uniformity = 0;  // comparisons not made, by the heuristic that made them needless
  std::uint64_t saved_by_overwrite = 0;
  std::uint64_t saved_by_copy = 0;
  std::uint64_t mispredicted_overwrites = 0;  // blocks that were kept for an overwrite that did not come in time
  std::uint64_t mispredicted_copies = 0;      // the same for a transfer to the host
  bool operator==(policy_statistics const&) const = default;
};

/// A replacement policy. The manager calls it under a lock: a policy needs none of its own. Calls about a block that is
/// not resident, where a resident one is required, throw error(bad_argument) and change nothing.
class policy {
 public:
  virtual ~policy() = default;

  /// A block of an object becomes resident. Its copy in host memory, if there is one, has the same contents. Requests
  /// no memory, and does not throw, for a block that was resident before, with the same object.
  virtual void loaded(block_number, object_number) = 0;
  /// A launch is issued that uses these resident blocks. Launches are announced in ascending order; the calls for one
  /// launch, which may have several kinds of use, follow each other. Until finished(launch), none of the blocks is a
  /// victim. `writes`: whether the launch may write them.
  virtual void used(std::span<block_number const> blocks, launch_number, bool writes,
                    use_hint hint = use_hint::normal) = 0;
  /// These resident blocks are about to be used, and are no victims until finished(launch): as used(), but no kernel
  /// is launched.
  virtual void keep(std::span<block_number const> blocks, launch_number launch) { used(blocks, launch, false); }
  /// Launches may finish in any order. Does nothing for a launch that was not announced.
  virtual void finished(launch_number) = 0;
  /// A transfer from the host replaced the whole block. If the block was resident, it is no longer, and no removed()
  /// follows. For prediction, also for a block that was not resident.
  virtual void overwritten(block_number) = 0;
  /// A transfer to the host brought the copy in host memory up to date: the resident block is clean.
  virtual void copied_out(block_number) = 0;
  /// The block is not resident any more: it was evicted as next_victim() said, or released by its owner.
  virtual void removed(block_number) = 0;

  /// The resident block that should go first, and whether it must be written back; nothing if launches use all. The
  /// manager evicts it and calls removed(), or asks again later.
  [[nodiscard]] virtual std::optional<victim> next_victim(dirty_check&) = 0;

  [[nodiscard]] virtual policy_statistics statistics() const { return {}; }
};

}  // namespace wyrm::alloc::residency
