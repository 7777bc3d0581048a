// SPDX-License-Identifier: Apache-2.0
// Rows sorted into bins by length, for an even distribution of work with any degrees: a lane processes a short row, a
// group of lanes a longer one, a warp a long one, and several warps a hub, which is divided into parts. The work of one
// warp is an item; one launch processes the items of all bins. Each run of an algorithm builds the bins in two passes
// over the vertex table, which cost less than one pass over the arcs; so updates do not have to maintain them. Rows
// keep their order within a bin, so that sums are computed in the same order each time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../exec/launch.hpp"
#include "../../exec/load.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// The greatest length of a row in each bin; rows of the last bin are divided into parts of `part` entries.
struct bin_limits {
  std::uint32_t lane;
  std::uint32_t group;
  std::uint32_t warp;
  std::uint32_t part;

  /// The greatest number of parts of rows with this many entries in total.
  [[nodiscard]] std::uint64_t max_parts(std::uint64_t entries) const { return entries / part + max_hubs(entries); }
  [[nodiscard]] std::uint64_t max_hubs(std::uint64_t entries) const { return entries / (warp + std::uint64_t{1}); }
  /// The greatest number of items of n rows with this many entries in total.
  [[nodiscard]] inline std::uint64_t max_items(std::size_t n, std::uint64_t entries) const;
};

/// A row in a bin; read by one load.
struct alignas(16) binned_row {
  graph::vertex_id* page;
  std::uint32_t degree;
  graph::vertex_id vertex;
  WYRM_HD operator graph::vertex_record() const { return {page, degree, degree}; }
};

/// A row that is divided into parts.
struct hub_row {
  graph::vertex_id vertex;
  std::uint32_t first_part;
};

/// A part of a row.
struct row_part {
  graph::vertex_id vertex;
  graph::vertex_record row;
  std::uint32_t begin;
  std::uint32_t end;
};

/// The bins, for kernels.
struct row_bins_view {
  static constexpr unsigned bins = 4;
  static constexpr unsigned group_lanes = 8;  // of 32; on a host a group has one lane
  static constexpr unsigned groups = 32 / group_lanes;
  static constexpr std::uint32_t rows_ahead = 8;  // of the row of a core: one that it begins to load
  template <class Tile>
  [[nodiscard]] WYRM_HD static constexpr unsigned lanes_of_group() {
    return Tile::size() < group_lanes ? Tile::size() : group_lanes;
  }

  binned_row const* rows;  // the rows for lanes, for groups, and for warps, and then the hubs
  hub_row const* hubs;
  std::uint32_t lane_rows;
  std::uint32_t group_rows;
  std::uint32_t warp_rows;
  std::uint32_t hub_rows;
  std::uint32_t parts;
  std::uint32_t part_size;

  [[nodiscard]] WYRM_HD std::uint32_t lane_items() const { return (lane_rows + 31) / 32; }
  [[nodiscard]] WYRM_HD std::uint32_t group_items() const { return (group_rows + groups - 1) / groups; }
  [[nodiscard]] WYRM_HD std::uint32_t items() const { return lane_items() + group_items() + warp_rows + parts; }

  [[nodiscard]] WYRM_HD binned_row hub(std::uint32_t h) const { return rows[lane_rows + group_rows + warp_rows + h]; }
  /// Part p of all parts of all hubs.
  [[nodiscard]] WYRM_HD row_part part(std::uint32_t p) const {
    std::uint32_t first = 0;
    for (std::uint32_t n = hub_rows; n > 1;) {
      std::uint32_t const half = n / 2;
      if (hubs[first + half].first_part <= p) first += half;
      n -= half;
    }
    hub_row const h = hubs[first];
    graph::vertex_record const row = hub(first);
    std::uint32_t const begin = (p - h.first_part) * part_size;
    std::uint32_t const left = row.degree - begin;
    return {h.vertex, row, begin, begin + (left < part_size ? left : part_size)};
  }

