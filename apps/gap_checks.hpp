// SPDX-License-Identifier: Apache-2.0
// Serial checks of the results of the GAP kernels. They share no code with the algorithms. Each takes the
// out-neighbours of a graph, and of an undirected one both directions of its edges; the result says whether the values
// are right.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::apps {

/// Whether the parents are a tree of shortest paths: the source is its own parent; each other vertex that can be
/// reached has as parent a vertex that has an arc to it and is one arc nearer to the source; all others have
/// graph::no_vertex. O(vertices + arcs log degree).
[[nodiscard]] bool is_bfs_tree(graph::csr const& rows, graph::vertex_id source,
                               std::vector<graph::vertex_id> const& parents);

/// Whether the distances equal those of Dijkstra's algorithm, bit for bit. `weights` are those of the arcs. O(arcs log
/// arcs).
[[nodiscard]] bool are_distances(graph::csr const& rows, std::vector<double> const& weights, graph::vertex_id source,
                                 std::vector<double> const& distances);

/// Whether one more iteration of PageRank, with damping 0.85 and the rank of vertices without out-neighbours
/// distributed uniformly, changes the ranks by less than the tolerance in the L1 norm.
[[nodiscard]] bool are_ranks(graph::csr const& rows, std::vector<double> const& ranks, double tolerance);

/// Whether two vertices have equal labels exactly if they are in one weakly connected component.
[[nodiscard]] bool are_components(graph::csr const& rows, std::vector<graph::vertex_id> const& labels);

/// Whether the scores are, up to 1e-9 of the largest one, the sums of the dependencies on these sources (Brandes 2001).
/// O(sources * (vertices + arcs)).
[[nodiscard]] bool are_betweenness_scores(graph::csr const& rows, std::span<graph::vertex_id const> sources,
                                          std::vector<double> const& scores);

/// The number of triangles of an undirected graph. O(sum over edges of both degrees).
[[nodiscard]] std::uint64_t count_triangles(graph::csr const& rows);

}  // namespace wyrm::apps
