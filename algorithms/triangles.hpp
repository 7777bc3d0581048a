// SPDX-License-Identifier: Apache-2.0
// Triangle counting by intersection of sorted rows. The graph is oriented: each edge is kept in one direction, from the
// end with fewer neighbours to the other (detail/orientation.hpp), or, where that would not pay, by ids. Each triangle
// is then found once: as a common entry of the rows of both ends of the arc between its first two corners. On a device
// one lane intersects two short rows; for longer rows the lanes of a warp look up the entries of the shorter row in the
// longer one. If a memory manager has oriented rows in host memory, they are copied to the device in windows
// (detail/row_windows.hpp). On a host a thread marks one row in a table (detail/triangles_on_host.hpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/orientation.hpp"
#include "detail/requirements.hpp"
#include "detail/row_bins.hpp"
#include "detail/row_windows.hpp"
#include "detail/triangles_on_host.hpp"

namespace wyrm::algorithms {

struct triangles_options {
  bool per_vertex = false;  // also count the triangles of each vertex
  bool clustering = false;  // also compute clustering coefficients; implies per_vertex
};

struct triangles_result {
  std::uint64_t total = 0;
  std::vector<std::uint64_t> per_vertex;  // empty unless requested
  /// Of each vertex: its triangles divided by the pairs of its neighbours (Watts and Strogatz 1998); 0 with fewer than
  /// two neighbours. Self-loops do not count. Empty unless requested.
  std::vector<double> local_clustering;
  double average_clustering = 0;  // the mean of the local coefficients; 0 without vertices
  double global_clustering = 0;   // three times the triangles divided by all pairs of neighbours; 0 without pairs
};

namespace detail {

/// The total is spread over several counters: a device performs one atomic addition to an address at a time.
inline constexpr unsigned places_of_total = 256;

/// Positions in a row.
struct row_range {
  std::uint32_t begin;
  std::uint32_t end;
};

/// The rows of the graph itself, oriented by id: only the entries after the vertex itself belong to the orientation.
struct rows_by_id {
  graph::packed_record const* rows;

  /// The vertex and the oriented row of a row in the bins.
  [[nodiscard]] WYRM_HD graph::vertex_id vertex(graph::vertex_id in_bin) const { return in_bin; }
  [[nodiscard]] WYRM_HD graph::neighbour_list source(graph::vertex_id u, graph::vertex_record const& row) const {
    std::uint32_t const first = graph::lower_bound(row.page, row.degree, u + 1);
    return {row.page + first, row.degree - first};
  }
  /// The entries of an oriented row whose own rows are intersected with it.
  [[nodiscard]] WYRM_HD row_range targets(graph::neighbour_list const& r) const { return {0, r.size}; }
  [[nodiscard]] WYRM_HD graph::neighbour_list target(graph::vertex_id v) const { return source(v, rows[v]); }
  /// The entries of a row that may also be in the row of its i-th entry: those after it.
  [[nodiscard]] WYRM_HD graph::neighbour_list rest(graph::neighbour_list const& r, std::uint32_t i) const {
    return {r.data + i + 1, r.size - i - 1};
  }
};

struct rows_by_degree {
  graph::packed_record const* rows;

  [[nodiscard]] WYRM_HD graph::vertex_id vertex(graph::vertex_id in_bin) const { return in_bin; }
  [[nodiscard]] WYRM_HD graph::neighbour_list source(graph::vertex_id, graph::vertex_record const& row) const {
    return {row.page, row.degree};
  }
  [[nodiscard]] WYRM_HD row_range targets(graph::neighbour_list const& r) const { return {0, r.size}; }
  [[nodiscard]] WYRM_HD graph::neighbour_list target(graph::vertex_id v) const { return source(v, rows[v]); }
  [[nodiscard]] WYRM_HD graph::neighbour_list rest(graph::neighbour_list const& r, std::uint32_t) const { return r; }
};

/// The same, of which two windows can be read. The bins have the rows of the first one, with positions in it.
struct rows_in_windows {
  rows_in_order all;
  row_window from;
  row_window to;

