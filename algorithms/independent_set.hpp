// SPDX-License-Identifier: Apache-2.0
// A maximal independent set: no two of its vertices are neighbours, and each other vertex has a neighbour in it. The
// set is the one that a serial program finds which takes the vertices in a given order and adds each one that has no
// neighbour in the set. The order is random (Luby, SIAM J. Comput. 1986; Blelloch, Fineman, Shun, SPAA 2012), or
// prefers vertices with few neighbours, which gives larger sets (Burtscher, Devale, Azimi, Jaiganesh, Powers, "A
// High-Quality and Fast Maximal Independent Set Implementation for GPUs", ACM TOPC 2018).
//
// A vertex is decided when it joins the set, or when a neighbour has joined. Vertices that are decided at the same time
// form a frontier. A vertex of the frontier that is in the set excludes its neighbours. One that is not in the set
// decrements the counter of each neighbour after it in the order: the number of preceding neighbours that are not
// decided. A vertex joins the set when its counter reaches 0. So each row is read twice: for the first values of the
// counters, and when the vertex is decided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/atomic.hpp"
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

struct independent_set_options {
  enum class priority { random, small_degrees };
  /// Which vertices are preferred: none, or those with few neighbours. The latter gives larger sets.
  priority prefer = priority::small_degrees;
  /// Determines the random part of the order. The same seed gives the same set, in every space.
  std::uint64_t seed = 0;
};

struct independent_set_result {
  std::vector<std::uint8_t> member;  // of each vertex: 1 if it is in the set, else 0; 0 for absent vertices
  std::size_t size = 0;              // of the set
};

namespace detail {

/// One lane per vertex: a vertex that waits for no neighbour is in the set.
struct begin_set {
  graph::graph_view g;
  std::uint32_t const* waiting;
  std::uint8_t* member;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    bool const joins = valid && g.is_present(v) && waiting[v] == 0;
    if (valid) member[v] = joins ? 1 : 0;
    to.add(t, g, v, joins && g.degree(v) > 0);
  }
};

/// One tile per item of a frontier of decided vertices. The mark of a vertex says that it is decided. The counter of a
/// vertex that has a neighbour in the set never reaches 0: the neighbour precedes it, and does not decrement its
/// counter. So a vertex is either excluded or joins the set, never both.
struct decide_neighbours {
  graph::graph_view g;
  vertex_order order;
  std::uint32_t* waiting;
  std::uint8_t* member;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    graph::vertex_id const v = item.vertex;
    bool const excludes = member[v] != 0;
    graph::neighbour_list const part = item.part_of(g.neighbours(v));
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const u = has ? part[i + t.rank()] : v;
      bool decides = u != v && (exec::load_recent(next.marks[u / 32]) >> u % 32 & 1) == 0;
      if (!excludes && decides) {
        decides = order.precedes(v, u) && exec::atomic_ref<std::uint32_t>(waiting[u]).fetch_sub(1, exec::relaxed) == 1;
        if (decides) member[u] = 1;
      }
      next.add(t, g, u, decides);
    }
  }
};

/// One tile per block of vertices.
struct count_members {
  static constexpr std::size_t block = 1024;
  std::uint8_t const* member;
  std::size_t vertices;
  std::uint32_t* count;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t b) const {
    std::size_t const end = (b + 1) * block < vertices ? (b + 1) * block : vertices;
    std::uint32_t all = 0;
    for (std::size_t v = b * block + t.rank(); v < end; v += Tile::size()) all += member[v];
    all = exec::sum(t, all);
    if (t.rank() == 0 && all > 0) exec::atomic_ref<std::uint32_t>(*count).fetch_add(all, exec::relaxed);
  }
};

}  // namespace detail

/// Finds independent sets of different graphs, or of one changing graph; the set and scratch memory stay on the device:
/// about 25 bytes per vertex and 1/16 byte per arc. Not thread-safe.
template <class Space>
class independent_set_finder {
 public:
  explicit independent_set_finder(Space const& space)
      : space_(space), rounds_(space), vertices_(space), member_(space), count_(space, 1) {}

  /// Returns the size of the set. Self-loops are ignored. O(vertices + arcs), with a launch per large frontier, or for
  /// several small ones; there are O(log vertices) frontiers with high probability for a random order (Fischer and
  /// Noever, SODA 2018). Throws error(bad_argument) for a directed graph, and error(out_of_memory).
  std::size_t run(graph::graph_view const& g, independent_set_options const& o = {}) {
    detail::require_undirected(g, "independent_set");
    std::size_t const n = g.vertices();
    if (n == 0) return 0;
    member_.reserve(n);
    bool const by_degree = o.prefer == independent_set_options::priority::small_degrees;
    vertices_.make(g, by_degree ? detail::vertex_rank::small_degrees_first : detail::vertex_rank::random, o.seed,
                   rounds_);
    exec::for_each_lane<32>(space_, n, detail::begin_set{g, vertices_.waiting(), member_.data(), rounds_.now()});
    rounds_.run(detail::decide_neighbours{g, vertices_.order(), vertices_.waiting(), member_.data(), {}});
    space_.fill(count_.data(), 0, count_.bytes());
    constexpr std::size_t block = detail::count_members::block;
    exec::for_each_tile<32>(space_, (n + block - 1) / block, detail::count_members{member_.data(), n, count_.data()});
    return exec::read(space_, count_.data());
  }
  /// Of each vertex of the graph of the last run, in device memory: 1 if it is in the set, else 0.
  [[nodiscard]] std::uint8_t const* member() const { return member_.data(); }

 private:
  Space space_;
  detail::rounds<Space> rounds_;
  detail::ordered_vertices<Space> vertices_;
  exec::buffer<std::uint8_t, Space> member_;
  exec::buffer<std::uint32_t, Space> count_;
};

/// The same, with the set in host memory.
template <class Space>
independent_set_result independent_set(Space const& space, graph::graph_view const& g,
                                       independent_set_options const& o = {}) {
  independent_set_finder<Space> finder(space);
  std::size_t const size = finder.run(g, o);
  return {exec::copy_out(space, finder.member(), g.vertices()), size};
}

independent_set_result independent_set(graph::any_graph const& g, independent_set_options const& o = {});

}  // namespace wyrm::algorithms
