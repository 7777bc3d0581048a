// SPDX-License-Identifier: Apache-2.0
// The order of vertices in memory. Algorithms read values of neighbours at random places; on a large graph they are
// faster where neighbours have near ids, or where vertices of large degree, which are read most, have near ids.
// docs/ids.md describes the use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../exec/host_space.hpp"
#include "../types.hpp"

namespace wyrm::graph {

enum class vertex_order : std::uint8_t {
  as_given,
  by_degree,   // by falling degree
  by_locality  // neighbours have near ids
};

/// The vertices in an order: entry i is the vertex of the list that comes i-th. The degree of a vertex is the number of
/// ends of edges at it, with both directions, repeated edges and self-loops; vertices of equal degree keep their order.
/// by_locality is the breadth-first order of Cuthill and McKee (1969), of one component after the other: an earlier
/// vertex has its neighbours earlier, and those of small degree first. It begins in each component at a vertex of least
/// degree among those that are farthest from the first vertex of least degree (George and Liu, 1979). Directions do not
/// count. The result does not depend on the number of threads.
///
/// Throws error(bad_argument) for a value that is no order, for an edge between other vertices than those below
/// list.vertices, and for more than max_vertices of these; std::bad_alloc. Time: by_degree O(edges + vertices log
/// vertices); by_locality O(edges log vertices + vertices), and three steps of all threads per distance, twice. Memory
/// besides the result: by_degree up to 24 bytes per vertex; by_locality 8 bytes per edge and 40 per vertex.
/// Thread-safe.
[[nodiscard]] std::vector<vertex_id> ordered_vertices(edge_list const& list, vertex_order order,
                                                      exec::host_space const& space = exec::host_space());

/// Renumbers the vertices of a list: vertex order[i] becomes vertex i. Edges keep their positions. Ids and names stay
/// with their vertices; a list without names has ids afterwards, unless the order is 0, 1, 2 and so on.
///
/// Throws error(bad_argument) if `order` is not a permutation of the vertices, for an edge between other vertices, and
/// for ids or names that are not one per vertex; std::bad_alloc. Then the list is unchanged. O(edges + vertices).
/// Memory: up to 16 bytes per vertex, and 32 if it has names too.
void renumber(edge_list& list, std::span<vertex_id const> order, exec::host_space const& space = exec::host_space());

}  // namespace wyrm::graph
