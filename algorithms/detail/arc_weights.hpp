// SPDX-License-Identifier: Apache-2.0
// How the rank of a vertex is split among its arcs: evenly, or by weights, which are the values of the graph. A run
// first copies the weight of each arc, as a float, next to the entry of its source in the row of in-neighbours, so that
// the pull of each iteration reads weights of one type, aligned as the entries are.
//
// The weights of a row are scaled by a power of two, so that their sum is in [0.5, 1). This rounds nothing, and ranks
// in single precision can be divided by the sum, however large or small the weights are. Weights that are no floats are
// rounded to floats after that, and added up once more: a vertex sends its rank, no more and no less.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"
#include "weights.hpp"

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
  double const* totals;             // of the arcs out of a vertex: 0, or about 0.5 to 1
  std::uint64_t const* row_begins;  // of rows of in-neighbours in `weights`
  float const* weights;             // scaled as the totals are

  [[nodiscard]] WYRM_HD total_type total(graph::graph_view const&, graph::vertex_id v,
                                         graph::vertex_record const&) const {
    return totals[v];
  }
  /// The weights of the arcs into v, aligned to 16 bytes; the weight of the first arc is at index row_head().
  [[nodiscard]] WYRM_HD float const* row(graph::vertex_id v) const { return weights + row_begins[v]; }
};

/// The weight of an entry in a row that is scaled by a power of two.
[[nodiscard]] WYRM_HD inline float scaled_weight(value_row const& row, std::uint32_t i, double factor, int exponent) {
  return static_cast<float>(std::ldexp(factor * row.weight(i), -exponent));
}

/// One tile per item of the bins of out-neighbours: adds up the weights of a row, or those that the pull will read.
struct add_up_weights {
  row_bins_view bins;
  graph::packed_record const* records;
  graph::number_type type;
  double factor;         // a power of two with which no sum overflows
  int const* exponents;  // of the sums of rows; nullptr: not known yet, weights are not scaled
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
    value_row const row(records[v], type);
    double all = 0;
    for (std::uint32_t i = begin + lane; i < end; i += lanes)
      all += exponents == nullptr ? factor * row.weight(i)
                                  : static_cast<double>(scaled_weight(row, i, factor, exponents[v]));
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

/// Scales each total to [0.5, 1), and stores the exponent of the power of two.
struct scale_totals {
  double* totals;
  int* exponents;
  WYRM_HD void operator()(std::size_t v) const { totals[v] = std::frexp(totals[v], &exponents[v]); }
};

/// The size of a row in `weights`: the entries between the last multiple of 16 bytes and the row, and the entries of
/// the row, rounded up to a multiple of four.
struct pad_rows {
  graph::packed_record const* rows;
  std::uint32_t* sizes;
  WYRM_HD void operator()(std::size_t v) const { sizes[v] = (row_head(rows[v].page()) + rows[v].degree + 3) / 4 * 4; }
};

/// One tile per item of the bins of in-neighbours: copies the weights of their arcs.
struct copy_weights {
  row_bins_view bins;
  graph::packed_record const* records;
  graph::number_type type;
  double factor;         // with which totals were added up
  int const* exponents;  // of totals
  std::uint64_t const* row_begins;
  float* weights;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    for_each_entry(t, bins, static_cast<std::uint32_t>(item), *this);
  }
  WYRM_HD void visit(graph::vertex_id v, graph::vertex_record const& row, std::uint32_t first, std::uint32_t end,
                     std::uint32_t step) const {
    value_row const from(records[v], type);
    float* const to = weights + row_begins[v] + row_head(row.page);
    for (std::uint32_t i = first; i < end; i += step) to[i] = scaled_weight(from, i, factor, exponents[row.page[i]]);
  }
};

/// Owns the weights of the arcs of one graph, and keeps its memory: 4 bytes per arc and about 30 per vertex.
template <class Space>
class arc_weights {
 public:
  explicit arc_weights(Space const& space)
      : space_(space),
        bulk_(space),
        inspector_(space),
        totals_(space),
        exponents_(space),
        parts_(space),
        sizes_(space),
        row_begins_(space),
        weights_(space) {}

  /// Copies the weights next to the entries of in-neighbours; leaves the bins of in-neighbours in `bins` and `in`.
  /// Throws error(bad_argument) if a weight is negative or not finite. The values of the graph are numbers.
  /// O(vertices + arcs).
  weighted_split prepare(graph::graph_view const& g, row_bins<Space>& bins, bin_limits const& limits,
                         row_bins_view& in) {
    std::size_t const n = g.vertices();
    row_bins_view const out = bins.make(g.out_records(), n, g.arcs(), limits);
    double const factor = inspector_.largest(g, out, "pagerank") < 0x1p900 ? 1 : 0x1p-64;
    totals_.reserve(n);
    exponents_.reserve(n);
    parts_.reserve(out.parts);
    auto const add_up = [&](int const* exponents) {
      exec::for_each_tile<32>(
          space_, out.items(),
          add_up_weights{out, g.out_records(), g.numbers(), factor, exponents, totals_.data(), parts_.data()});
      exec::for_each_tile<32>(space_, out.hub_rows, add_up_hubs{out, parts_.data(), totals_.data()});
    };
    add_up(nullptr);
    exec::for_each(space_, n, scale_totals{totals_.data(), exponents_.data()});
    if (g.numbers() != graph::number_type::f32) add_up(exponents_.data());  // the others are rounded

    sizes_.reserve(n);
    row_begins_.reserve(n + 1);
    exec::for_each(space_, n, pad_rows{g.in_records(), sizes_.data()});
    bulk_.inclusive_sum(sizes_.data(), row_begins_.data(), n);
    std::uint64_t const room = exec::read(space_, row_begins_.data() + n);
    weights_.reserve(room);
    space_.fill(weights_.data(), 0, room * sizeof(float));  // weights before and after rows are multiplied by 0
    in = g.directed() ? bins.make(g.in_records(), n, g.arcs(), limits) : out;
    exec::for_each_tile<32>(
        space_, in.items(),
        copy_weights{in, g.in_records(), g.numbers(), factor, exponents_.data(), row_begins_.data(), weights_.data()});
    return {totals_.data(), row_begins_.data(), weights_.data()};
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  weight_inspector<Space> inspector_;
  exec::buffer<double, Space> totals_;
  exec::buffer<int, Space> exponents_;
  exec::buffer<double, Space> parts_;
  exec::buffer<std::uint32_t, Space> sizes_;
  exec::buffer<std::uint64_t, Space> row_begins_;
  exec::large_buffer<float, Space> weights_;
};

}  // namespace wyrm::algorithms::detail
