// SPDX-License-Identifier: Apache-2.0
// A model of unified virtual memory (UVM) that counts faults, batches and migrations, as described in "AlignMalloc:
// Warp-Aware Memory Rearrangement Aligned With UVM Prefetching for Large-Scale GPU Dynamic Allocations" (TPDS 2025,
// section II). docs/uvm_model.md lists its assumptions. Migration is in blocks of 64 KiB. 32 blocks are a VABlock of
// 2 MiB. The tree-based neighborhood prefetcher (TBN) has a full binary tree of 63 nodes over each VABlock. Faults are
// served in batches. Warps that still wait then raise their faults again. The model has no notion of time. For the
// host, one thread at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace wyrm::bench::uvm {

inline constexpr std::uint64_t page_bytes = 4096;  // what a fault names
inline constexpr std::uint64_t block_bytes = 64 * 1024;
inline constexpr unsigned vablock_blocks = 32;
inline constexpr std::uint64_t vablock_bytes = vablock_blocks * block_bytes;

struct options {
  unsigned threshold = 50;                   // percent, 0 to 100: a node with more of its blocks pulls in all others
  std::size_t batch = 256;                   // faults that are served at a time, at least 1
  std::uint64_t memory = ~std::uint64_t{0};  // bytes of the device, at least vablock_bytes
  // Whether a node also counts blocks that a node below it has just pulled in, as in the paper (Theorem 1). The driver
  // counts resident and faulting blocks only.
  bool cascade = true;
};

/// The blocks of the node with 2^level blocks that contains `leaf`. Bit i is block i of a VABlock.
[[nodiscard]] constexpr std::uint32_t blocks_of_node(unsigned leaf, unsigned level) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << (1u << level)) - 1) << (leaf >> level << level));
}

/// The blocks that are resident after the faults of a batch in a VABlock are served. From each faulting block up to the
/// root, a node that has more than `o.threshold` percent of its blocks gets the others.
[[nodiscard]] constexpr std::uint32_t serve(std::uint32_t resident, std::uint32_t faults, options const& o) {
  resident |= faults;
  std::uint32_t counted = resident;
  for (std::uint32_t left = faults; left != 0; left &= left - 1)
    for (unsigned level = 1; 1u << level <= vablock_blocks; ++level) {
      std::uint32_t const node = blocks_of_node(static_cast<unsigned>(std::countr_zero(left)), level);
      if (static_cast<unsigned>(std::popcount(counted & node)) * 100 > (o.threshold << level)) resident |= node;
      if (o.cascade) counted = resident;
    }
  return resident;
}

struct counts {
  std::uint64_t accesses = 0;
  std::uint64_t raised = 0;  // missing pages of each warp, again after each batch that left them out
  std::uint64_t served = 0;  // faults that were in a batch
  std::uint64_t batches = 0;
  std::uint64_t demanded = 0;         // blocks that migrated because of a fault
  std::uint64_t prefetched = 0;       // blocks that migrated without one
  std::uint64_t prefetched_used = 0;  // of these, accessed before they were evicted
  std::uint64_t evicted = 0;          // blocks
  std::uint64_t evictions = 0;        // VABlocks

  [[nodiscard]] std::uint64_t moved() const { return demanded + prefetched; }
  [[nodiscard]] std::uint64_t bytes_in() const { return moved() * block_bytes; }
  [[nodiscard]] std::uint64_t bytes_out() const { return evicted * block_bytes; }
  /// The fraction of the prefetched blocks, and of all migrated ones, that were accessed; 1 if there are none.
  [[nodiscard]] double prefetch_use() const { return fraction(prefetched_used, prefetched); }
  [[nodiscard]] double use() const { return fraction(demanded + prefetched_used, moved()); }

