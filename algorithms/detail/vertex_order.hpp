// SPDX-License-Identifier: Apache-2.0
// An order of the vertices in which greedy algorithms process them, and the number of neighbours that precede a vertex.
// A vertex whose preceding neighbours are all processed is processed next. All vertices for which this is true are
// processed at the same time, and the result is that of a serial program which takes one vertex after the other
// (Jones and Plassmann, "A Parallel Graph Coloring Heuristic", SIAM J. Sci. Comput. 1993).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/philox.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "rounds.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

enum class vertex_rank { random, small_degrees_first, large_degrees_first };

/// The order: a vertex precedes another one if its rank is less, or if both are equal and its id is less.
struct vertex_order {
  std::uint32_t const* ranks;

  [[nodiscard]] WYRM_HD bool precedes(graph::vertex_id u, graph::vertex_id v) const {
    std::uint32_t const of_u = ranks[u];
    std::uint32_t const of_v = ranks[v];
    return of_u < of_v || (of_u == of_v && u < v);
  }
};

/// Ranks by degree are those of classes of degrees, four classes to a doubling; ranks within a class are random. Exact
/// degrees would allow longer chains of vertices that wait for each other.
struct rank_vertices {
  graph::graph_view g;
  vertex_rank by;
  std::uint64_t seed;
  std::uint32_t* ranks;
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const hash = exec::philox({{static_cast<std::uint32_t>(v), 0, 0, 0}},
                                            static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32))
                                   .x[0];
    std::uint32_t const degrees = class_of(g.degree(static_cast<graph::vertex_id>(v)));
    if (by == vertex_rank::random)
      ranks[v] = hash;
    else
      ranks[v] = (by == vertex_rank::small_degrees_first ? degrees : most - degrees) << 24 | hash >> 8;
  }

 private:
  static constexpr std::uint32_t most = 128;  // the class of degrees of 2^32
  /// The exponent and the two leading digits of degree + 1 as a float.
  [[nodiscard]] WYRM_HD static std::uint32_t class_of(std::uint32_t degree) {
    return (cuda::std::bit_cast<std::uint32_t>(static_cast<float>(degree) + 1.0f) >> 21) - (127u << 2);
  }
};

/// One tile per item: counts the neighbours that precede a vertex. Self-loops do not count.
struct count_preceding {
  graph::graph_view g;
  vertex_order order;
  std::uint32_t* waiting;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(g.neighbours(v));
    std::uint32_t count = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) count += order.precedes(part[i], v) ? 1u : 0u;
    count = exec::sum(t, count);
    if (t.rank() == 0 && count > 0) exec::atomic_ref<std::uint32_t>(waiting[v]).fetch_add(count, exec::relaxed);
  }
};

/// Owns the order, and for each vertex the number of neighbours that have to be processed before it.
template <class Space>
class ordered_vertices {
 public:
  explicit ordered_vertices(Space const& space) : space_(space), ranks_(space), waiting_(space) {}

  /// Computes both; uses the frontiers of `rounds`, and leaves them empty. n > 0. O(vertices + arcs).
  void make(graph::graph_view const& g, vertex_rank by, std::uint64_t seed, rounds<Space>& rounds) {
    std::size_t const n = g.vertices();
    ranks_.reserve(n);
    waiting_.reserve(n);
    rounds.begin(g);
    exec::for_each(space_, n, rank_vertices{g, by, seed, ranks_.data()});
    space_.fill(waiting_.data(), 0, n * sizeof(std::uint32_t));
    exec::for_each_lane<32>(space_, n, list_rows{g, rounds.now()});
    for_each_item<8>(space_, rounds.now(), count_preceding{g, order(), waiting_.data()});
    rounds.begin(g);
  }
  [[nodiscard]] vertex_order order() const { return vertex_order{ranks_.data()}; }
  [[nodiscard]] std::uint32_t* waiting() const { return waiting_.data(); }

 private:
  Space space_;
  exec::buffer<std::uint32_t, Space> ranks_;
  exec::buffer<std::uint32_t, Space> waiting_;
};

}  // namespace wyrm::algorithms::detail
