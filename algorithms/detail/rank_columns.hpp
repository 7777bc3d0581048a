// SPDX-License-Identifier: Apache-2.0
// The kernels of PageRank for several sources: a matrix with a row per vertex and a column per source. A tile reads the
// entries of a row one after another, and each lane pulls for one source, so the ranks of a neighbour are one
// contiguous load. On a host the thread pulls for all sources. Rows are distributed by length: 16 short ones, a longer
// one, or a part of a hub to a tile. There are no collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../../graph/view.hpp"
#include "arc_weights.hpp"
#include "row_bins.hpp"

namespace wyrm::algorithms::detail {

/// The arguments of the kernels, and what they do to a row of the matrix. Split: even_split or weighted_split.
template <class Real, class Split, unsigned Width>
struct rank_columns {
  static constexpr bin_limits limits{32, 512, 512, 512};
  static constexpr std::uint32_t rows_at_once = 16;

  graph::graph_view g;
  row_bins_view bins;  // of in-neighbours
  Split split;
  graph::vertex_id const* sources;  // Width vertices; none in a column that is not used
  Real const* from;                 // [vertices][Width]: what a vertex sends along an arc of weight 1, or its rank
  Real* to;
  double* parts;  // [parts][Width]
  double damping;

  template <class Tile>
  static constexpr unsigned columns = Width / Tile::size();  // per lane
  /// The column number k of a lane.
  template <class Tile>
  [[nodiscard]] WYRM_HD static std::size_t column(Tile const& t, unsigned k) {
    return t.rank() + k * Tile::size();
  }
  [[nodiscard]] WYRM_HD std::uint32_t short_items() const { return (bins.lane_rows + rows_at_once - 1) / rows_at_once; }
  [[nodiscard]] WYRM_HD std::uint32_t items() const { return short_items() + bins.group_rows + bins.parts; }

  template <class Tile>
  WYRM_HD void store(Tile const& t, graph::vertex_id v, graph::vertex_record const& row,
                     double const (&sum)[columns<Tile>]) const {
    auto const total = static_cast<double>(split.total(g, v, row));
    for (unsigned k = 0; k < columns<Tile>; ++k) {
      std::size_t const c = column(t, k);
      double const fresh = damping * sum[k] + (sources[c] == v ? 1 - damping : 0);
      to[std::size_t{v} * Width + c] = static_cast<Real>(total > 0 ? fresh / total : fresh);
    }
  }
  template <class Tile>
  WYRM_HD void add(Tile const& t, graph::vertex_id v, graph::vertex_id const* row, std::uint32_t begin,
                   std::uint32_t end, double (&sum)[columns<Tile>]) const {
    constexpr unsigned at_once = columns<Tile> == 1 ? 8 : 1;  // loads that are issued before the first one returns
    [[maybe_unused]] float const* weights = Split::weighted ? split.row(v) + row_head(row) : nullptr;
    for (std::uint32_t i = begin; i < end; i += at_once) {
      double got[at_once][columns<Tile>];
      for (unsigned q = 0; q < at_once; ++q)
        for (unsigned k = 0; k < columns<Tile>; ++k) {
          bool const has = i + q < end;
          double weight = 1;
          if constexpr (Split::weighted) weight = has ? static_cast<double>(weights[i + q]) : 0;
          got[q][k] = has ? weight * static_cast<double>(from[std::size_t{row[i + q]} * Width + column(t, k)]) : 0;
        }
      for (unsigned q = 0; q < at_once; ++q)
        for (unsigned k = 0; k < columns<Tile>; ++k) sum[k] += got[q][k];
    }
  }
};

/// One tile of Width lanes per item.
template <class Real, class Split, unsigned Width>
struct pull_columns {
  rank_columns<Real, Split, Width> x;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    auto const i = static_cast<std::uint32_t>(item);
    std::uint32_t const short_items = x.short_items();
    if (i >= short_items + x.bins.group_rows) {
      pull_part(t, i - short_items - x.bins.group_rows);
    } else if (i >= short_items) {
      pull_row(t, x.bins.rows[x.bins.lane_rows + (i - short_items)]);
    } else {
      std::uint32_t const begin = i * x.rows_at_once;
      std::uint32_t const end = begin + x.rows_at_once;
      for (std::uint32_t r = begin; r < end && r < x.bins.lane_rows; ++r) pull_row(t, x.bins.rows[r]);
    }
  }