  /// The sum of the values of all parts of a hub, added in a fixed order, in every lane; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD double sum_of_parts(Tile const& t, std::uint32_t hub, double const* of_parts) const {
    std::uint32_t const end = hub + 1 < hub_rows ? hubs[hub + 1].first_part : parts;
    double all = 0;
    for (std::uint32_t p = hubs[hub].first_part + t.rank(); p < end; p += Tile::size()) all += of_parts[p];
    return exec::sum(t, all);
  }

  /// Calls one of these functions, once or several times, for the rows of an item; collective:
  ///   f.lane(t, v, row, valid)   each lane has its own row, or none (valid is false)
  ///   f.group(t, v, row, valid)  the lanes of a group have the same row, or none
  ///   f.warp(t, v, row)          all lanes have the same row
  ///   f.part(t, p)               all lanes have the same part of a row
  template <class Tile, class F>
  WYRM_HD void dispatch(Tile const& t, std::uint32_t item, F& f) const {
    if (item < lane_items()) {
      for (std::uint32_t k = 0; k < 32; k += Tile::size()) {
        std::uint32_t const i = item * 32 + k + t.rank();
        bool const valid = i < lane_rows;
        binned_row const row = valid ? rows[i] : binned_row{};
        if constexpr (Tile::size() == 1)
          if (i + rows_ahead < lane_rows) exec::prefetch(rows[i + rows_ahead].page);
        f.lane(t, row.vertex, row, valid);
      }
      return;
    }
    item -= lane_items();
    if (item < group_items()) {
      constexpr unsigned lanes = lanes_of_group<Tile>();
      for (std::uint32_t k = 0; k < groups; k += Tile::size() / lanes) {
        std::uint32_t const i = item * groups + k + t.rank() / lanes;
        bool const valid = i < group_rows;
        binned_row const row = valid ? rows[lane_rows + i] : binned_row{};
        f.group(t, row.vertex, row, valid);
      }
      return;
    }
    item -= group_items();
    if (item >= warp_rows) {
      f.part(t, item - warp_rows);
      return;
    }
    binned_row const row = rows[lane_rows + group_rows + item];
    f.warp(t, row.vertex, row);
  }
};

inline std::uint64_t bin_limits::max_items(std::size_t n, std::uint64_t entries) const {
  auto const longer = [&](std::uint32_t limit) {
    return std::min<std::uint64_t>(n, entries / (limit + std::uint64_t{1}));
  };
  return (n + 31) / 32 + longer(lane) / row_bins_view::groups + 1 + longer(group) + max_parts(entries);
}

/// The sum over the lanes of the group of this lane, in every lane; collective.
template <class Tile, class T>
WYRM_HD T group_sum(Tile const& t, T value) {
  constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
  for (unsigned step = lanes / 2; step > 0; step /= 2) value = static_cast<T>(value + t.shfl(value, t.rank() ^ step));
  return value;
}

/// of[b] is the number of rows in the bins 0 to b; the last element is the number of all rows plus that of all parts.
struct bin_ends {
  std::uint64_t of[row_bins_view::bins + 1];
};

/// Counts the rows of each bin, and the parts, among 32 vertices; or, in a second pass, writes them to their places.
struct sort_rows {
  graph::packed_record const* rows;
  std::size_t n;
  bin_limits limits;
  std::uint32_t* counts;        // [bins + 1][blocks], the last array for parts
  std::uint64_t const* before;  // prefix sums of counts; nullptr in the first pass
  std::size_t blocks;
  binned_row* ordered;
  hub_row* hubs;
  bin_ends* ends;

