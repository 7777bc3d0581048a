// SPDX-License-Identifier: Apache-2.0
// How the rank of a vertex is split among its arcs: evenly, or by weights. The graph stores no weights: the caller
// gives them in the order of to_csr(), row by row of out-neighbours, but a pull reads them with the rows of
// in-neighbours. So a run first copies each weight next to the entry of its arc. An arc has an entry in two rows; the
// position in the shorter row is found by binary search for each entry of the longer row. This also holds for an
// undirected graph: both directions of an edge may have different weights, and one search serves both.
//
// The weights of a row are scaled by a power of two, so that their sum is in [0.5, 1). This rounds nothing, and ranks
// in single precision can be divided by the sum, however large or small the weights are.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "../../exec/bulk.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// The number of entries between the last multiple of 16 bytes and the beginning of the row.
[[nodiscard]] WYRM_HD inline std::uint32_t row_head(graph::vertex_id const* row) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(row) / sizeof(graph::vertex_id) % 4);
}

/// Splits the rank of a vertex evenly among its out-neighbours.
struct even_split {
  static constexpr bool weighted = false;
  using total_type = std::uint32_t;
  /// in: the record of the in-neighbours of v, which the caller has loaded.
  [[nodiscard]] WYRM_HD total_type total(graph::graph_view const& g, graph::vertex_id v,
                                         graph::vertex_record const& in) const {
    return g.directed() ? g.degree(v) : in.degree;
  }
  [[nodiscard]] WYRM_HD float const* row(graph::vertex_id) const { return nullptr; }
};

/// Splits the rank of a vertex in proportion to the weights; a vertex with no positive weight is dangling.
struct weighted_split {
  static constexpr bool weighted = true;
  using total_type = double;
  double const* totals;             // of the arcs out of a vertex: 0, or in [0.5, 1)
  std::uint64_t const* row_begins;  // of rows of in-neighbours in `weights`
  float const* weights;             // scaled as the totals are

  [[nodiscard]] WYRM_HD total_type total(graph::graph_view const&, graph::vertex_id v,
                                         graph::vertex_record const&) const {
    return totals[v];
  }
  /// The weights of the arcs into v, aligned to 16 bytes; the weight of the first arc is at index row_head().
  [[nodiscard]] WYRM_HD float const* row(graph::vertex_id v) const { return weights + row_begins[v]; }
};

/// One tile per item of the bins of out-neighbours: adds up the weights of a row.
struct add_up_weights {
  row_bins_view bins;
  std::uint64_t const* offsets;
  float const* given;
  double* totals;
  double* parts;  // the sums of parts of hubs

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    sum_rows(t, bins, static_cast<std::uint32_t>(item), *this);
  }
  struct nothing {};
  [[nodiscard]] WYRM_HD nothing load(graph::vertex_id, graph::vertex_record const&) const { return {}; }
  WYRM_HD void set(graph::vertex_id v, graph::vertex_record const&, nothing, double all) const { totals[v] = all; }
  WYRM_HD void set_part(std::uint32_t number, graph::vertex_id, double all) const { parts[number] = all; }
  template <class Tile>
  [[nodiscard]] WYRM_HD double sum(Tile const&, graph::vertex_id v, graph::vertex_record const&, std::uint32_t begin,
                                   std::uint32_t end, std::uint32_t lane, std::uint32_t lanes) const {
    float const* const row = given + offsets[v];
    double all = 0;
    for (std::uint32_t i = begin + lane; i < end; i += lanes) all += static_cast<double>(row[i]);
    return all;
  }
};

/// One tile per hub: adds up the sums of its parts.
struct add_up_hubs {
  row_bins_view bins;
  double const* parts;
  double* totals;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t hub) const {
    double const all = bins.sum_of_parts(t, static_cast<std::uint32_t>(hub), parts);
    if (t.rank() == 0) totals[bins.hubs[hub].vertex] = all;
  }
};

/// Scales each total to [0.5, 1), and stores the power of two.
struct scale_totals {
  double* totals;
  double* scales;
  WYRM_HD void operator()(std::size_t v) const {
    int exponent = 0;
    totals[v] = std::frexp(totals[v], &exponent);
    scales[v] = std::ldexp(1.0, -exponent);
  }
};

/// The size of a row in `weights`: the entries between the last multiple of 16 bytes and the row, and the entries of
/// the row, rounded up to a multiple of four.
struct pad_rows {
  graph::packed_record const* rows;
  std::uint32_t* sizes;
  WYRM_HD void operator()(std::size_t v) const { sizes[v] = (row_head(rows[v].page()) + rows[v].degree + 3) / 4 * 4; }
};

