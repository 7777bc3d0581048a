// SPDX-License-Identifier: Apache-2.0
// `wyrm walk`: random walks on a graph file.
#pragma once

#include <string>
#include <vector>

#include "../algorithms/random_walks.hpp"
#include "../alloc/registry.hpp"
#include "load.hpp"
#include "placement.hpp"

namespace wyrm::apps {

struct walk_command : placement {
  graph_file file;
  bool weighted = false;                 // use the weights in the file
  algorithms::random_walk_options walk;  // without its starts
  std::vector<std::string> starts;       // ids, or lists of ids with commas; empty: all vertices
  std::string walks;                     // output file with one walk per line; empty: none
};

/// Prints the number of steps and the time. Throws the errors of loading, walking and writing; error(bad_argument) when
/// `weighted` is set and the file has no weights, or a start is not a vertex.
void walk(walk_command const& c);

}  // namespace wyrm::apps
