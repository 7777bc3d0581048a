// SPDX-License-Identifier: Apache-2.0
// Local clustering coefficients (Watts and Strogatz, Nature 393, 1998) of directed and undirected graphs, as LCC of
// LDBC Graphalytics (Iosup et al., VLDB 2016) defines them: the arcs between the neighbours of a vertex, divided by the
// largest possible number of such arcs. Neighbours in either direction count, once each. Directions are dropped, and
// each edge is kept once, at its end with fewer neighbours (detail/orientation.hpp), so that hubs have short rows. Each
// triangle is then found once, and adds to each corner the number of arcs between the other two. On a host triangles
// are counted as in detail/triangles_on_host.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/orientation.hpp"
#include "detail/row_bins.hpp"
#include "detail/row_builder.hpp"
#include "detail/triangles_on_host.hpp"
#include "detail/weighted_rows.hpp"
#include "triangles.hpp"

namespace wyrm::algorithms {

struct clustering_coefficients_run {
  double average = 0;  // the mean of the local coefficients of vertices in the graph; 0 without vertices
  double global = 0;   // all arcs between neighbours, divided by all ordered pairs of neighbours; 0 without pairs
};

struct clustering_coefficients_result {
  std::vector<double> local;  // of each vertex; 0 with fewer than two neighbours
  double average = 0;         // as in clustering_coefficients_run
  double global = 0;
};

namespace detail {

/// One tile per vertex: the number of arcs, 1 or 2, between the ends of each entry of an oriented row.
struct count_directions {
  graph::graph_view g;
  graph::packed_record const* rows;
  graph::vertex_id const* targets;
  std::uint8_t* arcs;  // of the entries of `targets`
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t u) const {
    graph::vertex_record const r = rows[u];
    auto const v = static_cast<graph::vertex_id>(u);
    for (std::uint32_t i = t.rank(); i < r.degree; i += Tile::size())
      arcs[r.page - targets + i] = static_cast<std::uint8_t>(graph::contains(g.neighbours(v), r.page[i]) +
                                                             graph::contains(g.neighbours(r.page[i]), v));
  }
};

/// One tile per item of the bins of oriented rows.
struct add_opposite_arcs {
  graph::packed_record const* rows;
  graph::vertex_id const* targets;
  std::uint8_t const* arcs;  // of the entries of `targets`; nullptr: 2
  row_bins_view bins;
  std::uint64_t* between;  // of each vertex: arcs between its neighbours

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
  }
  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    for (std::uint32_t i = 0; valid && i < r.degree; ++i) intersect(u, r, i, 0, 1);
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    for (std::uint32_t i = t.rank() % lanes; valid && i < r.degree; i += lanes) intersect(u, r, i, 0, 1);
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id u, graph::vertex_record const& r) const {
    for (std::uint32_t i = 0; i < r.degree; ++i) intersect(u, r, i, t.rank(), Tile::size());
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    for (std::uint32_t i = p.begin; i < p.end; ++i) intersect(p.vertex, p.row, i, t.rank(), Tile::size());
  }

 private:
  WYRM_HD void add(graph::vertex_id v, std::uint64_t n) const {
    if (n > 0) exec::atomic_ref<std::uint64_t>(between[v]).fetch_add(n, exec::relaxed);
  }
  [[nodiscard]] WYRM_HD std::uint32_t arcs_at(graph::vertex_id const* entry) const {
    return arcs == nullptr ? 2 : arcs[entry - targets];
  }
  // The triangles of u and entry i of its row, whose third corners are looked up by one of several lanes.
  WYRM_HD void intersect(graph::vertex_id u, graph::vertex_record const& r, std::uint32_t i, std::uint32_t lane,
                         std::uint32_t lanes) const {
    graph::vertex_id const v = r.page[i];
    graph::vertex_record const s = rows[v];
    bool const turned = s.degree < r.degree;
    graph::vertex_record const& few = turned ? s : r;
    graph::vertex_record const& many = turned ? r : s;
    std::uint64_t of_few = 0;  // arcs between the third corners and the end of `few`
    std::uint64_t of_many = 0;
    for (std::uint32_t k = lane; k < few.degree; k += lanes) {
      graph::vertex_id const w = few.page[k];
      std::uint32_t const at = graph::lower_bound<graph::vertex_id>(many.page, many.degree, w);
      if (at == many.degree || many.page[at] != w) continue;
      of_few += arcs_at(few.page + k);
      of_many += arcs_at(many.page + at);
      add(w, arcs_at(r.page + i));
    }
    add(u, turned ? of_few : of_many);
    add(v, turned ? of_many : of_few);
  }
};

struct divide_by_pairs {
  std::uint64_t const* between;
  std::uint32_t const* others;
  double* local;
  std::uint64_t* pairs;
  WYRM_HD void operator()(std::size_t v) const {
    pairs[v] = others[v] < 2 ? 0 : std::uint64_t{others[v]} * (others[v] - 1);
    local[v] = pairs[v] == 0 ? 0 : static_cast<double>(between[v]) / static_cast<double>(pairs[v]);
  }
};

}  // namespace detail

