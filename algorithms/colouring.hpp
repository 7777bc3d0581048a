// SPDX-License-Identifier: Apache-2.0
// A colouring: neighbours have different colours. Vertices are coloured in an order, each with the smallest colour that
// no neighbour before it has. Vertices whose preceding neighbours are all coloured form a frontier (Jones and
// Plassmann, SIAM J. Sci. Comput. 1993). The order begins with large degrees, by classes of degrees, and is random
// within a class: this needs few colours, and has short chains of vertices that wait for each other (Hasenplaugh,
// Kaler, Schardl, Leiserson, "Ordering Heuristics for Parallel Graph Coloring", SPAA 2014).
//
// Each vertex has a bitmap of the colours that it cannot have, with one bit more than it has neighbours before it: a
// greater colour is never needed. A coloured vertex sets its bit in the bitmaps of the neighbours after it, so that a
// row of any length is read in parts, and only once besides the count of the neighbours that precede its vertex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/requirements.hpp"
#include "detail/rounds.hpp"
#include "detail/vertex_order.hpp"

namespace wyrm::algorithms {

struct colouring_options {
  /// Determines the random part of the order. The same seed gives the same colours, in every space.
  std::uint64_t seed = 0;
};

struct colouring_result {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> colour;  // of each vertex, from 0 on; none for absent vertices
  std::uint32_t colours = 0;          // that occur; at most one more than the largest degree
};

namespace detail {

struct size_bitmaps {
  graph::graph_view g;
  std::uint32_t const* waiting;
  std::uint32_t* words;
  WYRM_HD void operator()(std::size_t v) const {
    words[v] = g.degree(static_cast<graph::vertex_id>(v)) > 0 ? waiting[v] / 32 + 1 : 0;
  }
};

/// One lane per vertex: lists the vertices that wait for no neighbour.
struct begin_colouring {
  graph::graph_view g;
  std::uint32_t const* waiting;
  std::uint32_t* colour;  // of all vertices without neighbours; the others are coloured later
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    bool const has_row = valid && g.degree(v) > 0;
    if (valid && !has_row) colour[v] = g.is_present(v) ? 0 : colouring_result::none;
    to.append(t, g, v, has_row && waiting[v] == 0);
  }
};

/// One tile per item of a frontier. Of the neighbours of a vertex, those before it wait for none, and those after it
/// wait at least for the vertex itself.
struct colour_vertices {
  graph::graph_view g;
  std::uint64_t const* begins;  // of the bitmaps, in words
  std::uint32_t* bitmaps;
  std::uint32_t* waiting;
  std::uint32_t* colour;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    std::uint32_t const c = first_clear(t, bitmaps + begins[v], begins[v + 1] - begins[v]);
    if (t.rank() == 0 && item.part == 0) colour[v] = c;
    graph::neighbour_list const part = item.part_of(g.neighbours(v));
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const u = has ? part[i + t.rank()] : v;
      bool const is_after = exec::load_recent(waiting[u]) > 0;
      if (is_after) forbid(u, c);
      bool const is_next = is_after && exec::atomic_ref<std::uint32_t>(waiting[u]).fetch_sub(1, exec::relaxed) == 1;
      next.append(t, g, u, is_next);
    }
  }

 private:
  /// The position of the first bit that is clear. There is one: the bitmap has more bits than v has neighbours before
  /// it, each of which has set at most one. Collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD static std::uint32_t first_clear(Tile const& t, std::uint32_t const* bits,
                                                         std::uint64_t words) {
    for (std::uint32_t begin = 0; begin < words; begin += Tile::size()) {
      std::uint32_t const word = begin + t.rank() < words ? bits[begin + t.rank()] : ~std::uint32_t{0};
      std::uint32_t const lanes = t.ballot(word != ~std::uint32_t{0});
      if (lanes == 0) continue;
      unsigned const lane = exec::first_lane(lanes);
      return (begin + lane) * 32 + static_cast<std::uint32_t>(cuda::std::countr_one(t.shfl(word, lane)));
    }
    return static_cast<std::uint32_t>(words) * 32;
  }
  WYRM_HD void forbid(graph::vertex_id u, std::uint32_t c) const {
    std::uint64_t const word = begins[u] + c / 32;
    std::uint32_t const bit = 1u << c % 32;
    if (word < begins[u + 1] && (exec::load_recent(bitmaps[word]) & bit) == 0)
      exec::atomic_ref<std::uint32_t>(bitmaps[word]).fetch_or(bit, exec::relaxed);
  }
};

