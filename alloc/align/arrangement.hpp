// SPDX-License-Identifier: Apache-2.0
// Where the memory of each lane of a warp lies in the block of the warp: the intra-warp rearrangement of "AlignMalloc:
// Warp-Aware Memory Rearrangement Aligned With UVM Prefetching for Large-Scale GPU Dynamic Allocations" (TPDS 2025,
// section V-A). The request of each lane is cut into tiles of 64 KiB, the unit in which UVM prefetches. The rest is
// rounded up to 4 KiB and cut into segments of 2^i x 4 KiB. Tiles are dealt out in rounds, one to each lane that still
// needs one, so that tile n of all lanes is contiguous. Behind the tiles are the segments of 32 KiB of all lanes, then
// those of 16, 8 and 4 KiB. Nothing is lost between them. With equal requests tile n of a lane is tile
// n x lanes + lane of the block, which is Eq. 1 and 2 of the paper.
//
// Departure: with different requests, lanes take their turns in descending order of their number of tiles. The place of
// a lane is then the same in each round. All functions are constant time unless they say otherwise, and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <span>

#include "../../exec/config.hpp"

namespace wyrm::alloc {

/// The order in which the lanes of a warp take their turns.
enum class lane_order : std::uint8_t {
  ascending,     // 0, 1, 2, 3, ...
  even_earlier,  // 0, 1, 2, 4, 6, ..., then 3, 5, 7, ... (the memory pattern order of section V-A)
};

/// The turn of lane `lane` of `lanes` (1 to 32), from 0 on, and the lane of a turn.
WYRM_HD constexpr unsigned place_of_lane(lane_order order, unsigned lane, unsigned lanes) {
  if (order == lane_order::ascending || lane < 2) return lane;
  return lane % 2 == 0 ? 1 + lane / 2 : 1 + (lanes - 1) / 2 + lane / 2;
}
WYRM_HD constexpr unsigned lane_at_place(lane_order order, unsigned place, unsigned lanes) {
  if (order == lane_order::ascending || place < 2) return place;
  unsigned const last_even = 1 + (lanes - 1) / 2;
  return place <= last_even ? 2 * (place - 1) : 2 * (place - last_even) + 1;
}

inline constexpr unsigned warp_lanes = 32;                           // the most lanes that share a block
inline constexpr std::size_t arranged_tile = std::size_t{64} << 10;  // bytes
inline constexpr std::size_t arranged_unit = std::size_t{4} << 10;   // bytes of the smallest segment
inline constexpr unsigned units_per_tile = arranged_tile / arranged_unit;
inline constexpr unsigned segment_sizes = 4;  // segments of 1, 2, 4 and 8 units

/// The units of a request of so many bytes. A block has the units of all of its lanes, and no others: at most 2^32, or
/// 16 TiB.
WYRM_HD constexpr std::uint64_t arranged_units(std::uint64_t bytes) {
  return (bytes + arranged_unit - 1) / arranged_unit;
}

/// Where the lanes of a warp have their memory if their requests differ; 1,200 bytes. For each lane, enter() writes
/// what no other lane writes, so that the lanes of a warp can fill a table in parallel:
///     table.bytes[lane] = bytes;   tile.sync();   table.enter(lane, lanes, order);   tile.sync();
struct lane_table {
  std::uint64_t bytes[warp_lanes];                    // [lane]: requested, may be 0
  std::uint64_t units;                                // of the block
  std::uint64_t later_tiles[warp_lanes + 1];          // [place]: tiles of the lane at this place and at later ones
  std::uint32_t tiles[warp_lanes];                    // [place], in descending order
  std::uint32_t segments[warp_lanes][segment_sizes];  // [lane][i]: unit of the block where its 2^i units begin
  std::uint8_t places[warp_lanes];                    // [lane]

