// SPDX-License-Identifier: Apache-2.0
// The placement of memory by the host in AlignMalloc (TPDS 2025, sections V-B and VI-B): VABlocks of 2 MiB, the unit
// within which the driver of unified memory prefetches, each with a PortionTree, and OR-trees over all VABlocks. The
// space of a warp is a run of pages of 4 KiB:
//  - up to 2 MiB, a warptree of 2^i blocks of 64 KiB below a free node of twice that size, so that Eq. 3 holds: in the
//    first VABlock in use that has such a node, else in the first whole one;
//  - beyond 2 MiB, whole VABlocks in a row; of the last one only the warptree of the rest.
//
// Departures from the paper: there, warptrees are in a part of the address space of 2,048 VABlocks; here, in any
// VABlock, which is whole again when its last space is freed. There, the rest of a large space is elsewhere, because
// every access is translated; here a space is contiguous. Beyond the paper: if no place keeps spaces apart, a space is
// put into the padding, at the first run of free pages, unless `pack` is false. So a pool can be filled.
//
// All other spaces begin at a leaf. What only packed ones need is computed when the first space is packed. Until then,
// a request changes some words of arrays with few bytes per leaf, which stay in the cache of the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../allocator.hpp"
#include "../extent/or_tree.hpp"
#include "portion_tree.hpp"
#include "run_tree.hpp"

namespace wyrm::alloc {

/// For the host. Not thread-safe.
class portion_space {
 public:
  static constexpr std::uint32_t leaf_pages = 16;
  static constexpr std::uint32_t block_pages = leaf_pages * portion_tree::leaves;
  static constexpr std::uint32_t none = or_tree::none;

  /// pages: a multiple of leaf_pages, at least one.
  portion_space(std::uint32_t pages, bool pack)
      : pack_(pack), lengths_(leaves_of(pages)), large_(blocks_of(pages)), blocks_(blocks_of(pages)) {
    for (unsigned h = 0; h <= portion_tree::height; ++h) by_height_.emplace_back(blocks_of(pages));
    if (unsigned const rest = leaves_beyond(); rest > 0)
      blocks_.back().claim(portion_tree::mask(portion_tree::leaves - rest, rest));
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) list(b);
  }

  [[nodiscard]] std::uint32_t pages() const { return static_cast<std::uint32_t>(lengths_.size()) * leaf_pages; }
  [[nodiscard]] std::uint32_t used() const { return used_; }
  /// The most pages that were used at the same time.
  [[nodiscard]] std::uint32_t peak() const { return peak_; }
  /// The pages of the space that begins here; 0: none does.
  [[nodiscard]] std::uint32_t length(std::uint32_t first) const { return space_at(first).pages; }

  /// A space of so many pages, at least 1: its first page, or none. O(log pool); of more than 2 MiB, O(VABlocks / 64).
  /// O(pages) for the first space that is packed; since then also O(pages of the space / 64).
  [[nodiscard]] std::uint32_t allocate(std::uint32_t pages) {
    if (pages > this->pages() - used_) return none;
    if (std::uint32_t const first = find_apart(pages); first != none) return take(first, {pages, false});
    if (!pack_) return none;
    if (!padding_ && !open_padding()) return none;
    std::uint32_t const first = padding_->pages.find(pages);
    return first == none ? none : take(first, {pages, true});
  }
  /// Frees the space that begins here. False if none does. O(log pool + VABlocks of the space / 64), or as allocate().
  bool free(std::uint32_t first) {
    space const s = first < pages() ? space_at(first) : space{};
    if (s.pages == 0) return false;
    length_of(first, s) = 0;
    used_ -= s.pages;
    if (padding_) padding_->pages.set(first, s.pages, true);
    if (s.in_whole() > 0)
      by_height_[portion_tree::height].tree().set_free(first / block_pages, s.in_whole() / block_pages);
    for_each_claim(first, s, [&](std::uint32_t block, unsigned leaf, unsigned count) {
      change(block, [&](portion_tree& tree) {
        tree.release(padding_ ? padding_->claims[block].remove(leaf, count) : portion_tree::mask(leaf, count));
      });
    });
    return true;
  }

  /// Frees all spaces. O(pages).
  void reset() { *this = portion_space(pages(), pack_); }
  /// The same spaces in a pool of more pages. O(pages).
  [[nodiscard]] portion_space grown(std::uint32_t pages) const {
    portion_space larger(pages, pack_);
    if (padding_ && !larger.open_padding()) throw std::bad_alloc();
    for_each_space([&](std::uint32_t first, space const& s) { larger.take(first, s); });
    larger.peak_ = peak_;
    return larger;
  }

