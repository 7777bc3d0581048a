// SPDX-License-Identifier: Apache-2.0
// Trussness. The k-truss of a graph is its largest subgraph in which each edge is in at least k - 2 triangles (Cohen,
// "Trusses", 2008); the trussness of an edge is the greatest k such that the k-truss contains the edge. Edges are
// peeled by the number of their triangles, all that can be removed at the same time in one round, as PKT does (Kabir
// and Madduri, HPEC 2017). A removed edge looks for the triangles that it closes: it reads the shorter row of its two
// ends, and looks the entries up in the other row. Rows longer than 256 entries are read by several tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/device_array.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/larger_neighbours.hpp"
#include "detail/peeling.hpp"
#include "detail/requirements.hpp"
#include "detail/rounds.hpp"
#include "detail/row_bins.hpp"
#include "detail/weights.hpp"
#include "edge_support.hpp"

namespace wyrm::algorithms {

struct trussness_result {
  std::vector<std::uint32_t> trussness;  // of each arc, in the order of to_csr(); 0 for self-loops
  std::uint32_t largest = 0;             // 0 without edges between different vertices
};

namespace detail {

/// The edges between different vertices, numbered in the order of their arcs from the smaller end. Such an edge has
/// one state for both directions.
struct numbered_edges {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  graph::graph_view g;
  std::uint64_t const* offsets;
  graph::edge* ends;       // the smaller id first
  std::uint32_t* of_arcs;  // the number of the edge of each arc; none for self-loops
  std::uint32_t* support;  // triangles that remain
  std::uint32_t* round;    // in which the edge is removed; none until it is in a frontier

  [[nodiscard]] WYRM_HD std::uint32_t shorter_row(std::uint32_t e) const {
    std::uint32_t const a = g.degree(ends[e].source);
    std::uint32_t const b = g.degree(ends[e].target);
    return a < b ? a : b;
  }
  /// Adds the edge of each lane that has one to the frontier of round r; collective. An edge is added once.
  template <class Tile>
  WYRM_HD void add(Tile const& t, frontier const& to, std::uint32_t r, std::uint32_t e, bool has) const {
    if (!t.any(has)) return;
    if (has) exec::atomic_ref<std::uint32_t>(round[e]).store(r, exec::relaxed);
    to.append(t, e, has ? frontier_item::parts(shorter_row(e)) : 0);
  }
};

/// One tile per item of the bins of all rows. of_arcs contains supports at the beginning, and the number of an edge
/// replaces those of both of its arcs. Only the lane that has the arc from the smaller end reads a support: that of
/// this arc.
struct number_edges {
  row_bins_view bins;
  numbered_edges to;
  std::uint32_t const* later;
  std::uint64_t const* later_before;  // prefix sums of later

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    for_each_entry(t, bins, static_cast<std::uint32_t>(item), *this);
  }
  WYRM_HD void visit(graph::vertex_id u, graph::vertex_record const& row, std::uint32_t first, std::uint32_t end,
                     std::uint32_t step) const {
    std::uint32_t const skipped = row.degree - later[u];
    for (std::uint32_t i = first; i < end; i += step) {
      graph::vertex_id const v = row.page[i];
      std::uint32_t& of_arc = to.of_arcs[to.offsets[u] + i];
      if (v == u) of_arc = to.none;
      if (v <= u) continue;
      auto const e = static_cast<std::uint32_t>(later_before[u] + (i - skipped));
      graph::neighbour_list const other = to.g.neighbours(v);
      to.ends[e] = {u, v};
      to.support[e] = of_arc;
      of_arc = e;
      to.of_arcs[to.offsets[v] + graph::lower_bound(other.data, other.size, u)] = e;
    }
  }
};

/// One lane per edge: adds up the lengths of rows that are read by several tiles.
struct add_up_long_rows {
  numbered_edges all;
  std::uint64_t* sum;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t e, bool valid) const {
    std::uint32_t const length = valid ? all.shorter_row(static_cast<std::uint32_t>(e)) : 0;
    bool const is_long = length > frontier_item::part_size;
    if (!t.any(is_long)) return;
    std::uint64_t const here = exec::sum(t, std::uint64_t{is_long ? length : 0});
    if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(*sum).fetch_add(here, exec::relaxed);
  }
};