 private:
  template <class Tile>
  WYRM_HD void pull_row(Tile const& t, binned_row const& row) const {
    double sum[Width / Tile::size()] = {};
    x.add(t, row.vertex, row.page, 0, row.degree, sum);
    x.store(t, row.vertex, row, sum);
  }
  template <class Tile>
  WYRM_HD void pull_part(Tile const& t, std::uint32_t number) const {
    row_part const p = x.bins.part(number);
    double sum[Width / Tile::size()] = {};
    x.add(t, p.vertex, p.row.page, p.begin, p.end, sum);
    for (unsigned k = 0; k < Width / Tile::size(); ++k) x.parts[std::size_t{number} * Width + x.column(t, k)] = sum[k];
  }
};

/// One tile of Width lanes per hub: adds up its parts.
template <class Real, class Split, unsigned Width>
struct finish_hub_columns {
  rank_columns<Real, Split, Width> x;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t hub) const {
    std::uint32_t const end = hub + 1 < x.bins.hub_rows ? x.bins.hubs[hub + 1].first_part : x.bins.parts;
    double sum[Width / Tile::size()] = {};
    for (std::uint32_t p = x.bins.hubs[hub].first_part; p < end; ++p)
      for (unsigned k = 0; k < Width / Tile::size(); ++k) sum[k] += x.parts[std::size_t{p} * Width + x.column(t, k)];
    binned_row const row = x.bins.hub(static_cast<std::uint32_t>(hub));
    x.store(t, row.vertex, row, sum);
  }
};

/// One thread per column, in a matrix of zeros: the first term of the series.
template <class Real, class Split, unsigned Width>
struct start_columns {
  rank_columns<Real, Split, Width> x;
  WYRM_HD void operator()(std::size_t c) const {
    graph::vertex_id const v = x.sources[c];
    if (v >= x.g.vertices()) return;
    auto const total = static_cast<double>(x.split.total(x.g, v, x.g.in_records()[v]));
    x.to[std::size_t{v} * Width + c] = static_cast<Real>(total > 0 ? (1 - x.damping) / total : 1 - x.damping);
  }
};

/// One thread per element: what vertices send becomes their ranks, not yet of sum 1.
template <class Real, class Split, unsigned Width>
struct find_ranks_of_columns {
  rank_columns<Real, Split, Width> x;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i / Width);
    auto const total = static_cast<double>(x.split.total(x.g, v, x.g.in_records()[v]));
    x.to[i] = static_cast<Real>(static_cast<double>(x.from[i]) * (total > 0 ? total : 1));
  }
};

/// One tile of Width lanes per share of the rows: adds up every `tiles`-th row of a matrix.
template <class Number, unsigned Width>
struct add_up_columns {
  Number const* matrix;
  std::size_t rows;
  std::size_t tiles;
  double* sums;  // [tiles][Width]

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    constexpr unsigned columns = Width / Tile::size();
    double sum[columns] = {};
    for (std::size_t r = tile; r < rows; r += tiles)
      for (unsigned k = 0; k < columns; ++k)
        sum[k] += static_cast<double>(matrix[r * Width + t.rank() + k * Tile::size()]);
    for (unsigned k = 0; k < columns; ++k) sums[tile * Width + t.rank() + k * Tile::size()] = sum[k];
  }
};

/// One thread per element: scales each column to the sum 1.
template <class Real, unsigned Width>
struct scale_columns {
  Real* matrix;
  double const* sums;
  WYRM_HD void operator()(std::size_t i) const {
    double const sum = sums[i % Width];
    if (sum > 0) matrix[i] = static_cast<Real>(static_cast<double>(matrix[i]) / sum);
  }
};

/// One thread per vertex: keys whose ascending order is the descending order of the ranks of a column.
template <class Real>
struct make_rank_keys {
  Real const* column;
  std::size_t width;
  std::uint64_t* keys;
  graph::vertex_id* vertices;
  WYRM_HD void operator()(std::size_t v) const {
    // The bits of doubles that are not negative are in the order of the doubles.
    keys[v] = ~cuda::std::bit_cast<std::uint64_t>(static_cast<double>(column[v * width]));
    vertices[v] = static_cast<graph::vertex_id>(v);
  }
};

}  // namespace wyrm::algorithms::detail
