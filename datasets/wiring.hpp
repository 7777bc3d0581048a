// SPDX-License-Identifier: Apache-2.0
// Random simple graphs with given degrees: half-edges (stubs) are joined at random (configuration model: Bollobas,
// Europ. J. Combinatorics 1, 1980), and self-loops and duplicates are exchanged with random edges (switching: McKay,
// Wormald, J. Algorithms 11, 1990). The result is random, but not exactly uniform over all such graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../graph/types.hpp"
#include "random.hpp"

namespace wyrm::datasets {

/// Permutes the elements.
template <class T>
void shuffle(std::vector<T>& all, random_numbers& random) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[scaled(random.next(), i)]);
}

/// Joins stubs, of which each vertex occurs once for each edge, and appends the edges: no self-loops, no duplicates
/// among them, and, where `groups` has the group of each vertex, no edge within a group. Returns the number of edges
/// that could not be placed. An odd stub is left out. O(stubs) expected, and at most 1000 trials for each stub, as in
/// dense graphs; about 50 bytes of scratch for each edge.
std::size_t join_stubs(std::vector<graph::vertex_id> stubs, random_numbers& random,
                       std::vector<std::uint32_t> const* groups, std::vector<graph::edge>& edges);

/// A simple graph in which vertex v has degrees[v] neighbours. Where joining stubs fails, as it can in dense graphs,
/// the graph is constructed (Havel, 1955; Hakimi, 1962), and 10 random switches for each edge follow. Throws
/// error(bad_argument) when no simple graph has these degrees.
[[nodiscard]] std::vector<graph::edge> simple_graph(std::vector<std::uint32_t> const& degrees, random_numbers& random);

}  // namespace wyrm::datasets