/// The edges that remained after the previous k. See peeler.
struct edge_peeling {
  numbered_edges all;
  frontier now;
  std::uint32_t number;  // of the round that processes `now`
  [[nodiscard]] WYRM_HD bool is_removed(std::uint32_t e) const { return all.round[e] != all.none; }
  [[nodiscard]] WYRM_HD std::uint32_t left_of(std::uint32_t e) const { return all.support[e]; }
  template <class Tile>
  WYRM_HD void remove(Tile const& t, std::uint32_t e, bool has) const {
    all.add(t, now, number, e, has);
  }
};

/// One tile per item of the frontier, which removes its edge. Of a triangle that no earlier round has cut, the edges
/// that are not in the frontier lose it, once: if two edges are in the frontier, the one with the smaller number
/// decides. The lane that decrements a support from k + 1 to k adds the edge to the next frontier. An edge with a
/// support of at most k is already in a frontier.
struct peel_edges {
  numbered_edges all;
  std::uint32_t* trussness;  // of each edge
  std::uint32_t number;      // of this round
  peeling_state const* state;
  frontier next;

  WYRM_HD void set_number(std::uint32_t n) { number = n; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    std::uint32_t const e = item.vertex;
    if (t.rank() == 0 && item.part == 0) trussness[e] = state->k + 2;
    graph::edge const ends = all.ends[e];
    bool const turned = all.g.degree(ends.target) < all.g.degree(ends.source);
    graph::vertex_id const from = turned ? ends.target : ends.source;
    graph::vertex_id const to = turned ? ends.source : ends.target;
    graph::neighbour_list const few = all.g.neighbours(from);
    graph::neighbour_list const many = all.g.neighbours(to);
    graph::neighbour_list const part = item.part_of(few);
    std::uint32_t const* const of_few = all.of_arcs + all.offsets[from] + (part.data - few.data);
    std::uint32_t const* const of_many = all.of_arcs + all.offsets[to];
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      cut const c = i + t.rank() < part.size
                        ? triangle(e, from, to, part[i + t.rank()], of_few[i + t.rank()], many, of_many)
                        : cut{};
      bool const first = c.first != all.none && decrement(c.first);
      bool const second = c.second != all.none && decrement(c.second);
      all.add(t, next, number + 1, c.first, first);
      all.add(t, next, number + 1, c.second, second);
    }
  }

 private:
  /// The edges that lose a triangle.
  struct cut {
    std::uint32_t first = numbered_edges::none;
    std::uint32_t second = numbered_edges::none;
  };
  /// Not less than `number` unless an earlier round has removed the edge; `number` if this one does.
  [[nodiscard]] WYRM_HD std::uint32_t round_of(std::uint32_t e) const { return exec::load_recent(all.round[e]); }
  /// f: the edge from the end with the shorter row to w.
  [[nodiscard]] WYRM_HD cut triangle(std::uint32_t e, graph::vertex_id from, graph::vertex_id to, graph::vertex_id w,
                                     std::uint32_t f, graph::neighbour_list const& many,
                                     std::uint32_t const* of_many) const {
    if (w == from || w == to) return {};
    std::uint32_t const round_of_f = round_of(f);
    if (round_of_f < number) return {};
    std::uint32_t const at = graph::lower_bound(many.data, many.size, w);
    if (at == many.size || many[at] != w) return {};
    std::uint32_t const h = of_many[at];
    std::uint32_t const round_of_h = round_of(h);
    if (round_of_h < number) return {};
    bool const f_is_here = round_of_f == number;
    bool const h_is_here = round_of_h == number;
    cut c;
    if (!f_is_here && (!h_is_here || e < h)) c.first = f;
    if (!h_is_here && (!f_is_here || e < f)) c.second = h;
    return c;
  }
  /// Whether the edge is to be removed in the next round.
  [[nodiscard]] WYRM_HD bool decrement(std::uint32_t e) const {
    std::uint32_t const k = state->k;
    return exec::load_recent(all.support[e]) > k &&
           exec::atomic_ref<std::uint32_t>(all.support[e]).fetch_sub(1, exec::relaxed) == k + 1;
  }
};

