// SPDX-License-Identifier: Apache-2.0
// `wyrm walk`: random walks in a graph file.
#pragma once

#include <string>

#include "../algorithms/random_walks.hpp"
#include "../alloc/registry.hpp"
#include "load.hpp"

namespace wyrm::apps {

struct walk_command {
  graph_file file;
  std::string device = "auto";
  bool weighted = false;  // by the weights in the file
  algorithms::random_walk_options walk;
  std::string walks;  // a file, a walk a line; empty: none
};

/// Prints how many steps were walked, and how fast. Throws what loading, walking and writing throw; error(bad_argument)
/// for weights that the file has not.
void walk(walk_command const& c);

}  // namespace wyrm::apps
