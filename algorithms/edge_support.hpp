// SPDX-License-Identifier: Apache-2.0
// The support of each edge: the number of triangles that contain it (Cohen, "Trusses", 2008). The entries of the
// shorter row of its two ends are looked up in the longer row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/requirements.hpp"
#include "detail/row_bins.hpp"
#include "detail/weighted_rows.hpp"

namespace wyrm::algorithms {

namespace detail {

/// One tile per item of the bins of all rows. The support of an edge is counted at its smaller end, and written for
/// both directions.
struct count_support {
  graph::graph_view g;
  row_bins_view bins;
  std::uint64_t const* offsets;
  std::uint32_t* support;  // of each arc

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
  }
  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id u, graph::vertex_record const& row, bool valid) const {
    if (!valid) return;
    for (std::uint32_t i = 0; i < row.degree; ++i) count_per_lane(u, row, i);
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id u, graph::vertex_record const& row, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    if (!valid) return;
    for (std::uint32_t i = t.rank() % lanes; i < row.degree; i += lanes) count_per_lane(u, row, i);
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id u, graph::vertex_record const& row) const {
    for (std::uint32_t i = 0; i < row.degree; ++i) count_per_warp(t, u, row, i);
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    for (std::uint32_t i = p.begin; i < p.end; ++i) count_per_warp(t, p.vertex, p.row, i);
  }

 private:
  WYRM_HD void count_per_lane(graph::vertex_id u, graph::vertex_record const& row, std::uint32_t i) const {
    if (row.page[i] > u) write(u, row, i, common(u, row, row.page[i], 0, 1));
  }
  template <class Tile>
  WYRM_HD void count_per_warp(Tile const& t, graph::vertex_id u, graph::vertex_record const& row,
                              std::uint32_t i) const {
    if (row.page[i] <= u) return;
    std::uint32_t const found = exec::sum(t, common(u, row, row.page[i], t.rank(), Tile::size()));
    if (t.rank() == 0) write(u, row, i, found);
  }
  // The number of common neighbours of u and v among the entries of one lane.
  [[nodiscard]] WYRM_HD std::uint32_t common(graph::vertex_id u, graph::vertex_record const& row, graph::vertex_id v,
                                             std::uint32_t lane, std::uint32_t lanes) const {
    graph::neighbour_list const own{row.page, row.degree};
    graph::neighbour_list const other = g.neighbours(v);
    graph::neighbour_list const& few = own.size < other.size ? own : other;
    graph::neighbour_list const& many = own.size < other.size ? other : own;
    std::uint32_t found = 0;
    for (std::uint32_t i = lane; i < few.size; i += lanes) {
      graph::vertex_id const w = few[i];
      if (w != u && w != v && graph::contains(many, w)) ++found;  // a self-loop is not part of a triangle
    }
    return found;
  }
  WYRM_HD void write(graph::vertex_id u, graph::vertex_record const& row, std::uint32_t i, std::uint32_t found) const {
    graph::neighbour_list const other = g.neighbours(row.page[i]);
    support[offsets[u] + i] = found;
    support[offsets[row.page[i]] + graph::lower_bound(other.data, other.size, u)] = found;
  }
};

/// Counts supports; keeps its scratch memory, about 40 bytes per vertex.
template <class Space>
class support_counter {
 public:
  explicit support_counter(Space const& space) : space_(space), bins_(space), offsets_(space) {}

  /// Writes the support of each arc of an undirected graph, in the order of to_csr().
  void count(graph::graph_view const& g, std::uint32_t* support) {
    row_bins_view const all = bins_.make(g.out_records(), g.vertices(), g.arcs(), {8, 256, 1024, 256});
    offsets_.find(g);
    space_.fill(support, 0, g.arcs() * sizeof(std::uint32_t));
    exec::for_each_tile<32>(space_, all.items(), count_support{g, all, offsets_.data(), support});
  }
  /// Of the rows of the graph of the last count.
  [[nodiscard]] std::uint64_t const* offsets() const { return offsets_.data(); }

 private:
  Space space_;
  row_bins<Space> bins_;
  row_offsets<Space> offsets_;
};

}  // namespace detail

/// The support of each arc, in the order of to_csr(): equal for both directions of an edge, 0 for self-loops. The sum
/// is six times the number of triangles. O(sum over edges of the smaller degree of both ends, times a logarithm), which
/// is O(edges^1.5 log edges); scratch of about 40 bytes per vertex and 4 bytes per arc. Throws error(bad_argument) for
/// a directed graph.
template <class Space>
std::vector<std::uint32_t> edge_support(Space const& space, graph::graph_view const& g) {
  detail::require_undirected(g, "edge_support");
  if (g.vertices() == 0) return {};
  exec::large_buffer<std::uint32_t, Space> support(space);
  support.reserve(g.arcs());
  detail::support_counter<Space>(space).count(g, support.data());
  return exec::copy_out(space, support.data(), g.arcs());
}

std::vector<std::uint32_t> edge_support(graph::any_graph const& g);

}  // namespace wyrm::algorithms