/// From the trussness of edges to that of arcs, in place of the numbers of edges.
struct spread_to_arcs {
  std::uint32_t const* trussness;
  std::uint32_t* of_arcs;
  WYRM_HD void operator()(std::size_t arc) const {
    of_arcs[arc] = of_arcs[arc] == numbered_edges::none ? 0 : trussness[of_arcs[arc]];
  }
};

struct mark_truss {
  std::uint32_t const* trussness;
  std::uint32_t k;
  std::uint32_t* marks;
  WYRM_HD void operator()(std::size_t e) const { marks[e] = trussness[e] >= k ? 1 : 0; }
};
struct copy_truss {
  std::uint32_t const* marks;
  std::uint64_t const* before;
  graph::edge const* ends;
  graph::edge* to;
  WYRM_HD void operator()(std::size_t e) const {
    if (marks[e] != 0) to[before[e]] = ends[e];
  }
};

}  // namespace detail

/// Finds the trussness of the edges of different graphs, or of one changing graph, and keeps the results in device
/// memory, and its scratch memory. Not thread-safe. An object after an exception is like a new one.
template <class Space>
class truss_decomposer {
 public:
  explicit truss_decomposer(Space const& space)
      : space_(space),
        bulk_(space),
        supports_(space),
        bins_(space),
        rounds_(space),
        peeler_(space),
        later_(space),
        before_(space),
        ends_(space),
        of_arcs_(space),
        support_(space),
        round_(space),
        trussness_(space),
        long_rows_(space, 1) {}

  /// Finds the trussness of all edges of an undirected graph; returns the largest, or 0 without edges between different
  /// vertices. O(sum over edges of the smaller degree of both ends, times a logarithm), which is O(edges^1.5 log
  /// edges), with one launch per large round, or for several small ones. The host reads the size of at least every
  /// sixteenth large frontier, and synchronises at least twice for each trussness that occurs. Memory: about 45 bytes
  /// per edge, 4 per arc and 70 per vertex. Throws error(bad_argument) for a directed graph, and for 2^32 - 1 edges or
  /// more; error(out_of_memory).
  std::uint32_t run(graph::graph_view const& g) {
    edges_ = 0;
    detail::require_undirected(g, "trussness");
    if (g.arcs() == 0) return 0;
    std::uint64_t const edges = count(g);
    detail::numbered_edges const all = number(g, edges);
    std::uint32_t const largest = edges == 0 ? 0 : peel(all, edges) + 2;
    exec::for_each(space_, g.arcs(), detail::spread_to_arcs{trussness_.data(), of_arcs_.data()});
    edges_ = edges;
    return largest;
  }
  /// Of each arc of the graph of the last run, in the order of to_csr(), in device memory: equal for both directions of
  /// an edge, 2 for an edge in no triangle, 0 for a self-loop.
  [[nodiscard]] std::uint32_t const* trussness() const { return of_arcs_.data(); }

  /// The edges of the k-truss of the graph of the last run, ascending, each once, with the smaller id first. Up to k =
  /// 2 these are all edges but self-loops. O(edges); scratch of 8 bytes per edge. Throws error(out_of_memory).
  [[nodiscard]] exec::device_array<graph::edge, Space> truss(std::uint32_t k) {
    if (edges_ == 0) return exec::device_array<graph::edge, Space>(space_);
    before_.reserve(edges_ + 1);
    exec::for_each(space_, edges_, detail::mark_truss{trussness_.data(), k, support_.data()});
    bulk_.inclusive_sum(support_.data(), before_.data(), edges_);
    exec::device_array<graph::edge, Space> result(space_, exec::read(space_, before_.data() + edges_));
    exec::for_each(space_, edges_, detail::copy_truss{support_.data(), before_.data(), ends_.data(), result.data()});
    return result;
  }

