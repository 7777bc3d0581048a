// SPDX-License-Identifier: Apache-2.0
// The entry of a page in the page usage table of ScatterAlloc (InPar 2012, section 5.2), and the requirements of a
// request for a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../allocator.hpp"

namespace wyrm::alloc {

/// The number of spots into which a page is split, and the number of spots that are used or reserved. A page is closed
/// (it belongs to alloc/extent, or has no owner), or split; a page that is opened is first split into one spot. An
/// empty page may be split again. The count of any page may be too large for a short time, because threads add to it
/// before they know whether the page is suitable.
class page_word {
 public:
  WYRM_HD constexpr explicit page_word(std::uint64_t bits = 0) : bits_(bits) {}
  WYRM_HD static constexpr page_word closed() { return page_word(0); }
  WYRM_HD static constexpr page_word split(std::uint32_t spots, std::uint32_t count) {
    return page_word(std::uint64_t{spots} << 32 | count);
  }

  [[nodiscard]] WYRM_HD constexpr std::uint64_t bits() const { return bits_; }
  [[nodiscard]] WYRM_HD constexpr std::uint32_t spots() const { return static_cast<std::uint32_t>(bits_ >> 32); }
  [[nodiscard]] WYRM_HD constexpr std::uint32_t count() const { return static_cast<std::uint32_t>(bits_); }
  [[nodiscard]] WYRM_HD constexpr bool is_closed() const { return spots() == 0; }
  [[nodiscard]] WYRM_HD constexpr bool is_usable() const { return count() < spots(); }
  [[nodiscard]] WYRM_HD constexpr bool is_empty() const { return !is_closed() && count() == 0; }
  [[nodiscard]] WYRM_HD constexpr page_word plus(std::uint32_t n) const { return page_word(bits_ + n); }
  [[nodiscard]] WYRM_HD constexpr page_word minus(std::uint32_t n) const { return page_word(bits_ - n); }

 private:
  std::uint64_t bits_;
};

/// Two numbers in one word, which are changed together; less or more than they should be, or negative, for a moment.
struct count_pair {
  std::int32_t usable;
  std::int32_t empty;
  WYRM_HD static count_pair of(std::uint64_t bits) {
    auto const usable = static_cast<std::int32_t>(bits);
    return {usable, static_cast<std::int32_t>((bits - static_cast<std::uint64_t>(std::int64_t{usable})) >> 32)};
  }
  [[nodiscard]] WYRM_HD std::uint64_t bits() const {
    return static_cast<std::uint64_t>(std::int64_t{usable}) + (static_cast<std::uint64_t>(std::int64_t{empty}) << 32);
  }
};

/// The sizes and factors of a pool; see scatter_parameters.
struct scatter_shape {
  std::uint32_t page_log2;              // of the bytes of a page
  std::uint32_t region_log2;            // of the pages of a region
  std::uint32_t block_regions;          // regions of a super block
  std::uint32_t size_factor;            // k_S
  std::uint64_t multiprocessor_factor;  // k_mp, in 1/65536
  std::uint32_t max_frag;               // in 1/256

  /// Units of 16 bytes per page: the most spots of a page.
  [[nodiscard]] WYRM_HD std::uint32_t page_units() const { return 1u << (page_log2 - 4); }
  [[nodiscard]] WYRM_HD std::uint32_t page_bytes() const { return 1u << page_log2; }
  /// Words of the bit field of a page.
  [[nodiscard]] WYRM_HD std::uint32_t words() const { return page_units() / 32; }
  /// The units of a spot in a page of so many spots.
  [[nodiscard]] WYRM_HD std::uint32_t spot_units(std::uint32_t spots) const { return page_units() / spots; }
  [[nodiscard]] WYRM_HD std::uint32_t region_pages() const { return 1u << region_log2; }
  [[nodiscard]] WYRM_HD std::uint32_t block_pages() const { return block_regions << region_log2; }
  [[nodiscard]] WYRM_HD std::uint32_t block_of(std::uint32_t page) const {
    return (page >> region_log2) / block_regions;
  }
  /// A region with at least so many empty pages has room.
  [[nodiscard]] WYRM_HD std::int32_t room() const { return static_cast<std::int32_t>(region_pages() / 4); }
};

/// Which pages serve a request: those that are split in `least` to `most` spots; a page of which nothing is used is
/// split in `most`. These are the numbers of spots whose size is S to S max_frag, where S is the requested size,
/// rounded up to the largest one for which a page has as many spots.
struct spot_request {
  std::uint32_t least;
  std::uint32_t most;

  /// bytes: 1 to the size of a page; align: a power of two up to the size of a page. A block is aligned to its size if
  /// that is a power of two.
  WYRM_HD static spot_request of(scatter_shape const& s, std::uint32_t bytes, std::uint32_t align) {
    bool const is_aligned = align > alignment;
    std::uint32_t const wanted = is_aligned ? cuda::std::bit_ceil(bytes < align ? align : bytes) : bytes;
    std::uint32_t const most = s.page_units() / ((wanted + 15) / 16);
    std::uint32_t const largest = s.spot_units(most) * s.max_frag / 256;
    return {is_aligned ? most : s.page_units() / (largest + 1) + 1, most};
  }
  [[nodiscard]] WYRM_HD bool fits(page_word w) const {
    return w.spots() >= least && w.spots() <= most && w.count() < w.spots();
  }
  /// Whether the page seems to be of use: with room, or to be split anew.
  [[nodiscard]] WYRM_HD bool suits(page_word w) const { return fits(w) || w.is_empty(); }
};

}  // namespace wyrm::alloc
