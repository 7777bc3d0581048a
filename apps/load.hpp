// SPDX-License-Identifier: Apache-2.0
// Graph files on the command line: the flags of the loaders, and loading under a progress bar.
#pragma once

#include <string>
#include <vector>

#include "../loaders/loaders.hpp"
#include "progress.hpp"

namespace CLI {
class App;  // takes seconds to compile where it is used
}

namespace wyrm::apps {

/// A file and how to load it.
struct graph_file {
  std::string name;
  loaders::options settings;
};

/// Adds FILE and a flag for each field of loaders::options.
void add_graph_file(CLI::App& command, graph_file& file, bool required);

/// Throws what loaders::load throws.
[[nodiscard]] inline graph::edge_list load_file(graph_file const& file) {
  progress_bar bar("loading");
  return loaders::load(file.name, file.settings, [&](std::size_t done, std::size_t all) { bar(done, all); });
}

/// The weight of each arc of the graph that was made of an edge list; of an edge that is there twice, the first. Throws
/// error(bad_argument) where the file has none.
[[nodiscard]] std::vector<float> weights_of_arcs(graph_file const& file, graph::edge_list const& list,
                                                 graph::csr const& rows);

// CLI11 would take -1 for a huge number, and 010 for 8.
[[nodiscard]] inline std::string decimal(std::string const& text) {
  bool const digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && (text.size() == 1 || text[0] != '0') ? "" : "'" + text + "' is not a whole number";
}

}  // namespace wyrm::apps