  /// Writes the entries of one lane. Needs bytes[0] to bytes[lanes - 1]. O(lanes).
  WYRM_HD constexpr void enter(unsigned lane, unsigned lanes, lane_order order) {
    std::uint64_t const mine = arranged_units(bytes[lane]);
    unsigned place = 0;
    std::uint64_t all_tiles = 0;
    std::uint64_t all_units = 0;
    std::uint64_t tiles_before = 0;
    std::uint64_t rests_before[segment_sizes] = {};
    for (unsigned other = 0; other < lanes; ++other) {
      std::uint64_t const theirs = arranged_units(bytes[other]);
      std::uint64_t const whole = theirs / units_per_tile;
      bool const more = whole > mine / units_per_tile;
      bool const before = more || (whole == mine / units_per_tile &&
                                   place_of_lane(order, other, lanes) < place_of_lane(order, lane, lanes));
      place += before ? 1 : 0;
      tiles_before += before ? whole : 0;
      all_tiles += whole;
      all_units += theirs;
      for (unsigned i = 0; i < segment_sizes; ++i) {
        std::uint64_t const larger = theirs % units_per_tile >> (i + 1) << (i + 1);
        rests_before[i] += larger + (before ? theirs & (1u << i) : 0);
      }
    }
    places[lane] = static_cast<std::uint8_t>(place);
    tiles[place] = static_cast<std::uint32_t>(mine / units_per_tile);
    later_tiles[place] = all_tiles - tiles_before;
    for (unsigned i = 0; i < segment_sizes; ++i)
      segments[lane][i] = static_cast<std::uint32_t>(all_tiles * units_per_tile + rests_before[i]);
    if (place == 0) units = all_units;
    if (place == lanes - 1) later_tiles[lanes] = 0;
  }
  /// Fills the table for `requests`, bytes of lane 0, 1, ... (1 to 32 lanes). For the host. O(lanes^2).
  constexpr void enter_all(std::span<std::uint64_t const> requests, lane_order order) {
    auto const lanes = static_cast<unsigned>(requests.size());
    for (unsigned lane = 0; lane < lanes; ++lane) bytes[lane] = requests[lane];
    for (unsigned lane = 0; lane < lanes; ++lane) enter(lane, lanes, order);
  }
};

/// A byte of a lane.
struct lane_position {
  unsigned lane;
  std::uint64_t offset;  // from the beginning of the memory of the lane
  friend bool operator==(lane_position const&, lane_position const&) = default;
};

/// The arrangement of a block. A small value, for host and device. Lane numbers are below lanes().
class arrangement {
 public:
  arrangement() = default;
  /// Each of `lanes` lanes (1 to 32) has requested `bytes`.
  WYRM_HD constexpr arrangement(std::uint64_t bytes, unsigned lanes, lane_order order)
      : bytes_(bytes), lanes_(static_cast<std::uint8_t>(lanes)), order_(order) {}
  /// With different requests. The table is not copied: it must stay as it is while the arrangement is used.
  WYRM_HD constexpr arrangement(lane_table const* table, unsigned lanes, lane_order order)
      : table_(table), lanes_(static_cast<std::uint8_t>(lanes)), order_(order) {}

  [[nodiscard]] WYRM_HD constexpr unsigned lanes() const { return lanes_; }
  /// What the lane has requested. Up to the next multiple of arranged_unit the memory is the lane's, too.
  [[nodiscard]] WYRM_HD constexpr std::uint64_t bytes(unsigned lane) const {
    return table_ == nullptr ? bytes_ : table_->bytes[lane];
  }
  /// The size of the whole block.
  [[nodiscard]] WYRM_HD constexpr std::uint64_t block_bytes() const {
    return (table_ == nullptr ? lanes_ * arranged_units(bytes_) : table_->units) * arranged_unit;
  }

  /// Where byte `at` of a lane is in the block; `at` is less than bytes(lane), rounded up to units. No division. The
  /// bytes of an aligned unit of a lane are contiguous and aligned in the block. O(log lanes) if requests differ.
  [[nodiscard]] WYRM_HD constexpr std::uint64_t offset(unsigned lane, std::uint64_t at) const {
    std::uint64_t const units = arranged_units(bytes(lane));
    std::uint64_t const unit = at / arranged_unit;
    std::uint64_t const round = at / arranged_tile;
    unsigned const place = table_ == nullptr ? place_of_lane(order_, lane, lanes_) : table_->places[lane];
    if (round < units / units_per_tile)
      return (first_of_round(round, place) + place) * arranged_tile + at % arranged_tile;
    // The first segments of the rest are larger. The highest bit in which the length of the rest and the position in
    // it differ is that of the segment with the position.
    auto const rest = static_cast<unsigned>(units % units_per_tile);
    auto const i = static_cast<unsigned>(cuda::std::bit_width(rest ^ static_cast<unsigned>(unit % units_per_tile))) - 1;
    std::uint64_t const begin =
        table_ == nullptr ? begin_of_segments(units, i) + (std::uint64_t{place} << i) : table_->segments[lane][i];
    return begin * arranged_unit + at % (arranged_unit << i);
  }