  [[nodiscard]] WYRM_HD graph::vertex_id vertex(graph::vertex_id in_bin) const { return from.first + in_bin; }
  [[nodiscard]] WYRM_HD graph::neighbour_list source(graph::vertex_id, graph::vertex_record const& row) const {
    return {from.entries + (static_cast<std::uint64_t>(row.page - all.entries) - from.first_entry), row.degree};
  }
  [[nodiscard]] WYRM_HD row_range targets(graph::neighbour_list const& r) const {
    return {graph::lower_bound(r.data, r.size, to.first), graph::lower_bound(r.data, r.size, to.last)};
  }
  [[nodiscard]] WYRM_HD graph::neighbour_list target(graph::vertex_id v) const {
    std::uint64_t const first = all.offsets[v];
    return {to.entries + (first - to.first_entry), static_cast<std::uint32_t>(all.offsets[v + 1] - first)};
  }
  [[nodiscard]] WYRM_HD graph::neighbour_list rest(graph::neighbour_list const& r, std::uint32_t) const { return r; }
};

/// One tile per item of the bins of oriented rows.
template <class Rows>
struct count_triangles {
  Rows rows;
  row_bins_view bins;
  std::uint64_t* totals;
  std::uint64_t* per_vertex;  // or nullptr

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    counter here{*this, 0};
    bins.dispatch(t, static_cast<std::uint32_t>(item), here);
    std::uint64_t const found = exec::sum(t, here.found);
    if (t.rank() == 0 && found > 0) add(totals[exec::thread_number(t) / 32 % places_of_total], found);
  }

 private:
  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }

  struct counter {
    count_triangles const& c;
    std::uint64_t found;  // by this lane

    template <class Tile>
    WYRM_HD void lane(Tile const&, graph::vertex_id u, graph::vertex_record const& row, bool valid) {
      if (!valid) return;
      graph::neighbour_list const r = c.rows.source(u, row);
      if (r.size < 2) return;
      row_range const at = c.rows.targets(r);
      for (std::uint32_t i = at.begin; i < at.end; ++i) intersect_per_lane(u, c.rows.rest(r, i), r[i]);
    }
    template <class Tile>
    WYRM_HD void group(Tile const& t, graph::vertex_id u, graph::vertex_record const& row, bool valid) {
      constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
      if (!valid) return;
      graph::neighbour_list const r = c.rows.source(u, row);
      row_range const at = c.rows.targets(r);
      for (std::uint32_t i = at.begin + t.rank() % lanes; i < at.end; i += lanes)
        intersect_per_lane(u, c.rows.rest(r, i), r[i]);
    }
    template <class Tile>
    WYRM_HD void warp(Tile const& t, graph::vertex_id u, graph::vertex_record const& row) {
      graph::neighbour_list const r = c.rows.source(u, row);
      row_range const at = c.rows.targets(r);
      for (std::uint32_t i = at.begin; i < at.end; ++i) intersect_per_warp(t, u, c.rows.rest(r, i), r[i]);
    }
    template <class Tile>
    WYRM_HD void part(Tile const& t, std::uint32_t number) {
      row_part const p = c.bins.part(number);
      graph::neighbour_list const r = c.rows.source(p.vertex, p.row);
      std::uint32_t const skipped = p.row.degree - r.size;
      row_range const all = c.rows.targets(r);
      std::uint32_t const first = p.begin > skipped + all.begin ? p.begin : skipped + all.begin;
      std::uint32_t const last = p.end < skipped + all.end ? p.end : skipped + all.end;
      for (std::uint32_t i = first; i < last; ++i)
        intersect_per_warp(t, p.vertex, c.rows.rest(r, i - skipped), r[i - skipped]);
    }

    // w is the third corner of a triangle with u and v.
    WYRM_HD void add_triangle(graph::vertex_id w) {
      ++found;
      if (c.per_vertex != nullptr) add(c.per_vertex[w], 1);
    }
    WYRM_HD void add_to_ends(graph::vertex_id u, graph::vertex_id v, std::uint64_t before) const {
      if (c.per_vertex == nullptr || found == before) return;
      add(c.per_vertex[c.rows.vertex(u)], found - before);
      add(c.per_vertex[v], found - before);
    }

