// SPDX-License-Identifier: Apache-2.0
// Memory that the lanes of a warp share as arrangement.hpp describes. Each lane uses its part as an array. In the paper
// a library function translates addresses (AlignMalloc, TPDS 2025, section V-A); here the handle of the block does
// this.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "arrangement.hpp"

namespace wyrm::alloc {

template <class T>
class lane_view;

/// The handle of a block: 32 bytes, for host and device. It does not own the memory, and is as thread-safe as a
/// pointer.
class interleaved_block {
 public:
  interleaved_block() = default;
  /// `base`: arranged.block_bytes() bytes, aligned to arranged_unit; to 64 KiB, so that tiles are those of UVM. Lanes
  /// that have requested 0 bytes may not be accessed.
  WYRM_HD interleaved_block(void* base, arrangement const& arranged)
      : base_(static_cast<std::byte*>(base)), arranged_(arranged) {}

  /// Whether there is memory.
  [[nodiscard]] WYRM_HD explicit operator bool() const { return base_ != nullptr; }
  [[nodiscard]] WYRM_HD std::byte* data() const { return base_; }
  [[nodiscard]] WYRM_HD arrangement const& arranged() const { return arranged_; }
  [[nodiscard]] WYRM_HD std::uint64_t bytes(unsigned lane) const { return arranged_.bytes(lane); }

  /// Element `index` of the memory of a lane as an array of T. Elements never straddle segments, because their size
  /// divides that of the smallest.
  template <class T>
  [[nodiscard]] WYRM_HD T& at(unsigned lane, std::uint64_t index) const {
    static_assert(arranged_unit % sizeof(T) == 0, "the size of an element must be a power of two up to 4096 bytes");
    return *reinterpret_cast<T*>(base_ + arranged_.offset(lane, index * sizeof(T)));
  }
  /// All whole elements of a lane.
  template <class T>
  [[nodiscard]] WYRM_HD lane_view<T> view(unsigned lane) const {
    return lane_view<T>(*this, lane);
  }
  /// The lane and the offset of an address in the block.
  [[nodiscard]] WYRM_HD lane_position position(void const* p) const {
    return arranged_.position(static_cast<std::uint64_t>(static_cast<std::byte const*>(p) - base_));
  }

 private:
  std::byte* base_ = nullptr;
  arrangement arranged_;
};

/// The memory of a lane as an array of T, like std::span but not contiguous. Iterators stay valid without the view.
template <class T>
class lane_view {
 public:
  class iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    iterator() = default;
    WYRM_HD iterator(interleaved_block const& block, unsigned lane, difference_type index)
        : block_(block), index_(index), lane_(lane) {}
    [[nodiscard]] WYRM_HD T& operator*() const { return (*this)[0]; }
    [[nodiscard]] WYRM_HD T* operator->() const { return &(*this)[0]; }
    [[nodiscard]] WYRM_HD T& operator[](difference_type n) const {
      return block_.template at<T>(lane_, static_cast<std::uint64_t>(index_ + n));
    }
    WYRM_HD iterator& operator+=(difference_type n) {
      index_ += n;
      return *this;
    }
    WYRM_HD iterator& operator-=(difference_type n) { return *this += -n; }
    WYRM_HD iterator& operator++() { return *this += 1; }
    WYRM_HD iterator& operator--() { return *this -= 1; }
    WYRM_HD iterator operator++(int) { return ++*this - 1; }
    WYRM_HD iterator operator--(int) { return --*this + 1; }
    WYRM_HD friend iterator operator+(iterator i, difference_type n) { return i += n; }
    WYRM_HD friend iterator operator+(difference_type n, iterator i) { return i += n; }
    WYRM_HD friend iterator operator-(iterator i, difference_type n) { return i -= n; }
    /// Both of the same view, in these and in comparisons.
    WYRM_HD friend difference_type operator-(iterator const& a, iterator const& b) { return a.index_ - b.index_; }
    WYRM_HD friend bool operator==(iterator const& a, iterator const& b) { return a.index_ == b.index_; }
    WYRM_HD friend auto operator<=>(iterator const& a, iterator const& b) { return a.index_ <=> b.index_; }

   private:
    interleaved_block block_;
    difference_type index_ = 0;
    unsigned lane_ = 0;
  };

  WYRM_HD lane_view(interleaved_block const& block, unsigned lane) : block_(block), lane_(lane) {}

  [[nodiscard]] WYRM_HD std::uint64_t size() const { return block_.bytes(lane_) / sizeof(T); }
  [[nodiscard]] WYRM_HD bool empty() const { return size() == 0; }
  [[nodiscard]] WYRM_HD T& operator[](std::uint64_t index) const { return block_.template at<T>(lane_, index); }
  [[nodiscard]] WYRM_HD iterator begin() const { return {block_, lane_, 0}; }
  [[nodiscard]] WYRM_HD iterator end() const { return {block_, lane_, static_cast<std::ptrdiff_t>(size())}; }

 private:
  interleaved_block block_;
  unsigned lane_;
};

}  // namespace wyrm::alloc