  /// The inverse: whose byte is at `offset`, which is less than block_bytes(). For checks: divides, O(lanes) if
  /// requests differ.
  [[nodiscard]] WYRM_HD constexpr lane_position position(std::uint64_t offset) const {
    std::uint64_t const tile = offset / arranged_tile;
    if (table_ == nullptr) {
      std::uint64_t const units = arranged_units(bytes_);
      if (tile < units / units_per_tile * lanes_)
        return {lane_at_place(order_, static_cast<unsigned>(tile % lanes_), lanes_),
                tile / lanes_ * arranged_tile + offset % arranged_tile};
      unsigned i = segment_sizes - 1;
      while ((units & (1u << i)) == 0 ||
             offset / arranged_unit >= begin_of_segments(units, i) + (std::uint64_t{lanes_} << i))
        --i;
      std::uint64_t const in_segments = offset - begin_of_segments(units, i) * arranged_unit;
      auto const place = static_cast<unsigned>(in_segments / (arranged_unit << i));
      return {lane_at_place(order_, place, lanes_), in_lane(units, i, offset)};
    }
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      std::uint64_t const units = arranged_units(table_->bytes[lane]);
      unsigned const place = table_->places[lane];
      if (tile < table_->later_tiles[0]) {
        std::uint64_t const round = round_of(tile);
        if (first_of_round(round, 0) + place == tile) return {lane, round * arranged_tile + offset % arranged_tile};
      } else {
        for (unsigned i = 0; i < segment_sizes; ++i)
          if ((units & (1u << i)) != 0 && (offset / arranged_unit - table_->segments[lane][i]) >> i == 0)
            return {lane, in_lane(units, i, offset)};
      }
    }
    return {lanes_, 0};  // damaged table
  }

 private:
  // The first tile of a round in which the lane at `place` takes part.
  [[nodiscard]] WYRM_HD constexpr std::uint64_t first_of_round(std::uint64_t round, unsigned place) const {
    if (table_ == nullptr) return round * lanes_;
    // `taking` lanes take part: the lanes before `taking` have more than `round` tiles, the others have all they need.
    unsigned taking = lanes_;
    if (table_->tiles[taking - 1] <= round) {
      unsigned low = place + 1;
      while (low < taking) {
        unsigned const middle = (low + taking) / 2;
        if (table_->tiles[middle] > round)
          low = middle + 1;
        else
          taking = middle;
      }
    }
    return round * taking + table_->later_tiles[taking];
  }
  [[nodiscard]] WYRM_HD constexpr std::uint64_t round_of(std::uint64_t tile) const {
    std::uint64_t low = 0;
    for (std::uint64_t high = table_->tiles[0]; high - low > 1;) {
      std::uint64_t const middle = low + (high - low) / 2;
      (first_of_round(middle, 0) <= tile ? low : high) = middle;
    }
    return low;
  }
  // With equal requests: the unit of the block where the segments of 2^i units begin.
  [[nodiscard]] WYRM_HD constexpr std::uint64_t begin_of_segments(std::uint64_t units, unsigned i) const {
    return (units >> (i + 1) << (i + 1)) * lanes_;
  }
  // The position in a lane of what is at `offset` of the block, in a segment of 2^i units.
  [[nodiscard]] WYRM_HD static constexpr std::uint64_t in_lane(std::uint64_t units, unsigned i, std::uint64_t offset) {
    return (units >> (i + 1) << (i + 1)) * arranged_unit + offset % (arranged_unit << i);
  }

  std::uint64_t bytes_ = 0;
  lane_table const* table_ = nullptr;
  std::uint8_t lanes_ = 0;
  lane_order order_ = lane_order::ascending;
};

}  // namespace wyrm::alloc
