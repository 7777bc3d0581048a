// SPDX-License-Identifier: Apache-2.0
// The live blocks of an allocator whose memory can be anywhere, by address, for checked mode: a hash table with open
// addressing (linear probing). An entry whose block is free keeps the address and the size, so that a second free can
// be reported, until another block takes the entry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"

namespace wyrm::alloc::detail {

struct live_block {
  std::uint64_t address;  // 0: none; odd: of a block that is free
  std::uint64_t bytes;
  static constexpr std::uint64_t is_known = std::uint64_t{1} << 63;  // of bytes: the overflow of the block is recorded
};

/// For kernels. Thread-safe. Operations take expected O(1) time; the search for an address that is not in the table, up
/// to O(entries).
class live_table_ref {
 public:
  /// entries: a power of two, at least twice the number of blocks; nullptr: nothing is recorded.
  live_table_ref(live_block* table, std::uint64_t entries) : table_(table), entries_(entries) {}

  [[nodiscard]] WYRM_HD bool is_used() const { return table_ != nullptr; }
  WYRM_HD void insert(void const* p, std::uint64_t bytes) const {
    for (std::uint64_t i = first(p);; i = (i + 1) % entries_) {
      std::uint64_t before = at(i).load(exec::relaxed);
      bool const is_free = before == 0 || before % 2 == 1;
      if (!is_free || !at(i).compare_exchange_strong(before, address(p), exec::relaxed)) continue;
      exec::atomic_ref<std::uint64_t>(table_[i].bytes).store(bytes, exec::relaxed);
      return;
    }
  }
  /// Removes a live block. False if there is none at p; then `bytes` is the size of a free block that was there, or 0.
  [[nodiscard]] WYRM_HD bool remove(void const* p, std::uint64_t& bytes) const {
    bytes = 0;
    if (address(p) % 16 != 0) return false;  // an entry of a free block looks like such an address
    std::uint64_t i = first(p);
    for (std::uint64_t k = 0; k < entries_; ++k, i = (i + 1) % entries_) {
      std::uint64_t found = at(i).load(exec::relaxed);
      if (found == 0) return false;
      if (found != address(p) && found != (address(p) | 1)) continue;
      bytes = exec::atomic_ref<std::uint64_t>(table_[i].bytes).load(exec::relaxed);
      if (found == address(p) && at(i).compare_exchange_strong(found, address(p) | 1, exec::relaxed)) return true;
    }
    return false;
  }
  /// The size of the live block at p; 0 if there is none.
  [[nodiscard]] WYRM_HD std::uint64_t bytes(void const* p) const {
    if (address(p) % 16 != 0) return 0;
    std::uint64_t i = first(p);
    for (std::uint64_t k = 0, found; (found = at(i).load(exec::relaxed)) != address(p); i = (i + 1) % entries_)
      if (found == 0 || ++k == entries_) return 0;
    return exec::atomic_ref<std::uint64_t>(table_[i].bytes).load(exec::relaxed) & ~live_block::is_known;
  }
  /// Marks the overflow of a block as known. Its size from remove() has the mark.
  WYRM_HD void mark(std::size_t i) const { table_[i].bytes |= live_block::is_known; }
  [[nodiscard]] WYRM_HD live_block entry(std::size_t i) const { return table_[i]; }

 private:
  WYRM_HD static std::uint64_t address(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }
  [[nodiscard]] WYRM_HD std::uint64_t first(void const* p) const {
    return (address(p) / 16 * 0x9e3779b97f4a7c15u >> 20) % entries_;
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> at(std::uint64_t i) const {
    return exec::atomic_ref<std::uint64_t>(table_[i].address);
  }

  live_block* table_;
  std::uint64_t entries_;
};

struct move_live_blocks {
  live_table_ref from;
  live_table_ref to;
  WYRM_HD void operator()(std::size_t i) const {
    live_block const b = from.entry(i);
    if (b.address != 0 && b.address % 2 == 0) to.insert(reinterpret_cast<void const*>(b.address), b.bytes);
  }
};

/// Owner of the table. Its functions run on the host while no kernel uses the pool.
template <class Space>
class live_table {
 public:
  explicit live_table(Space const& space) : space_(space), table_(space) {}
  /// Makes room for so many blocks. Refs become invalid.
  void cover(std::size_t blocks) {
    std::size_t const entries = std::bit_ceil(2 * std::max<std::size_t>(blocks, 32));
    if (entries <= table_.size()) return;
    exec::buffer<live_block, Space> larger(space_, entries);
    space_.fill(larger.data(), 0, larger.bytes());
    exec::for_each(space_, table_.size(), move_live_blocks{ref(), {larger.data(), entries}});
    space_.synchronize();
    std::swap(table_, larger);
  }
  [[nodiscard]] live_table_ref ref() const { return {table_.data(), table_.size()}; }
  [[nodiscard]] std::size_t size() const { return table_.size(); }
  [[nodiscard]] std::size_t bytes() const { return table_.bytes(); }

 private:
  Space space_;
  exec::buffer<live_block, Space> table_;
};

}  // namespace wyrm::alloc::detail
