// SPDX-License-Identifier: Apache-2.0
// What algorithms require of a graph. `who`, the name of the function that was called, begins the messages of errors.
#pragma once

#include <string>

#include "../../exec/error.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// Throws error(bad_argument) for a directed graph.
inline void require_undirected(graph::graph_view const& g, std::string const& who) {
  if (g.directed())
    throw error(error_code::bad_argument,
                who + ": the graph is directed; make an undirected graph of it with as_undirected()");
}

/// Throws error(bad_argument) for a directed graph without in-neighbours.
inline void require_in_neighbours(graph::graph_view const& g, std::string const& who) {
  if (!g.has_in_neighbours())
    throw error(error_code::bad_argument,
                who + ": the directed graph does not keep in-neighbours; make it with options::in_neighbours");
}

}  // namespace wyrm::algorithms::detail