 private:
  /// The number of edges between different vertices.
  [[nodiscard]] std::uint64_t count(graph::graph_view const& g) {
    std::size_t const n = g.vertices();
    later_.reserve(n);
    before_.reserve(n + 1);
    exec::for_each(space_, n, detail::count_larger{g, later_.data()});
    bulk_.inclusive_sum(later_.data(), before_.data(), n);
    std::uint64_t const edges = exec::read(space_, before_.data() + n);
    if (edges >= detail::numbered_edges::none)
      throw error(error_code::bad_argument, "trussness: the graph has " + std::to_string(edges) +
                                                " edges between different vertices; at most 2^32 - 2 are supported");
    return edges;
  }
  [[nodiscard]] detail::numbered_edges number(graph::graph_view const& g, std::uint64_t edges) {
    of_arcs_.reserve(g.arcs());
    ends_.reserve(edges);
    support_.reserve(edges);
    round_.reserve(edges);
    trussness_.reserve(edges);
    supports_.count(g, of_arcs_.data());
    space_.fill(round_.data(), 0xff, edges * sizeof(std::uint32_t));
    detail::numbered_edges const all{
        g, supports_.offsets(), ends_.data(), of_arcs_.data(), support_.data(), round_.data()};
    detail::row_bins_view const bins = bins_.make(g.out_records(), g.vertices(), g.arcs(), {32, 256, 1024, 1024});
    exec::for_each_tile<32>(space_, bins.items(), detail::number_edges{bins, all, later_.data(), before_.data()});
    return all;
  }
  /// Finds the trussness of each edge. Returns the greatest number of triangles that kept an edge.
  std::uint32_t peel(detail::numbered_edges const& all, std::uint64_t edges) {
    exec::write(space_, long_rows_.data(), std::uint64_t{0});
    exec::for_each_lane<32>(space_, edges, detail::add_up_long_rows{all, long_rows_.data()});
    // The frontiers need no more of a graph than the number of items, and the sum of their lengths.
    rounds_.begin(graph::graph_view(
        {.arcs = exec::read(space_, long_rows_.data()), .vertices = static_cast<graph::vertex_id>(edges)}));
    auto const peeling = [&](std::uint32_t number) { return detail::edge_peeling{all, rounds_.now(), number}; };
    detail::peel_edges const work{all, trussness_.data(), 0, nullptr, {}};
    return peeler_.run(static_cast<std::uint32_t>(edges), rounds_, peeling, work).greatest;
  }

  Space space_;
  typename Space::bulk bulk_;
  detail::support_counter<Space> supports_;
  detail::row_bins<Space> bins_;
  detail::rounds<Space, exec::large_buffer> rounds_;  // of edges
  detail::peeler<Space, exec::large_buffer> peeler_;
  exec::buffer<std::uint32_t, Space> later_;
  exec::large_buffer<std::uint64_t, Space> before_;
  exec::large_buffer<graph::edge, Space> ends_;
  // Of each arc: its support, then the number of its edge, then its trussness.
  exec::large_buffer<std::uint32_t, Space> of_arcs_;
  exec::large_buffer<std::uint32_t, Space> support_;
  exec::large_buffer<std::uint32_t, Space> round_;
  exec::large_buffer<std::uint32_t, Space> trussness_;  // of each edge
  exec::buffer<std::uint64_t, Space> long_rows_;
  std::uint64_t edges_ = 0;  // of the last run
};

/// The trussness of all edges, in host memory. Cost and errors: see truss_decomposer::run().
template <class Space>
trussness_result trussness(Space const& space, graph::graph_view const& g) {
  truss_decomposer<Space> decomposer(space);
  std::uint32_t const largest = decomposer.run(g);
  return {g.arcs() == 0 ? std::vector<std::uint32_t>{} : exec::copy_out(space, decomposer.trussness(), g.arcs()),
          largest};
}

/// The edges of the k-truss, in host memory: see truss_decomposer::truss().
template <class Space>
std::vector<graph::edge> k_truss(Space const& space, graph::graph_view const& g, std::uint32_t k) {
  truss_decomposer<Space> decomposer(space);
  decomposer.run(g);
  return decomposer.truss(k).to_host();
}

trussness_result trussness(graph::any_graph const& g);
std::vector<graph::edge> k_truss(graph::any_graph const& g, std::uint32_t k);

}  // namespace wyrm::algorithms
