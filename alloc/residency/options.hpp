// SPDX-License-Identifier: Apache-2.0
// Options and statistics of a residency manager.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "budget.hpp"
#include "policy.hpp"

namespace wyrm::alloc::residency {

inline constexpr std::size_t unlimited = ~std::size_t{0};

/// Where a resident block and its copy in host memory lie.
struct block_places {
  std::byte const* device;
  std::byte const* host;  // nullptr: there is no copy
};
/// Returns the addresses of a resident block. For a contents_check, during its calls.
using find_block = std::function<block_places(block_number)>;

/// A dirty check that may store data for each resident block, such as a signature. The manager calls it under a lock.
class contents_check : public dirty_check {
 public:
  /// The copies of these blocks in host memory are the same as the blocks at present. No launch writes the blocks.
  virtual void remember(std::span<block_number const> blocks) = 0;
};

struct options {
  /// The device memory of the manager. Required; may be shared with other managers.
  std::shared_ptr<residency::budget> budget;
  /// Bytes of a block: a multiple of the granularity of the space.
  std::size_t block_bytes = std::size_t{4} << 20;
  /// Makes the replacement policy of a client: LRU-COST without one.
  std::function<std::unique_ptr<policy>()> make_policy;
  /// Makes the dirty check, for example by_signatures() of signature_check.hpp. Without one, the two copies of a block
  /// are compared where the host can read both, and a block counts as dirty where not.
  std::function<std::unique_ptr<contents_check>(find_block)> make_dirty_check;
  /// A resident block keeps its host memory, so that the eviction of a clean block copies nothing. Without it, the
  /// host holds no second copy of what is resident, and each eviction copies.
  bool keep_host_copy = true;
  /// Host memory that is created with the manager and kept for blocks, in bytes, rounded up to whole blocks. Otherwise
  /// the first evictions create it, which takes longer than the copies: 5 ms for 16 MiB of pinned memory (H200). The
  /// constructor of the manager throws error(out_of_memory) if the host has less.
  std::size_t prepared_host_bytes = 0;
  /// Host memory of freed blocks that is kept for new blocks, in bytes; at least prepared_host_bytes.
  std::size_t pooled_host_bytes = std::size_t{256} << 20;
  /// New blocks get host memory, and move to the device when a launch uses them (the lazy transfers of GDM). Without
  /// this option, they get device memory at once while the budget has unused bytes, and the host writes directly to it.
  bool lazy_transfers = false;
  /// Launches use blocks that do not fit in host memory. Without this option, a launch waits until all blocks that it
  /// uses are on the device, and evicts any other blocks for that, as in GDM. Then a thread must not begin a launch, or
  /// wait for a transfer, while it has an unfinished use: it gets error(bad_argument). client::space() is refused.
  bool in_place = true;
  /// A client becomes idle, and loses its memory to others step by step, when it has neither launched nor copied
  /// anything for longer than this, and for longer than it usually pauses.
  std::chrono::nanoseconds idle_after = std::chrono::milliseconds(5);
  /// A thread of the manager moves blocks that were written last to the device while no launch waits, and returns
  /// memory that the budget wants back.
  bool idle_fetch = false;
  /// Blocks that no current use names are inaccessible: a kernel that accesses one fails. For tests: the begin and the
  /// end of each use change the protection of its blocks.
  bool checked = false;
};

struct client_options {
  std::string name;
  /// Blocks of clients of lower or equal priority are evicted for this client, those of the lowest priority first.
  int priority = 0;
  /// The most device memory, in bytes. A client at its limit evicts its own blocks.
  std::size_t limit = unlimited;
};

/// What a launch does with a range: `write` also reads.
enum class access : std::uint8_t { read, write };

struct statistics {
  std::size_t resident_bytes = 0;  // backed by device memory
  std::size_t staged_bytes = 0;    // backed by host memory
  std::size_t host_bytes = 0;      // host memory: of staged blocks, and copies of resident ones
  std::uint64_t launches = 0;
  std::uint64_t moved_in_bytes = 0;   // by loads; transfers from the host are not counted
  std::uint64_t moved_out_bytes = 0;  // by evictions of dirty blocks
  std::uint64_t reloaded_bytes = 0;   // moved in again after an eviction
  std::uint64_t wasted_moves = 0;     // blocks that were moved in and evicted without a use
  std::uint64_t clean_evictions = 0;
  std::uint64_t dirty_evictions = 0;
  std::uint64_t failed_moves = 0;  // loads and evictions that were given up for want of memory
  double launch_seconds = 0;
  double move_seconds = 0;            // of all loads, evictions, and transfers
  double effective_move_seconds = 0;  // of these transfers, and of loads that are no reloads
  double signature_seconds = 0;       // of dirty checks

  /// The part of the time of launches, moves and dirty checks that went into launches and effective moves (GDM, section
  /// 6.4). GDM calls a move effective if the program makes it when it runs alone. Here these are transfers, and the
  /// first load of what was written: a lower bound, as programs that do not fit reload when they run alone, too. 1
  /// without any work.
  [[nodiscard]] double work_efficiency() const {
    double const all = launch_seconds + move_seconds + signature_seconds;
    return all > 0 ? (launch_seconds + effective_move_seconds) / all : 1;
  }
  statistics& operator+=(statistics const& other);
};

}  // namespace wyrm::alloc::residency
