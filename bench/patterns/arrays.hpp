// SPDX-License-Identifier: Apache-2.0
// Makes the arrays of a workload. Each class has `array_type` and
//   bytes(threads, per_thread)   how much memory an array takes at most, with what aligns it
//   make(threads, per_thread)    an array; throws error(out_of_memory) where the memory does not suffice
//   memory()                     a range of addresses with all arrays, all of which is memory of the same kind
// The object must outlive the arrays, which its memory and its tables belong to.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../alloc/allocator.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "array.hpp"
#include "pattern.hpp"

namespace wyrm::bench {

/// The bytes that all arrays of a pattern take.
template <class Arrays, class Pattern>
[[nodiscard]] std::uint64_t bytes_for(Pattern const& p) {
  std::uint64_t sum = 0;
  for (unsigned a = 0; a < Pattern::arrays; ++a) sum += Arrays::bytes(p.size.threads, own_words(p, a));
  return sum;
}

/// Takes aligned pieces of a range of memory, from the front.
class carver {
 public:
  /// Pages of unified memory move in units of 64 KiB.
  static constexpr std::uint64_t alignment = alloc::arranged_tile;
  explicit carver(std::span<std::byte> memory) : memory_(memory) {}

  [[nodiscard]] static std::uint64_t rounded(std::uint64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  [[nodiscard]] std::byte* take(std::uint64_t bytes) {
    std::uint64_t const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    std::uint64_t const skipped = rounded(address) - address;
    if (bytes > memory_.size() || skipped > memory_.size() - bytes)
      throw error(error_code::out_of_memory, "an array of " + std::to_string(bytes) + " bytes does not fit the " +
                                                 std::to_string(memory_.size()) +
                                                 " bytes that are left; see bytes_for()");
    std::byte* const piece = memory_.data() + skipped;
    memory_ = memory_.subspan(skipped + bytes);
    return piece;
  }

 private:
  std::span<std::byte> memory_;
};

/// Arrays in one piece, in memory of any kind.
template <class Space>
class plain_arrays {
 public:
  using space_type = Space;
  using array_type = plain<word>;
  plain_arrays(Space const& space, std::span<std::byte> memory) : space_(space), memory_(memory), free_(memory) {}

  [[nodiscard]] static std::uint64_t bytes(std::uint64_t threads, std::uint64_t per_thread) {
    return carver::rounded(threads * per_thread * sizeof(word)) + carver::alignment;
  }
  [[nodiscard]] array_type make(std::uint64_t threads, std::uint64_t per_thread) {
    return {reinterpret_cast<word*>(free_.take(threads * per_thread * sizeof(word)))};
  }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  [[nodiscard]] Space const& space() const { return space_; }

 private:
  Space space_;
  std::span<std::byte> memory_;
  carver free_;
};

/// Arrays that are interleaved within each warp. Each thread has a multiple of 4 KiB of an array: less is rounded up.
template <class Space>
class interleaved_arrays {
 public:
  using space_type = Space;
  using array_type = interleaved<word>;
  interleaved_arrays(Space const& space, std::span<std::byte> memory) : space_(space), memory_(memory), free_(memory) {}

  [[nodiscard]] static std::uint64_t bytes(std::uint64_t threads, std::uint64_t per_thread) {
    return carver::rounded(warps(threads) * of_warp(per_thread).block_bytes()) + carver::alignment;
  }
  [[nodiscard]] array_type make(std::uint64_t threads, std::uint64_t per_thread) {
    alloc::arrangement const arranged = of_warp(per_thread);
    std::byte* const base = free_.take(warps(threads) * arranged.block_bytes());
    std::vector<alloc::interleaved_block> blocks;
    for (std::uint64_t w = 0; w < warps(threads); ++w) blocks.emplace_back(base + w * arranged.block_bytes(), arranged);
    division const parts(threads, per_thread);
    auto& table = tables_.emplace_back(space_, blocks.size());
    exec::copy_in(space_, table.data(), std::span<alloc::interleaved_block const>(blocks));
    return {table.data(), parts};
  }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  [[nodiscard]] Space const& space() const { return space_; }

 private:
  [[nodiscard]] static std::uint64_t warps(std::uint64_t threads) {
    return (threads + alloc::warp_lanes - 1) / alloc::warp_lanes;
  }
  [[nodiscard]] static alloc::arrangement of_warp(std::uint64_t per_thread) {
    return {per_thread * sizeof(word), alloc::warp_lanes, alloc::lane_order::ascending};
  }

  Space space_;
  std::span<std::byte> memory_;
  carver free_;
  std::vector<exec::buffer<alloc::interleaved_block, Space>> tables_;
};

namespace detail {
/// One lane per thread of the pattern: requests its block.
template <class Ref>
struct allocate_rows {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  std::uint64_t bytes;
  word** blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const block = ref.allocate(t, valid ? bytes : 0);
    if (valid) blocks[i] = static_cast<word*>(block);
  }
};
}  // namespace detail

/// Arrays with a block for each thread, which the thread requests in a kernel from the pool of an allocator.
template <class Allocator>
class rows_arrays {
 public:
  using space_type = typename Allocator::space_type;
  using array_type = rows<word>;
  using allocator_type = Allocator;
  explicit rows_arrays(space_type const& space, alloc::options const& pool) : space_(space), pool_(space, pool) {}

  /// Allocators may round requests up to 1 MiB up to powers of two. A sixteenth is for their own needs.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t threads, std::uint64_t per_thread) {
    std::uint64_t const block = per_thread * sizeof(word);
    std::uint64_t const rounded = block <= (1u << 20) ? std::bit_ceil(block) : block;
    return threads * (rounded + block / 16) + (std::uint64_t{8} << 20);
  }
  [[nodiscard]] array_type make(std::uint64_t threads, std::uint64_t per_thread) {
    division const parts(threads, per_thread);
    auto& table = tables_.emplace_back(space_, threads);
    std::uint64_t const block = per_thread * sizeof(word);
    using allocate = detail::allocate_rows<typename Allocator::view_type>;
    exec::for_each_lane<32>(space_, threads, allocate{pool_.view(), block, table.data()});
    std::vector<word*> const blocks = exec::copy_out(space_, table.data(), threads);
    auto const refused = std::count(blocks.begin(), blocks.end(), nullptr);
    if (refused > 0)
      throw error(error_code::out_of_memory, std::string("the pool of ") + Allocator::name + " refused " +
                                                 std::to_string(refused) + " of " + std::to_string(threads) +
                                                 " blocks of " + std::to_string(block) +
                                                 " bytes; use a larger pool, or fewer bytes");
    for (word* const p : blocks) {
      auto* const first = reinterpret_cast<std::byte*>(p);
      if (begin_ == nullptr || first < begin_) begin_ = first;
      end_ = std::max(end_, first + block);
    }
    return {table.data(), parts};
  }
  [[nodiscard]] std::span<std::byte> memory() const { return {begin_, end_}; }
  [[nodiscard]] space_type const& space() const { return space_; }

 private:
  space_type space_;
  Allocator pool_;
  std::vector<exec::buffer<word*, space_type>> tables_;
  std::byte* begin_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace wyrm::bench
