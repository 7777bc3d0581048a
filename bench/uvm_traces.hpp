// SPDX-License-Identifier: Apache-2.0
// Where the memory of threads lies, with and without the two rearrangements of AlignMalloc (TPDS 2025, section V), and
// accesses to it, for uvm_model.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "../alloc/align/arrangement.hpp"
#include "uvm_model.hpp"

namespace wyrm::bench::uvm {

/// Places warptrees in VABlocks so that the trees of their parents do not overlap (Eq. 3; Algorithms 1 and 2): a
/// warptree of 2^i blocks gets the first free node of 2^(i+1) blocks, and is its left half. One of 32 blocks gets a
/// VABlock.
class warptree_placement {
 public:
  /// The first block of a warptree with at least `blocks` blocks (1 to 32). O(VABlocks).
  std::uint64_t place(unsigned blocks) {
    unsigned const own = std::bit_ceil(blocks);
    unsigned const level = std::min(static_cast<unsigned>(std::countr_zero(own)) + 1, 5u);
    for (std::uint64_t v = 0;; ++v) {
      if (v == used_.size()) used_.push_back(0);
      for (unsigned leaf = 0; leaf < vablock_blocks; leaf += 1u << level)
        if ((used_[v] & blocks_of_node(leaf, level)) == 0) {
          used_[v] |= blocks_of_node(leaf, level);
          return v * vablock_blocks + leaf;
        }
    }
  }
  [[nodiscard]] std::uint64_t vablocks() const { return used_.size(); }

 private:
  std::vector<std::uint32_t> used_;
};

/// intra: tiles of the lanes of a warp are interleaved. inter: the memory of a warp is whole VABlocks and a warptree;
/// otherwise the memory of one warp follows that of the one before.
struct rearrangement {
  bool intra = false;
  bool inter = false;
  alloc::lane_order order = alloc::lane_order::ascending;
};

/// The addresses of the memory of threads that have requested `bytes` each. Requests are rounded up to 4 KiB.
class thread_memory {
 public:
  thread_memory(rearrangement const& r, std::uint32_t threads, std::uint64_t bytes)
      : how_(r), threads_(threads), bytes_(bytes) {
    if (bytes == 0) throw std::invalid_argument("uvm model: a thread must request at least one byte");
    warptree_placement trees;
    std::uint64_t end = 0;
    for (std::uint32_t w = 0; w < warps(); ++w) {
      std::uint64_t const size = arranged(w).block_bytes();
      std::uint64_t const whole = r.inter ? size / vablock_bytes * vablock_bytes : size;
      auto const blocks = static_cast<unsigned>((size - whole + block_bytes - 1) / block_bytes);
      warps_.push_back({end, blocks == 0 ? 0 : trees.place(blocks) * block_bytes, whole});
      end += whole;
    }
    // Warptrees lie behind the whole VABlocks.
    for (auto& w : warps_) w.tree += end;
    bytes_spanned_ = end + trees.vablocks() * vablock_bytes;
  }

  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  [[nodiscard]] std::uint32_t warps() const { return (threads_ + 31) / 32; }
  [[nodiscard]] unsigned lanes(std::uint32_t warp) const { return std::min(threads_ - warp * 32, 32u); }
  /// What a thread has requested.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Addresses are below this. Includes padding.
  [[nodiscard]] std::uint64_t bytes_spanned() const { return bytes_spanned_; }

  [[nodiscard]] std::uint64_t address(std::uint32_t thread, std::uint64_t offset) const {
    std::uint64_t const in_warp = how_.intra ? arranged(thread / 32).offset(thread % 32, offset)
                                             : thread % 32 * alloc::arranged_units(bytes_) * page_bytes + offset;
    warp_memory const& w = warps_[thread / 32];
    return in_warp < w.whole_bytes ? w.whole + in_warp : w.tree + in_warp - w.whole_bytes;
  }

 private:
  struct warp_memory {
    std::uint64_t whole;        // address
    std::uint64_t tree;         // address of what does not fit there
    std::uint64_t whole_bytes;  // size of the first part
  };
  [[nodiscard]] alloc::arrangement arranged(std::uint32_t warp) const { return {bytes_, lanes(warp), how_.order}; }

  rearrangement how_;
  std::uint32_t threads_;
  std::uint64_t bytes_;
  std::uint64_t bytes_spanned_ = 0;
  std::vector<warp_memory> warps_;
};

/// Whose accesses go to the same offset: those of the lanes of a warp, or nobody's.
enum class lanes_access { in_step, independently };

/// A trace in which offset(random) is called for each step of a warp, or for each lane of each step.
template <class Offset>
[[nodiscard]] std::vector<warp_trace> trace_of(thread_memory const& memory, std::uint32_t steps, lanes_access how,
                                               std::uint64_t seed, Offset const& offset) {
  std::mt19937_64 random(seed);
  std::vector<warp_trace> warps;
  for (std::uint32_t w = 0; w < memory.warps(); ++w) {
    warps.push_back({memory.lanes(w), {}});
    for (std::uint32_t step = 0; step < steps; ++step) {
      std::uint64_t at = 0;
      for (unsigned lane = 0; lane < memory.lanes(w); ++lane) {
        if (lane == 0 || how == lanes_access::independently) at = offset(step, random);
        warps.back().addresses.push_back(memory.address(w * 32 + lane, at));
      }
    }
  }
  return warps;
}
/// Accesses to random words of the memory of a thread.
[[nodiscard]] inline std::vector<warp_trace> random_trace(thread_memory const& memory, std::uint32_t steps,
                                                          lanes_access how, std::uint64_t seed) {
  return trace_of(memory, steps, how, seed,
                  [&](std::uint32_t, std::mt19937_64& random) { return random() % memory.bytes() / 4 * 4; });
}

/// The counts of a kernel with this trace, on memory that holds nothing before.
[[nodiscard]] inline counts count(std::vector<warp_trace> const& trace, options const& o) {
  managed_memory memory(o);
  play(trace, memory);
  return memory.counted();
}

/// Fractions of the resident blocks that have memory of idle warps only, and of no thread.
struct active_half {
  double of_idle_warps;
  double of_nobody;
  counts counted;
};
/// Every second warp makes `steps` random accesses, with its lanes in step; the others are idle.
[[nodiscard]] inline active_half play_active_half(thread_memory const& memory, std::uint32_t steps,
                                                  std::uint64_t seed) {
  auto trace = random_trace(memory, steps, lanes_access::in_step, seed);
  for (std::size_t w = 1; w < trace.size(); w += 2) trace[w].addresses.clear();
  managed_memory device({});
  play(trace, device);
  enum owner : unsigned char { nobody, idle, active };
  std::vector<owner> owners(memory.bytes_spanned() / block_bytes + 1);  // [block]
  for (std::uint32_t thread = 0; thread < memory.threads(); ++thread)
    for (std::uint64_t at = 0; at < memory.bytes(); at += page_bytes) {
      owner& o = owners[memory.address(thread, at) / block_bytes];
      if (o != active) o = thread / 32 % 2 == 0 ? active : idle;
    }
  double resident[3] = {};
  for (std::size_t b = 0; b < owners.size(); ++b)
    if ((device.resident(b / vablock_blocks) & 1u << b % vablock_blocks) != 0) resident[owners[b]] += 1;
  auto const all = static_cast<double>(device.counted().moved());
  return {resident[idle] / all, resident[nobody] / all, device.counted()};
}

}  // namespace wyrm::bench::uvm
