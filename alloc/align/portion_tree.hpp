// SPDX-License-Identifier: Apache-2.0
// The PortionTree of one VABlock (AlignMalloc, TPDS 2025, section V-B, Algorithms 1 and 2): the binary tree of 63 nodes
// over the 32 blocks of 64 KiB that the driver of unified memory fetches. A node is free if all its leaves are. Here
// only the bits of the leaves are stored, and those of the inner nodes follow from them: one word instead of
// FreeNodeArray.
//
// Eq. 3: the trees below the parents of two warptrees must not overlap, so that a page fault in one cannot fetch blocks
// of the other. So a warptree claims the leaves of its parent. Claims may overlap where a pool packs spaces into the
// padding, so each leaf counts its claims. The counts are beside the tree: a search reads the trees of many VABlocks,
// and 8 bytes of each.
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
  /// Of each leaf: at most 16 spaces that begin in it, one from before, and one around.
  using claim_counts = std::array<std::uint8_t, leaves>;

  /// The height of the warptree of so many leaves, 1 to 32.
  [[nodiscard]] static constexpr unsigned height_of(unsigned count) {
    return static_cast<unsigned>(std::bit_width(count - 1));
  }
  /// The leaves that a space of so many leaves claims: those below the parent of its warptree, or all.
  [[nodiscard]] static constexpr unsigned claim_of(unsigned count) {
    return count > leaves / 2 ? leaves : 2u << height_of(count);
  }

  /// The first leaf of the leftmost free node of this height, or none. O(height).
  [[nodiscard]] unsigned find(unsigned h) const {
    std::uint32_t begins = free_;  // bit i: the leaves i ... i + 2^k - 1 are free
    for (unsigned k = 0; k < h; ++k) begins &= begins >> (1u << k);
    begins &= static_cast<std::uint32_t>(0xffffffffu / ((std::uint64_t{1} << (1u << h)) - 1));
    return begins == 0 ? none : static_cast<unsigned>(std::countr_zero(begins));
  }
  /// The height of the highest free node, or none.
  [[nodiscard]] unsigned highest() const { return highest_; }
  [[nodiscard]] bool is_free(unsigned leaf) const { return (free_ >> leaf & 1) != 0; }

  /// claims: those of this tree, all 0 at first.
  void claim(claim_counts& claims, unsigned first, unsigned count) {
    for (unsigned leaf = first; leaf < first + count; ++leaf) ++claims[leaf];
    free_ &= ~mask(first, count);
    highest_ = find_highest();
  }
  /// Takes a claim() of these leaves back.
  void release(claim_counts& claims, unsigned first, unsigned count) {
    std::uint32_t unclaimed = 0;
    for (unsigned leaf = first; leaf < first + count; ++leaf) unclaimed |= std::uint32_t{--claims[leaf] == 0} << leaf;
    free_ |= unclaimed;
    highest_ = find_highest();
  }
  friend bool operator==(portion_tree const&, portion_tree const&) = default;

 private:
  [[nodiscard]] static std::uint32_t mask(unsigned first, unsigned count) { return (~0u >> (leaves - count)) << first; }
  [[nodiscard]] unsigned find_highest() const {
    if (free_ == ~0u) return height;
    for (unsigned h = height; h-- > 0;)
      if (find(h) != none) return h;
    return none;
  }

  std::uint32_t free_ = ~0u;
  unsigned highest_ = height;
};

}  // namespace wyrm::alloc