/// Finds the coefficients of different graphs, or of one changing graph, and keeps the results in device memory, and
/// its scratch memory. Not thread-safe.
template <class Space>
class clustering_coefficients_counter {
 public:
  explicit clustering_coefficients_counter(Space const& space)
      : space_(space),
        bulk_(space),
        builder_(space),
        built_(space),
        bins_(space),
        orientation_(space),
        on_host_(space),
        arcs_(space),
        between_(space),
        pairs_(space),
        others_(space),
        local_(space) {}

  /// O(vertices + arcs + sum over edges of the shorter of two oriented rows, times a logarithm), and a sort of the arcs
  /// of a directed graph. Memory: about 95 bytes per vertex and 2 per arc; directed: 60 bytes per arc; on a host 8 per
  /// vertex for each thread, see detail::most_table_bytes(). Self-loops do not count; a vertex that is not in the graph
  /// has the coefficient 0. Throws error(bad_argument) for a directed graph with 2^31 arcs or more;
  /// error(out_of_memory).
  clustering_coefficients_run run(graph::graph_view const& g) {
    std::size_t const n = g.vertices();
    clustering_coefficients_run result;
    if (n == 0) return result;
    if (g.directed() && g.arcs() >> 31 != 0)
      throw error(error_code::bad_argument, "clustering_coefficients: the directed graph has " +
                                                std::to_string(g.arcs()) +
                                                " arcs; at most 2^31 - 1 are supported, use its undirected form");
    between_.reserve(n);
    pairs_.reserve(n);
    others_.reserve(n);
    local_.reserve(n);
    if (g.directed()) builder_.symmetrise(g, built_);
    graph::graph_view const edges = g.directed() ? built_.view().g : g;
    add_up(g, edges);
    exec::for_each(space_, n, detail::count_others{edges, others_.data()});
    exec::for_each(space_, n, detail::divide_by_pairs{between_.data(), others_.data(), local_.data(), pairs_.data()});
    auto const all = static_cast<double>(bulk_.sum(pairs_.data(), n));
    if (all > 0) result.global = static_cast<double>(bulk_.sum(between_.data(), n)) / all;
    if (g.present_vertices() > 0) result.average = bulk_.sum(local_.data(), n) / g.present_vertices();
    return result;
  }
  /// The local coefficient of each vertex of the graph of the last run, in device memory.
  [[nodiscard]] double const* local() const { return local_.data(); }

 private:
  /// Counts the arcs of g between the neighbours of each vertex. edges: g without directions.
  void add_up(graph::graph_view const& g, graph::graph_view const& edges) {
    std::size_t const n = g.vertices();
    space_.fill(between_.data(), 0, n * sizeof(std::uint64_t));
    if constexpr (!exec::has_tiles<Space>)
      if (!g.directed()) {
        on_host_.count_per_vertex(on_host_.rows_of(g, orientation_, bins_, graph_limits), {2}, between_.data());
        return;
      }
    graph::packed_record const* const rows =
        orientation_.make(edges, bins_.make(edges.out_records(), n, edges.arcs(), graph_limits));
    graph::vertex_id const* const targets = orientation_.targets();
    std::uint8_t* arcs = nullptr;
    if (g.directed()) {
      arcs_.reserve(edges.arcs() / 2);
      arcs = arcs_.data();
      exec::for_each_tile<8>(space_, n, detail::count_directions{g, rows, targets, arcs});
    }
    if constexpr (exec::has_tiles<Space>) {
      detail::row_bins_view const oriented = bins_.make(rows, n, edges.arcs() / 2, {2, 16, 64, 64});
      exec::for_each_tile<32>(space_, oriented.items(),
                              detail::add_opposite_arcs{rows, targets, arcs, oriented, between_.data()});
    } else {
      on_host_.count_per_vertex({rows, n, edges.arcs(), false}, {2, targets, arcs}, between_.data());
    }
  }

  static constexpr detail::bin_limits graph_limits{8, 256, 1024, 1024};
  Space space_;
  typename Space::bulk bulk_;
  detail::row_builder<Space> builder_;
  detail::built_rows<Space> built_;
  detail::row_bins<Space> bins_;
  detail::orientation<Space> orientation_;
  detail::triangles_on_host<Space> on_host_;
  exec::large_buffer<std::uint8_t, Space> arcs_;
  exec::buffer<std::uint64_t, Space> between_;
  exec::buffer<std::uint64_t, Space> pairs_;
  exec::buffer<std::uint32_t, Space> others_;
  exec::buffer<double, Space> local_;
};

/// The same for one graph, with the local coefficients in host memory.
template <class Space>
clustering_coefficients_result clustering_coefficients(Space const& space, graph::graph_view const& g) {
  clustering_coefficients_counter<Space> counter(space);
  clustering_coefficients_run const run = counter.run(g);
  clustering_coefficients_result result{{}, run.average, run.global};
  if (g.vertices() > 0) result.local = exec::copy_out(space, counter.local(), g.vertices());
  return result;
}

clustering_coefficients_result clustering_coefficients(graph::any_graph const& g);

}  // namespace wyrm::algorithms