  /// Throws error(corrupt) unless spaces are disjoint and the trees follow from them. O(pages).
  void check() const {
    std::uint32_t end = 0;
    std::vector<bool> is_inside(blocks_.size());  // VABlocks of which a space has every page, without its last one
    for (std::uint32_t page = 0; page < pages(); ++page) {
      std::string const at = "page " + std::to_string(page);
      if (length(page) > 0) {
        ensure(page >= end, where, at + " begins a space inside another");
        ensure(length(page) <= pages() - page, where, at + " begins a space beyond the pool");
        end = page + length(page);
        std::uint32_t const first = page / block_pages;
        std::fill_n(is_inside.begin() + first, space_at(page).in_whole() / block_pages, true);
      }
      ensure(!padding_ || padding_->pages.is_free(page) == (page >= end), where,
             at + " is both free and used, or neither");
    }
    portion_space const same = grown(pages());
    ensure(used_ == same.used_, where, "the number of used pages is wrong");
    ensure(blocks_ == same.blocks_ && (!padding_ || padding_->claims == same.padding_->claims), where,
           "the portion tree of a VABlock does not follow from its spaces");
    for (std::uint32_t b = 0; b < blocks_.size(); ++b)
      for (unsigned h = 0; h <= portion_tree::height; ++h)
        ensure(by_height_[h].is_free(b) == (blocks_[b].highest() == h && !is_inside[b]), where,
               "VABlock " + std::to_string(b) + " is in the wrong OR-tree");
  }

 private:
  static constexpr char const* where = "align-malloc";

  struct space {
    std::uint32_t pages = 0;
    bool is_packed = false;
    // The pages in VABlocks of which it has every page, except for those of its last VABlock. No other space claims a
    // leaf of them, so only the OR-tree of whole VABlocks says that they are used: a bit of each.
    [[nodiscard]] std::uint32_t in_whole() const { return is_packed ? 0 : (pages - 1) / block_pages * block_pages; }
  };

  // Zeros; if many, they take no memory until they are changed. Throws std::bad_alloc.
  class zeros {
   public:
    explicit zeros(std::size_t count) : data_(static_cast<std::uint32_t*>(std::calloc(count, sizeof(std::uint32_t)))) {
      if (data_ == nullptr) throw std::bad_alloc();
    }
    [[nodiscard]] std::uint32_t& operator[](std::size_t i) const { return data_.get()[i]; }

   private:
    struct release {
      void operator()(std::uint32_t* p) const { std::free(p); }
    };
    std::unique_ptr<std::uint32_t, release> data_;
  };
  // An OR-tree with its memory.
  class bits {
   public:
    explicit bits(std::uint32_t units) : words_(or_tree::words(units)), tree_(words_.data(), units) {}
    bits(bits&&) noexcept = default;  // the words stay where they are
    bits& operator=(bits&&) noexcept = default;
    [[nodiscard]] or_tree const& tree() const { return tree_; }
    [[nodiscard]] bool is_free(std::uint32_t unit) const { return (words_[unit / 64] >> unit % 64 & 1) != 0; }

   private:
    std::vector<std::uint64_t> words_;
    or_tree tree_;
  };
  // What a pool needs from the first packed space on.
  struct padding {
    zeros lengths;                     // of packed spaces, by first page
    std::vector<claim_counts> claims;  // by VABlock; not of the VABlocks that space::in_whole() counts
    run_tree pages;                    // that no space has

    void add_claims(std::uint32_t first, space const& s) {
      for_each_claim(first, s,
                     [this](std::uint32_t block, unsigned leaf, unsigned count) { claims[block].add(leaf, count); });
    }
  };

  [[nodiscard]] static std::uint32_t blocks_of(std::uint32_t pages) { return (pages + block_pages - 1) / block_pages; }
  [[nodiscard]] static std::uint32_t leaves_of(std::uint32_t pages) { return (pages + leaf_pages - 1) / leaf_pages; }
  // The leaves of the last VABlock that are not in the pool.
  [[nodiscard]] unsigned leaves_beyond() const {
    return blocks_of(pages()) * portion_tree::leaves - leaves_of(pages());
  }