    // One lane merges both rows; if one row is much longer, the lane looks up the entries of the shorter row in it.
    WYRM_HD void intersect_per_lane(graph::vertex_id u, graph::neighbour_list const r, graph::vertex_id v) {
      graph::neighbour_list const s = c.rows.target(v);
      if (s.size == 0) return;
      std::uint64_t const before = found;
      if (s.size > 8 * r.size)
        for (std::uint32_t i = 0; i < r.size; ++i) look_up(r[i], s);
      else if (r.size > 8 * s.size)
        for (std::uint32_t i = 0; i < s.size; ++i) look_up(s[i], r);
      else
        step_through(r, s);
      add_to_ends(u, v, before);
    }
    WYRM_HD void step_through(graph::neighbour_list const r, graph::neighbour_list const s) {
      for (std::uint32_t i = 0, k = 0; i < r.size && k < s.size;) {
        graph::vertex_id const a = r[i];
        graph::vertex_id const b = s[k];
        if (a == b) add_triangle(a);
        i += a <= b ? 1 : 0;
        k += b <= a ? 1 : 0;
      }
    }
    template <class Tile>
    WYRM_HD void intersect_per_warp(Tile const& t, graph::vertex_id u, graph::neighbour_list const r,
                                    graph::vertex_id v) {
      graph::neighbour_list const s = c.rows.target(v);
      std::uint64_t const before = found;
      if (r.size < s.size)
        look_up_all(t, r, s);
      else
        look_up_all(t, s, r);
      add_to_ends(u, v, before);
    }
    template <class Tile>
    WYRM_HD void look_up_all(Tile const& t, graph::neighbour_list const few, graph::neighbour_list const many) {
      for (std::uint32_t i = t.rank(); i < few.size; i += Tile::size()) look_up(few[i], many);
    }
    WYRM_HD void look_up(graph::vertex_id w, graph::neighbour_list const many) {
      if (graph::contains(many, w)) add_triangle(w);
    }
  };
};

/// The number of neighbours of each vertex, without the vertex itself.
struct count_others {
  graph::graph_view g;
  std::uint32_t* others;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    graph::neighbour_list const all = g.neighbours(v);
    others[i] = all.size - (graph::contains(all, v) ? 1u : 0u);
  }
};

inline void set_clustering(triangles_result& r, std::vector<std::uint32_t> const& others) {
  double pairs = 0;
  r.local_clustering.resize(others.size());
  for (std::size_t v = 0; v < others.size(); ++v) {
    double const here = 0.5 * others[v] * (others[v] - 1.0);
    pairs += here;
    r.local_clustering[v] = here > 0 ? static_cast<double>(r.per_vertex[v]) / here : 0;
  }
  if (others.empty()) return;
  r.average_clustering =
      std::accumulate(r.local_clustering.begin(), r.local_clustering.end(), 0.0) / static_cast<double>(others.size());
  r.global_clustering = pairs > 0 ? 3 * static_cast<double>(r.total) / pairs : 0;
}

}  // namespace detail

/// Counts the triangles of different graphs, or of one changing graph, and keeps its scratch memory. Not thread-safe.
template <class Space>
class triangle_counter {
 public:
  explicit triangle_counter(Space const& space)
      : space_(space),
        orientation_(space),
        bins_(space),
        oriented_bins_(space),
        on_host_(space),
        totals_(space, detail::places_of_total),
        corners_(space),
        others_(space) {}

  /// O(arcs + sum over edges of the shorter of two oriented rows, times a logarithm), which is O(edges^1.5 log edges);
  /// on a host without the logarithm. Scratch: as detail::orientation; on a host 1/8 byte per vertex for each thread,
  /// or 8 if triangles of vertices are counted, and an orientation only where degrees are uneven. Self-loops form no
  /// triangle. Throws error(bad_argument) for a directed graph.
  triangles_result count(graph::graph_view const& g, triangles_options const& o = {}) {
    detail::require_undirected(g, "triangles");
    std::size_t const n = g.vertices();
    bool const per_vertex = o.per_vertex || o.clustering;
    triangles_result result;
    if (n == 0) return result;
    corners_.reserve(per_vertex ? n : 0);
    if (per_vertex) space_.fill(corners_.data(), 0, n * sizeof(std::uint64_t));

    std::uint64_t* const corners = per_vertex ? corners_.data() : nullptr;
    if constexpr (!exec::has_tiles<Space>) {
      result.total = count_by_threads(g, corners);
    } else {
      space_.fill(totals_.data(), 0, totals_.bytes());
      count_by_warps(g, corners);
      for (std::uint64_t const count : exec::copy_out(space_, totals_.data(), totals_.size())) result.total += count;
    }
    if (per_vertex) result.per_vertex = exec::copy_out(space_, corners_.data(), n);
    if (o.clustering) {
      others_.reserve(n);
      exec::for_each(space_, n, detail::count_others{g, others_.data()});
      detail::set_clustering(result, exec::copy_out(space_, others_.data(), n));
    }
    return result;
  }
  /// Requests all memory that count() needs for this many vertices, and up to this many arcs, without `clustering`.
  /// Throws error(out_of_memory). If a memory manager has oriented rows in host memory, count() frees 8 bytes per
  /// vertex of it for windows, and requests them again in the next call.
  void reserve(std::size_t n, std::uint64_t arcs, bool per_vertex) {
    corners_.reserve(per_vertex ? n : 0);
    bins_.reserve(n, arcs, graph_limits);
    orientation_.reserve(n, arcs, graph_limits.max_parts(arcs));
    if constexpr (exec::has_tiles<Space>)
      oriented_bins_.reserve(n, arcs / 2, oriented_limits);
    else
      on_host_.reserve(n, arcs, per_vertex);
  }