 private:
  static double fraction(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// The memory of the device, and the driver. A VABlock with a resident block occupies 2 MiB. To make room, the driver
/// evicts the VABlock whose last migration is the longest ago: it does not see accesses that hit.
class managed_memory {
 public:
  /// Throws std::invalid_argument if an option is out of its range.
  explicit managed_memory(options const& o) : options_(o) {
    if (o.threshold > 100) throw std::invalid_argument("uvm model: a threshold is at most 100 percent");
    if (o.batch == 0) throw std::invalid_argument("uvm model: a batch must have at least one fault");
    if (o.memory < vablock_bytes)
      throw std::invalid_argument("uvm model: the device needs memory for one VABlock, 2 MiB");
  }

  /// Whether the access hits. O(1).
  bool access(std::uint64_t address) {
    auto const at = vablocks_.find(address / vablock_bytes);
    std::uint32_t const block = bit_of(address);
    if (at == vablocks_.end() || (at->second.resident & block) == 0) return false;
    ++counts_.accesses;
    if ((at->second.unused & block) != 0) ++counts_.prefetched_used;
    at->second.unused &= ~block;
    return true;
  }

  /// Counts faults, and serves the first of them as one batch. The addresses are in the order in which the faults
  /// arrive.
  void fault(std::span<std::uint64_t const> addresses) {
    counts_.raised += addresses.size();
    addresses = addresses.first(std::min(addresses.size(), options_.batch));
    counts_.served += addresses.size();
    ++counts_.batches;
    std::vector<std::uint64_t> blocks;
    for (std::uint64_t const a : addresses) blocks.push_back(a / block_bytes);
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t i = 0; i < blocks.size();) {
      std::uint64_t const vablock = blocks[i] / vablock_blocks;
      std::uint32_t faults = 0;
      for (; i < blocks.size() && blocks[i] / vablock_blocks == vablock; ++i)
        faults |= 1u << blocks[i] % vablock_blocks;
      migrate(vablock, faults);
    }
  }

  /// The resident blocks of a VABlock, as bits.
  [[nodiscard]] std::uint32_t resident(std::uint64_t vablock) const {
    auto const at = vablocks_.find(vablock);
    return at == vablocks_.end() ? 0 : at->second.resident;
  }
  [[nodiscard]] counts const& counted() const { return counts_; }
  [[nodiscard]] std::size_t batch() const { return options_.batch; }

 private:
  struct state {
    std::uint32_t resident = 0;
    std::uint32_t unused = 0;                  // prefetched, and not accessed since
    std::list<std::uint64_t>::iterator place;  // in order_
  };

  static std::uint32_t bit_of(std::uint64_t address) { return 1u << address / block_bytes % vablock_blocks; }

  void migrate(std::uint64_t vablock, std::uint32_t faults) {
    auto at = vablocks_.find(vablock);
    if (at == vablocks_.end()) {
      if (vablocks_.size() == options_.memory / vablock_bytes) evict();
      order_.push_back(vablock);
      at = vablocks_.emplace(vablock, state{0, 0, std::prev(order_.end())}).first;
    } else {
      order_.splice(order_.end(), order_, at->second.place);
    }
    state& s = at->second;
    std::uint32_t const demanded = faults & ~s.resident;
    std::uint32_t const after = serve(s.resident, demanded, options_);
    std::uint32_t const prefetched = after & ~s.resident & ~demanded;
    counts_.demanded += static_cast<std::uint64_t>(std::popcount(demanded));
    counts_.prefetched += static_cast<std::uint64_t>(std::popcount(prefetched));
    s.resident = after;
    s.unused |= prefetched;
  }
  void evict() {
    auto const at = vablocks_.find(order_.front());
    counts_.evicted += static_cast<std::uint64_t>(std::popcount(at->second.resident));
    ++counts_.evictions;
    vablocks_.erase(at);
    order_.pop_front();
  }

  options options_;
  counts counts_;
  std::unordered_map<std::uint64_t, state> vablocks_;
  std::list<std::uint64_t> order_;  // VABlocks, that of the oldest last migration first
};

/// The accesses of a warp: in step s, lane l accesses addresses[s * lanes + l].
struct warp_trace {
  unsigned lanes;  // 1 to 32
  std::vector<std::uint64_t> addresses;
};

/// Plays the traces of all warps of a kernel. A lane whose access hits is done with the step, and a warp goes on when
/// all of its lanes are. Warps run until each has finished or waits; then a batch is served, which begins with the
/// faults of the warp after the last one that had a fault in a batch before. O(accesses + faults).
inline void play(std::span<warp_trace const> warps, managed_memory& memory) {
  struct progress {
    std::size_t step = 0;       // the index of its first access
    std::uint32_t waiting = 0;  // lanes that are not done with the step
  };
  std::vector<progress> at(warps.size());
  std::vector<std::uint64_t> faults;
  std::vector<std::size_t> raised_by;  // [fault]
  for (std::size_t first = 0;; first = raised_by[std::min(faults.size(), memory.batch()) - 1] + 1) {
    faults.clear();
    raised_by.clear();
    for (std::size_t k = 0; k < warps.size(); ++k) {
      std::size_t const w = (first + k) % warps.size();
      auto const& [lanes, addresses] = warps[w];
      auto& [step, waiting] = at[w];
      while (step < addresses.size()) {
        std::uint32_t const lanes_of_step = waiting != 0 ? waiting : ~0u >> (32 - lanes);
        waiting = 0;
        for (std::uint32_t left = lanes_of_step; left != 0; left &= left - 1)
          if (!memory.access(addresses[step + static_cast<std::size_t>(std::countr_zero(left))]))
            waiting |= left & ~(left - 1);
        if (waiting != 0) break;
        step += lanes;
      }
      std::size_t const own = faults.size();
      for (std::uint32_t left = waiting; left != 0; left &= left - 1) {
        // Lanes that access the same page raise one fault.
        std::uint64_t const page = addresses[step + static_cast<std::size_t>(std::countr_zero(left))] / page_bytes;
        if (std::find(faults.begin() + static_cast<std::ptrdiff_t>(own), faults.end(), page * page_bytes) !=
            faults.end())
          continue;
        faults.push_back(page * page_bytes);
        raised_by.push_back(w);
      }
    }
    if (faults.empty()) return;
    memory.fault(faults);
  }
}

}  // namespace wyrm::bench::uvm
