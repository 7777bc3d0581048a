// SPDX-License-Identifier: Apache-2.0
// `wyrm diff`: the difference between two graph files, as updates for `wyrm stream`.
#pragma once

#include <string>

#include "load.hpp"

namespace wyrm::apps {

struct diff_options {
  graph_file from;                      // its settings and its kind of ids are those of both files
  std::string to;                       // the name of the other file
  std::string updates = "/dev/stdout";  // the file for the updates; compressed as its extension says
};

/// Writes the updates that lead from one graph to the other, and a summary to standard error. docs/streams.md describes
/// both. Throws error: bad_argument if only one graph is directed, if ids are numbers in one file and names in the
/// other, if the updates would replace a file that is read, or if their name is that of another format; bad_input for
/// an id that two vertices have, and a weight that is not finite; the errors of loading and writing. O(vertices log
/// vertices + edges log edges); memory for both files, and for a graph with the edges of both.
void diff(diff_options const& o);

}  // namespace wyrm::apps