  // A place where the space meets Eq. 3, or none.
  [[nodiscard]] std::uint32_t find_apart(std::uint32_t pages) {
    or_tree const& whole = by_height_[portion_tree::height].tree();
    std::uint32_t const count = (pages + block_pages - 1) / block_pages;
    if (count > 1) {
      std::uint32_t const first = whole.find(count);
      return first == none ? none : first * block_pages;
    }
    auto const parent = static_cast<unsigned>(std::countr_zero(portion_tree::claim_of(leaves_of(pages))));
    std::uint32_t block = none;  // the first VABlock in use with such a node
    for (unsigned h = parent; h < portion_tree::height; ++h)
      if (or_tree const& split = by_height_[h].tree(); !split.empty()) block = std::min(block, split.next_free(0));
    if (block == none) block = whole.next_free(0);
    return block == none ? none : block * block_pages + blocks_[block].find(parent) * leaf_pages;
  }
  std::uint32_t take(std::uint32_t first, space const& s) {
    length_of(first, s) = s.pages;
    used_ += s.pages;
    peak_ = std::max(peak_, used_);
    if (s.in_whole() > 0)
      by_height_[portion_tree::height].tree().set_used(first / block_pages, s.in_whole() / block_pages);
    for_each_claim(first, s, [&](std::uint32_t block, unsigned leaf, unsigned count) {
      change(block, [&](portion_tree& tree) { tree.claim(portion_tree::mask(leaf, count)); });
    });
    if (padding_) {
      padding_->pages.set(first, s.pages, false);
      padding_->add_claims(first, s);
    }
    return first;
  }
  // False if the host has no memory for it.
  [[nodiscard]] bool open_padding() {
    try {
      auto const used = [this](auto const& f) {
        for_each_space([&](std::uint32_t first, space const& s) { f(first, s.pages); });
      };
      padding p{zeros(pages()), std::vector<claim_counts>(blocks_.size()), run_tree(pages(), used)};
      unsigned const rest = leaves_beyond();
      p.claims.back().add(portion_tree::leaves - rest, rest);
      for_each_space([&](std::uint32_t first, space const& s) { p.add_claims(first, s); });
      padding_.emplace(std::move(p));
    } catch (std::bad_alloc const&) {
      return false;
    }
    return true;
  }

  // The space that begins at this page; of 0 pages: none does.
  [[nodiscard]] space space_at(std::uint32_t first) const {
    if (first % block_pages == 0 && large_[first / block_pages] != 0) return {large_[first / block_pages], false};
    if (first % leaf_pages == 0 && lengths_[first / leaf_pages] != 0) return {lengths_[first / leaf_pages], false};
    return padding_ ? space{padding_->lengths[first], true} : space{};
  }
  [[nodiscard]] std::uint32_t& length_of(std::uint32_t first, space const& s) {
    if (s.is_packed) return padding_->lengths[first];
    return s.in_whole() > 0 ? large_[first / block_pages] : lengths_[first / leaf_pages];
  }
  // Calls f(first page, space) for each space, in ascending order.
  template <class F>
  void for_each_space(F const& f) const {
    for (std::uint32_t first = 0; first < pages(); first += padding_ ? 1 : leaf_pages)
      if (space const s = space_at(first); s.pages > 0) f(first, s);
  }
  // Calls f(VABlock, its first leaf, leaves) for each VABlock with other leaves that the space claims.
  template <class F>
  static void for_each_claim(std::uint32_t first, space const& s, F const& f) {
    std::uint32_t leaf = (first + s.in_whole()) / leaf_pages;
    std::uint32_t const end = s.is_packed ? (first + s.pages - 1) / leaf_pages + 1
                                          : leaf + portion_tree::claim_of(leaves_of(s.pages - s.in_whole()));
    while (leaf < end) {
      std::uint32_t const block = leaf / portion_tree::leaves;
      std::uint32_t const here = std::min(end, (block + 1) * portion_tree::leaves) - leaf;
      f(block, leaf % portion_tree::leaves, here);
      leaf += here;
    }
  }
  // Changes the tree of a VABlock by f(tree). A VABlock is in the OR-tree of its highest free node.
  template <class F>
  void change(std::uint32_t block, F const& f) {
    unsigned const before = blocks_[block].highest();
    f(blocks_[block]);
    unsigned const after = blocks_[block].highest();
    if (before == after) return;
    if (before != portion_tree::none) by_height_[before].tree().set_used(block, 1);
    list(block);
  }
  void list(std::uint32_t block) {
    unsigned const h = blocks_[block].highest();
    if (h != portion_tree::none) by_height_[h].tree().set_free(block, 1);
  }

  bool pack_;
  std::uint32_t used_ = 0;
  std::uint32_t peak_ = 0;
  std::vector<std::uint32_t> lengths_;  // of spaces that are apart, up to 2 MiB, by first leaf
  std::vector<std::uint32_t> large_;    // of larger ones, by first VABlock
  std::vector<portion_tree> blocks_;    // without spaces that have every page of a VABlock
  std::vector<bits> by_height_;         // [h]: VABlocks whose highest free node has height h; the last: whole ones
  std::optional<padding> padding_;
};

}  // namespace wyrm::alloc