 private:
  // If all rows are short, an orientation by degree would not pay.
  void count_by_warps(graph::graph_view const& g, std::uint64_t* corners) {
    std::size_t const n = g.vertices();
    graph::packed_record const* rows = g.out_records();
    detail::row_bins_view work = bins_.make(rows, n, g.arcs(), graph_limits);
    if (work.lane_rows == n) {
      count_items(detail::rows_by_id{rows}, work, corners);
      return;
    }
    rows = orientation_.make(g, work);
    oriented_bins_.reserve(n, g.arcs() / 2, oriented_limits);
    if (space_.manager() != nullptr && count_in_windows(rows, g, corners)) return;
    count_items(detail::rows_by_degree{rows}, oriented_bins_.make(rows, n, g.arcs() / 2, oriented_limits), corners);
  }
  // Returns false if all rows are on the device, or there is no room for windows.
  bool count_in_windows(graph::packed_record const* rows, graph::graph_view const& g, std::uint64_t* corners) {
    std::size_t const n = g.vertices();
    std::uint64_t const entries = exec::read(space_, orientation_.offsets() + n);
    if (!orientation_.is_in_host_memory(n, entries)) return false;
    orientation_.release_scratch();
    detail::rows_in_order const all{orientation_.offsets(), orientation_.targets(), static_cast<graph::vertex_id>(n),
                                    entries, static_cast<std::uint64_t>(std::sqrt(g.arcs())) + 1};
    detail::row_bins_view work{};
    return detail::for_each_pair_of_windows(
        space_, all,
        [&](detail::row_window const& from) {
          work = oriented_bins_.make(rows + from.first, from.last - from.first, from.last_entry - from.first_entry,
                                     oriented_limits);
        },
        [&](detail::row_window const& from, detail::row_window const& to) {
          count_items(detail::rows_in_windows{all, from, to}, work, corners);
        });
  }
  template <class Rows>
  void count_items(Rows const& rows, detail::row_bins_view const& work, std::uint64_t* corners) {
    exec::for_each_tile<32>(space_, work.items(), detail::count_triangles<Rows>{rows, work, totals_.data(), corners});
  }
  std::uint64_t count_by_threads(graph::graph_view const& g, std::uint64_t* corners) {
    detail::triangle_rows const rows = on_host_.rows_of(g, orientation_, bins_, graph_limits);
    return corners == nullptr ? on_host_.count(rows) : on_host_.count_per_vertex(rows, {1}, corners);
  }

  static constexpr detail::bin_limits graph_limits{8, 256, 1024, 1024};
  static constexpr detail::bin_limits oriented_limits{2, 16, 64, 64};
  Space space_;
  detail::orientation<Space> orientation_;
  detail::row_bins<Space> bins_;
  detail::row_bins<Space> oriented_bins_;
  detail::triangles_on_host<Space> on_host_;
  exec::buffer<std::uint64_t, Space> totals_;
  exec::buffer<std::uint64_t, Space> corners_;
  exec::buffer<std::uint32_t, Space> others_;
};

/// The same for a single count.
template <class Space>
triangles_result triangles(Space const& space, graph::graph_view const& g, triangles_options const& o = {}) {
  return triangle_counter<Space>(space).count(g, o);
}

triangles_result triangles(graph::any_graph const& g, triangles_options const& o = {});

}  // namespace wyrm::algorithms