/// One lane per vertex: the number of colours.
struct count_colours {
  std::uint32_t const* colour;
  std::uint32_t* colours;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t v, bool valid) const {
    std::uint32_t const own = valid ? colour[v] + 1 : 0;  // 0: absent
    if (own > exec::load_recent(*colours)) exec::atomic_ref<std::uint32_t>(*colours).fetch_max(own, exec::relaxed);
  }
};

}  // namespace detail

/// Colours different graphs, or one changing graph; colours and scratch memory stay on the device: about 40 bytes per
/// vertex and 1/8 byte per arc. Not thread-safe.
template <class Space>
class colouring_finder {
 public:
  explicit colouring_finder(Space const& space)
      : space_(space),
        bulk_(space),
        rounds_(space),
        vertices_(space),
        colour_(space),
        begins_(space),
        bitmaps_(space),
        colours_(space, 1) {}

  /// Returns the number of colours, which is at most one more than the largest degree. Self-loops are ignored.
  /// O(vertices + arcs), with a launch per large frontier, or for several small ones; there are as many frontiers as
  /// the longest chain of neighbours in the order has vertices. Throws error(bad_argument) for a directed graph, and
  /// error(out_of_memory).
  std::uint32_t run(graph::graph_view const& g, colouring_options const& o = {}) {
    detail::require_undirected(g, "colouring");
    std::size_t const n = g.vertices();
    if (n == 0) return 0;
    colour_.reserve(n);
    begins_.reserve(n + 1);
    vertices_.make(g, detail::vertex_rank::large_degrees_first, o.seed, rounds_);
    exec::for_each(space_, n, detail::size_bitmaps{g, vertices_.waiting(), colour_.data()});
    bulk_.inclusive_sum(colour_.data(), begins_.data(), n);
    std::uint64_t const words = exec::read(space_, begins_.data() + n);
    bitmaps_.reserve(words);
    if (words > 0) space_.fill(bitmaps_.data(), 0, words * sizeof(std::uint32_t));
    exec::for_each_lane<32>(space_, n, detail::begin_colouring{g, vertices_.waiting(), colour_.data(), rounds_.now()});
    rounds_.run(detail::colour_vertices{g, begins_.data(), bitmaps_.data(), vertices_.waiting(), colour_.data(), {}});
    space_.fill(colours_.data(), 0, colours_.bytes());
    exec::for_each_lane<32>(space_, n, detail::count_colours{colour_.data(), colours_.data()});
    return exec::read(space_, colours_.data());
  }
  /// Of each vertex of the graph of the last run, in device memory: its colour, or colouring_result::none.
  [[nodiscard]] std::uint32_t const* colour() const { return colour_.data(); }

 private:
  Space space_;
  typename Space::bulk bulk_;
  detail::rounds<Space> rounds_;
  detail::ordered_vertices<Space> vertices_;
  exec::buffer<std::uint32_t, Space> colour_;  // before vertices are coloured, the sizes of their bitmaps
  exec::buffer<std::uint64_t, Space> begins_;
  exec::buffer<std::uint32_t, Space> bitmaps_;
  exec::buffer<std::uint32_t, Space> colours_;
};

/// The same, with all colours in host memory.
template <class Space>
colouring_result colouring(Space const& space, graph::graph_view const& g, colouring_options const& o = {}) {
  colouring_finder<Space> finder(space);
  std::uint32_t const colours = finder.run(g, o);
  return {exec::copy_out(space, finder.colour(), g.vertices()), colours};
}

colouring_result colouring(graph::any_graph const& g, colouring_options const& o = {});

}  // namespace wyrm::algorithms
