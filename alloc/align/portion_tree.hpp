// SPDX-License-Identifier: Apache-2.0
// The PortionTree of one VABlock (AlignMalloc, TPDS 2025, section V-B, Algorithms 1 and 2): the binary tree of 63 nodes
// over the 32 blocks of 64 KiB that the driver of unified memory fetches. A node is free if all its leaves are. Here
// only the bits of the leaves are stored, and those of the inner nodes follow from them: one word instead of
// FreeNodeArray.
//
// Eq. 3: the trees below the parents of two warptrees must not overlap, so that a page fault in one cannot fetch blocks
// of the other. So a warptree claims the leaves of its parent.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace wyrm::alloc {

/// For the host. Not thread-safe.
class portion_tree {
 public:
  static constexpr unsigned leaves = 32;
  static constexpr unsigned height = 5;  // of the root; a node of height h has 2^h leaves
  static constexpr unsigned none = ~0u;

  /// The height of the warptree of so many leaves, 1 to 32.
  [[nodiscard]] static constexpr unsigned height_of(unsigned count) {
    return static_cast<unsigned>(std::bit_width(count - 1));
  }
  /// The leaves that a space of so many leaves claims: those below the parent of its warptree, or all.
  [[nodiscard]] static constexpr unsigned claim_of(unsigned count) {
    return count > leaves / 2 ? leaves : 2u << height_of(count);
  }
  /// `count` leaves from `first` on, as a bit of each. count: at least 1.
  [[nodiscard]] static constexpr std::uint32_t mask(unsigned first, unsigned count) {
    return (~0u >> (leaves - count)) << first;
  }

  /// The first leaf of the leftmost free node of this height, or none. O(height).
  [[nodiscard]] unsigned find(unsigned h) const {
    std::uint32_t begins = free_;
    for (unsigned k = 1; k <= h; ++k) begins = parents(begins, k);
    return begins == 0 ? none : static_cast<unsigned>(std::countr_zero(begins));
  }
  /// The height of the highest free node, or none.
  [[nodiscard]] unsigned highest() const { return highest_; }
  [[nodiscard]] bool is_free(unsigned leaf) const { return (free_ >> leaf & 1) != 0; }

  void claim(std::uint32_t leaf_mask) { set(free_ & ~leaf_mask); }
  void release(std::uint32_t leaf_mask) { set(free_ | leaf_mask); }
  friend bool operator==(portion_tree const&, portion_tree const&) = default;

 private:
  // From the first leaves of the free nodes of height k - 1, those of height k. A node of this height begins at each
  // 2^k-th leaf.
  [[nodiscard]] static std::uint32_t parents(std::uint32_t begins, unsigned k) {
    auto const each = static_cast<std::uint32_t>(0xffffffffu / ((std::uint64_t{1} << (1u << k)) - 1));
    return begins & begins >> (1u << (k - 1)) & each;
  }
  void set(std::uint32_t free) {
    free_ = free;
    highest_ = free == 0 ? none : 0;
    for (unsigned h = 1; h <= height && (free = parents(free, h)) != 0; ++h) highest_ = h;
  }

  std::uint32_t free_ = ~0u;
  unsigned highest_ = height;
};

/// How many spaces claim each leaf of a VABlock. Claims overlap only where a pool packs spaces into the padding: of a
/// leaf, at most 16 of spaces that begin in it, one of a space from before, and one of a warptree around it.
class claim_counts {
 public:
  void add(unsigned first, unsigned count) {
    for (unsigned leaf = first; leaf < first + count; ++leaf) ++counts_[leaf];
  }
  /// Takes an add() back. The leaves that nothing claims any more, as a bit of each.
  [[nodiscard]] std::uint32_t remove(unsigned first, unsigned count) {
    std::uint32_t unclaimed = 0;
    for (unsigned leaf = first; leaf < first + count; ++leaf) unclaimed |= std::uint32_t{--counts_[leaf] == 0} << leaf;
    return unclaimed;
  }
  friend bool operator==(claim_counts const&, claim_counts const&) = default;

 private:
  std::array<std::uint8_t, portion_tree::leaves> counts_{};
};

}  // namespace wyrm::alloc
