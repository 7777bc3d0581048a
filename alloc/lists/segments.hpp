// SPDX-License-Identifier: Apache-2.0
// The memory of a list-based allocator (ScatterAlloc, InPar 2012, section 4) as consecutive segments. A segment is a
// header of 16 bytes and a block. It is used or free. Sizes are in units of 16 bytes, with the header.
//
// Segments are numbered by the unit in which their header is. The header of segment 0 is in the state of the pool, and
// its block begins where the pool begins: so a request can have the whole pool. The successor of a segment is where the
// segment ends, so there are no links between neighbours. A free segment has two links in the first 16 bytes of its
// block: it is in one bin of one free list (free_lists.hpp). The paper also keeps a link to the predecessor, which no
// operation of the paper needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../allocator.hpp"

namespace wyrm::alloc {

/// Size, state and free list of a segment in one word.
class segment_word {
 public:
  static constexpr unsigned units_bits = 37;
  static constexpr unsigned list_bits = 10;
  static_assert((std::uint64_t{1} << units_bits) > pool_limit / alignment + 1);

  WYRM_HD static segment_word used(std::uint64_t units, std::uint32_t list) { return segment_word(make(units, list)); }
  WYRM_HD static segment_word free(std::uint64_t units, std::uint32_t list) {
    return segment_word(make(units, list) | free_bit);
  }
  WYRM_HD explicit segment_word(std::uint64_t bits) : bits_(bits) {}

  [[nodiscard]] WYRM_HD std::uint64_t bits() const { return bits_; }
  [[nodiscard]] WYRM_HD std::uint64_t units() const { return bits_ & ((std::uint64_t{1} << units_bits) - 1); }
  [[nodiscard]] WYRM_HD bool is_free() const { return (bits_ & free_bit) != 0; }
  /// The free list that the segment is in, or returns to when it is freed.
  [[nodiscard]] WYRM_HD std::uint32_t list() const { return static_cast<std::uint32_t>(bits_ >> list_shift); }

 private:
  static constexpr std::uint64_t free_bit = std::uint64_t{1} << units_bits;
  static constexpr unsigned list_shift = units_bits + 1;
  WYRM_HD static std::uint64_t make(std::uint64_t units, std::uint32_t list) {
    return std::uint64_t{list} << list_shift | units;
  }
  std::uint64_t bits_;
};

/// The tag differs from place to place, and between any two resets: it tells a header from other bytes.
struct segment_header {
  std::uint64_t word;
  std::uint64_t tag;
};
static_assert(sizeof(segment_header) == alignment);

/// What belongs to the segments, but is not in the pool.
struct segment_root {
  segment_header first;  // of segment 0
  std::uint64_t epoch;   // differs between any two resets
};

/// Links of a free segment: the number of the next and of the previous one in its bin, plus 1; 0: there is none.
struct segment_links {
  std::uint64_t next;
  std::uint64_t previous;
};
static_assert(sizeof(segment_links) == alignment);

inline constexpr std::uint64_t no_segment = ~std::uint64_t{0};
inline constexpr std::uint64_t least_units = 2;  // of a segment: the header, and room for the links

/// The units of a segment for a request of so many bytes.
[[nodiscard]] WYRM_HD inline std::uint64_t segment_units(std::size_t bytes) {
  return 1 + (bytes > 0 ? (std::uint64_t{bytes} - 1) / alignment + 1 : 1);
}

/// The bins of a free list: bin b has the segments of 2^(b + 1) to 2^(b + 2) - 1 units, the last bin has all larger
/// ones. So each segment of a bin is larger than each one of the bins before it.
inline constexpr unsigned bins = 10;
[[nodiscard]] WYRM_HD inline unsigned bin_of(std::uint64_t units) {
  auto const b = static_cast<unsigned>(cuda::std::bit_width(units)) - 2;
  return b < bins ? b : bins - 1;
}
/// The bytes of the smallest block in a bin.
[[nodiscard]] constexpr std::size_t bin_bytes(unsigned bin) { return ((least_units << bin) - 1) * alignment; }

/// Access to headers, links and blocks.
class segments_ref {
 public:
  segments_ref(std::byte* base, std::size_t bytes, segment_root* root)
      : base_(base), units_(bytes / alignment + 1), root_(root) {}

  [[nodiscard]] WYRM_HD std::byte* base() const { return base_; }
  /// The units of all segments.
  [[nodiscard]] WYRM_HD std::uint64_t units() const { return units_; }
  [[nodiscard]] WYRM_HD std::size_t bytes() const { return (units_ - 1) * alignment; }
  [[nodiscard]] WYRM_HD std::byte* block(std::uint64_t i) const { return base_ + i * alignment; }
  /// The bytes of the pool that a segment of so many units takes.
  [[nodiscard]] WYRM_HD static std::uint64_t bytes_of(std::uint64_t i, std::uint64_t units) {
    return (units - (i == 0 ? 1 : 0)) * alignment;
  }

  /// The segment of a block at p; no_segment if no block can begin at p.
  [[nodiscard]] WYRM_HD std::uint64_t at(void const* p) const {
    auto const* const b = static_cast<std::byte const*>(p);
    if (b < base_ || b >= base_ + bytes()) return no_segment;
    auto const offset = static_cast<std::size_t>(b - base_);
    return offset % alignment == 0 ? offset / alignment : no_segment;
  }
  /// Whether segment i looks like a used one: its header has the tag of this place, and a possible size.
  [[nodiscard]] WYRM_HD bool looks_used(std::uint64_t i) const {
    if (header(i).tag != tag(i, root_->epoch)) return false;
    segment_word const w = word(i);
    return !w.is_free() && w.units() >= least_units && w.units() <= units_ - i;
  }

  [[nodiscard]] WYRM_HD segment_word word(std::uint64_t i) const {
    return segment_word(exec::atomic_ref<std::uint64_t>(header(i).word).load(exec::relaxed));
  }
  WYRM_HD void set_word(std::uint64_t i, segment_word w) const {
    exec::atomic_ref<std::uint64_t>(header(i).word).store(w.bits(), exec::relaxed);
  }
  /// Makes a header where there is none.
  WYRM_HD void make_header(std::uint64_t i, segment_word w) const {
    header(i).tag = tag(i, root_->epoch);
    set_word(i, w);
  }
  [[nodiscard]] WYRM_HD segment_links& links(std::uint64_t i) const {
    return *reinterpret_cast<segment_links*>(block(i));
  }

  [[nodiscard]] WYRM_HD static std::uint64_t tag(std::uint64_t i, std::uint64_t epoch) {
    std::uint64_t const mixed = ((i + 1) ^ (epoch << 40)) * 0x9e3779b97f4a7c15u;
    return mixed ^ (mixed >> 29);
  }

 private:
  [[nodiscard]] WYRM_HD segment_header& header(std::uint64_t i) const {
    return i == 0 ? root_->first : *reinterpret_cast<segment_header*>(block(i - 1));
  }

  std::byte* base_;
  std::uint64_t units_;
  segment_root* root_;
};

}  // namespace wyrm::alloc