  [[nodiscard]] WYRM_HD unsigned bin_of(std::uint32_t degree) const {
    return (degree > limits.lane ? 1u : 0u) + (degree > limits.group ? 1u : 0u) + (degree > limits.warp ? 1u : 0u);
  }

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t block) const {
    constexpr unsigned bins = row_bins_view::bins;
    std::uint32_t count[bins] = {};
    std::uint32_t parts = 0;
    for (unsigned k = 0; k < 32; k += Tile::size()) {
      std::size_t const v = block * 32 + k + t.rank();
      graph::vertex_record const row = v < n ? graph::vertex_record(rows[v]) : graph::vertex_record{nullptr, 0, 0};
      std::uint32_t const degree = row.degree;
      unsigned const bin = v < n ? bin_of(degree) : bins;
      std::uint32_t const my_parts = bin == bins - 1 ? (degree - 1) / limits.part + 1 : 0;
      bool const has_parts = t.any(my_parts > 0);
      std::uint32_t const parts_below = has_parts ? exec::sum_below(t, my_parts) : 0;
      for (unsigned b = 0; b < bins; ++b) {
        std::uint32_t const mine = t.ballot(bin == b);
        if (before != nullptr && bin == b) {
          std::uint64_t const at = before[b * blocks + block] + count[b] + exec::rank_in(t, mine);
          ordered[at] = {row.page, degree, static_cast<graph::vertex_id>(v)};
          if (b == bins - 1)
            hubs[at - before[b * blocks]] = {static_cast<graph::vertex_id>(v),
                                             static_cast<std::uint32_t>(before[bins * blocks + block] -
                                                                        before[bins * blocks] + parts + parts_below)};
        }
        count[b] += static_cast<std::uint32_t>(cuda::std::popcount(mine));
      }
      if (has_parts) parts += exec::sum(t, my_parts);
    }
    if (t.rank() != 0) return;
    if (before == nullptr) {
      for (unsigned b = 0; b < bins; ++b) counts[b * blocks + block] = count[b];
      counts[bins * blocks + block] = parts;
    } else if (block == 0) {
      for (unsigned b = 0; b <= bins; ++b) ends->of[b] = before[(b + 1) * blocks];
    }
  }
};

/// Owns the bins of one table; keeps its scratch memory for the next run.
template <class Space>
class row_bins {
 public:
  explicit row_bins(Space const& space)
      : space_(space), bulk_(space), counts_(space), before_(space), rows_(space), hubs_(space), ends_(space, 1) {}

  /// Requests memory for the bins of n rows with this many entries in total.
  void reserve(std::size_t n, std::uint64_t entries, bin_limits const& limits) {
    std::size_t const blocks = (n + 31) / 32;
    counts_.reserve(count * blocks);
    before_.reserve(count * blocks + 1);
    rows_.reserve(n);
    hubs_.reserve(std::min<std::uint64_t>(n, limits.max_hubs(entries)));
    bulk_.reserve(count * blocks);
  }
  /// The bins of n rows; valid until the next call, or until rows change. O(n).
  row_bins_view make(graph::packed_record const* rows, std::size_t n, std::uint64_t entries, bin_limits const& limits) {
    if (n == 0) return {};
    enqueue(rows, n, entries, limits, ends_.data());
    return view(exec::read(space_, ends_.data()), limits);
  }
  /// Enqueues the same work, but does not read the result. `ends` is in memory of the space; the caller reads it later,
  /// together with its own data, and passes it to view(). n > 0: for no rows, `ends` is not written.
  void enqueue(graph::packed_record const* rows, std::size_t n, std::uint64_t entries, bin_limits const& limits,
               bin_ends* ends) {
    std::size_t const blocks = (n + 31) / 32;
    reserve(n, entries, limits);
    sort_rows work{rows, n, limits, counts_.data(), nullptr, blocks, rows_.data(), hubs_.data(), ends};
    exec::for_each_tile<32>(space_, blocks, work);
    bulk_.inclusive_sum(counts_.data(), before_.data(), count * blocks);
    work.before = before_.data();
    exec::for_each_tile<32>(space_, blocks, work);
  }
  [[nodiscard]] row_bins_view view(bin_ends const& ends, bin_limits const& limits) const {
    auto const size = [&](unsigned b) { return static_cast<std::uint32_t>(ends.of[b] - (b > 0 ? ends.of[b - 1] : 0)); };
    return {rows_.data(), hubs_.data(), size(0), size(1), size(2), size(3), size(4), limits.part};
  }

 private:
  static constexpr std::size_t count = row_bins_view::bins + 1;
  Space space_;
  typename Space::bulk bulk_;
  exec::buffer<std::uint32_t, Space> counts_;
  exec::buffer<std::uint64_t, Space> before_;
  exec::large_buffer<binned_row, Space> rows_;
  exec::buffer<hub_row, Space> hubs_;
  exec::buffer<bin_ends, Space> ends_;
};

}  // namespace wyrm::algorithms::detail