/// One tile per item of bins: looks up the arcs of its rows in the other rows of these arcs, where those are shorter.
/// Directed graphs need two launches: over the rows of out-neighbours, for arcs with a shorter row of in-neighbours,
/// and over the rows of in-neighbours for the rest.
struct match_arcs {
  graph::graph_view g;
  row_bins_view bins;
  bool of_out;  // the bins are of out-neighbours, and the graph is directed
  std::uint64_t const* offsets;
  float const* given;
  double const* scales;
  std::uint64_t const* row_begins;
  float* weights;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
  }
  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    if (valid) match(v, row, 0, row.degree, 1);
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    if (valid) match(v, row, t.rank() % lanes, row.degree, lanes);
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id v, graph::vertex_record const& row) const {
    match(v, row, t.rank(), row.degree, Tile::size());
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    match(p.vertex, p.row, p.begin + t.rank(), p.end, Tile::size());
  }

 private:
  WYRM_HD void match(graph::vertex_id x, graph::vertex_record const& row, std::uint32_t begin, std::uint32_t end,
                     std::uint32_t step) const {
    for (std::uint32_t i = begin; i < end; i += step) {
      graph::vertex_id const y = row.page[i];
      graph::vertex_record const other = of_out ? g.in_records()[y] : g.out_records()[y];
      if (other.degree > row.degree) continue;
      if (other.degree == row.degree && (of_out || (!g.directed() && y > x))) continue;
      std::uint32_t const at = graph::lower_bound(other.page, other.degree, x);
      if (!of_out) store(y, at, x, row, i);
      if (of_out || !g.directed()) store(x, i, y, other, at);
    }
  }
  // Copies the weight of entry `from` in the row of out-neighbours of u to entry `to` in the row of in-neighbours of v.
  WYRM_HD void store(graph::vertex_id u, std::uint32_t from, graph::vertex_id v, graph::vertex_record const& in,
                     std::uint32_t to) const {
    weights[row_begins[v] + row_head(in.page) + to] =
        static_cast<float>(scales[u] * static_cast<double>(given[offsets[u] + from]));
  }
};

/// Owns the weights of the arcs of one graph, and keeps its memory: 8 bytes per arc and about 46 per vertex.
template <class Space>
class arc_weights {
 public:
  explicit arc_weights(Space const& space)
      : space_(space),
        bulk_(space),
        offsets_(space),
        given_(space),
        totals_(space),
        scales_(space),
        parts_(space),
        sizes_(space),
        row_begins_(space),
        weights_(space) {}

  /// Uploads the weights, and copies them next to the entries of in-neighbours; leaves the bins of in-neighbours in
  /// `bins` and `in`. Throws error(bad_argument) unless there is one weight per arc, finite and not negative.
  /// O(vertices + arcs log degree).
  weighted_split prepare(graph::graph_view const& g, std::vector<float> const& given, row_bins<Space>& bins,
                         bin_limits const& limits, row_bins_view& in) {
    check(g, given);
    std::size_t const n = g.vertices();
    row_bins_view const out = bins.make(g.out_records(), n, g.arcs(), limits);
    offsets_.find(g);
    given_.reserve(given.size());
    totals_.reserve(n);
    scales_.reserve(n);
    parts_.reserve(out.parts);
    exec::copy_in<float>(space_, given_.data(), given);
    exec::for_each_tile<32>(space_, out.items(),
                            add_up_weights{out, offsets_.data(), given_.data(), totals_.data(), parts_.data()});
    exec::for_each_tile<32>(space_, out.hub_rows, add_up_hubs{out, parts_.data(), totals_.data()});
    exec::for_each(space_, n, scale_totals{totals_.data(), scales_.data()});

    sizes_.reserve(n);
    row_begins_.reserve(n + 1);
    exec::for_each(space_, n, pad_rows{g.in_records(), sizes_.data()});
    bulk_.inclusive_sum(sizes_.data(), row_begins_.data(), n);
    std::uint64_t const room = exec::read(space_, row_begins_.data() + n);
    weights_.reserve(room);
    space_.fill(weights_.data(), 0, room * sizeof(float));  // weights before and after rows are multiplied by 0
    auto const match = [&](row_bins_view const& rows, bool of_out) {
      exec::for_each_tile<32>(space_, rows.items(),
                              match_arcs{g, rows, of_out, offsets_.data(), given_.data(), scales_.data(),
                                         row_begins_.data(), weights_.data()});
    };
    if (g.directed()) match(out, true);
    in = g.directed() ? bins.make(g.in_records(), n, g.arcs(), limits) : out;
    match(in, false);
    return {totals_.data(), row_begins_.data(), weights_.data()};
  }

 private:
  void check(graph::graph_view const& g, std::vector<float> const& given) const {
    std::ostringstream what;
    what << "pagerank: ";
    if (given.size() != g.arcs()) {
      what << "there are " << given.size() << " weights for " << g.arcs()
           << " arcs; give one for each, in the order of to_csr()";
      throw error(error_code::bad_argument, what.str());
    }
    for (std::uint64_t i = 0; i < given.size(); ++i)
      if (!(given[i] >= 0) || std::isinf(given[i])) {
        what << "weight " << i << ", of the arc " << name_of(g, i) << ", is " << given[i]
             << "; weights must be finite, and not negative";
        throw error(error_code::bad_argument, what.str());
      }
  }
  [[nodiscard]] std::string name_of(graph::graph_view const& g, std::uint64_t arc) const {
    auto const rows = exec::copy_out(space_, g.out_records(), g.vertices());
    std::size_t u = 0;
    for (; arc >= rows[u].degree; ++u) arc -= rows[u].degree;
    return std::to_string(u) + " -> " + std::to_string(exec::read(space_, rows[u].page() + arc));
  }

  Space space_;
  typename Space::bulk bulk_;
  row_offsets<Space> offsets_;
  exec::buffer<float, Space> given_;
  exec::buffer<double, Space> totals_;
  exec::buffer<double, Space> scales_;
  exec::buffer<double, Space> parts_;
  exec::buffer<std::uint32_t, Space> sizes_;
  exec::buffer<std::uint64_t, Space> row_begins_;
  exec::buffer<float, Space> weights_;
};

}  // namespace wyrm::algorithms::detail
