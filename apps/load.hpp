// SPDX-License-Identifier: Apache-2.0
// Graph files on the command line: the flags of the loaders, and loading with a progress bar.
#pragma once

#include <string>
#include <vector>

#include "../loaders/loaders.hpp"
#include "vertex_ids.hpp"

namespace CLI {
class App;  // declared only, as its header takes seconds to compile
}

namespace wyrm::apps {

/// A graph file, the options for loading it, and how its vertices are named.
struct graph_file {
  std::string name;
  loaders::options settings;
  id_kind ids = id_kind::file;
};

/// Adds FILE, --ids, and a flag for each field of loaders::options.
void add_graph_file(CLI::App& command, graph_file& file, bool required);

/// Loads the file with a progress bar, and prints warnings on standard error. Throws the errors of loaders::load.
[[nodiscard]] graph::edge_list load_file(graph_file const& file);

/// The weights of the arcs of the graph that was built from `list`, in the order of `rows`, its CSR; `ids` are those of
/// its vertices. For duplicate edges the first weight counts. If single precision cannot hold a weight, all are scaled
/// by one power of two; their ratios, on which alone results depend, stay the same. Throws error(bad_argument) when the
/// file has no weights; error(bad_input) when a weight is negative, or other than 0 and less than the largest divided
/// by 2^252 (7e75). O(edges log edges).
[[nodiscard]] std::vector<float> weights_of_arcs(graph_file const& file, graph::edge_list const& list,
                                                 vertex_ids const& ids, graph::csr const& rows);

// A check for whole numbers in decimal notation: CLI11 itself accepts -1 as a huge number, and 010 as 8.
[[nodiscard]] inline std::string decimal(std::string const& text) {
  bool const digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && (text.size() == 1 || text[0] != '0') ? "" : "'" + text + "' is not a whole number";
}

}  // namespace wyrm::apps
