// SPDX-License-Identifier: Apache-2.0
// `wyrm generate`: generated graphs as files; and gen:FAMILY,key=value,... in place of a graph file.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "../exec/device.hpp"
#include "load.hpp"
#include "output_paths.hpp"

namespace wyrm::apps {

struct generate_command {
  std::string family;               // empty: list the families
  std::vector<std::string> values;  // name=value
  std::string output;               // a graph file
  std::string labels;               // output file for the communities, by the ids in the graph file; empty: none
  std::string device = "auto";      // of families that a GPU can generate
  unsigned threads = 0;             // of the host; 0: one per core
};

/// Generates a graph, writes its files and prints what it has, the device and the time; or lists the families and their
/// parameters. Throws the errors of exec::make_space, datasets::generate and loaders::write; error(bad_argument) when
/// the family has no labels, or a parameter is given without an output.
void generate(generate_command const& c, std::ostream& out);

/// Whether a name means a generated graph: it begins with "gen:".
[[nodiscard]] bool is_generated(std::string const& name);

/// The files that such a graph is generated from: that of the parameter `degrees`. Throws error(bad_argument) for an
/// unknown family, and for a text that is no description.
[[nodiscard]] std::vector<named_path> inputs_of_generated(std::string const& name);

/// The graph of such a name, generated on the space where its family can be (else on the host), with the changes that
/// the options ask for. Throws the errors of datasets::generate; error(bad_argument) for options that only a file has:
/// a format, a cache.
[[nodiscard]] graph::edge_list generated(graph_file const& file, exec::any_space const& space);

/// The device on which generated() generates this graph, for reports; empty for a file. Throws error(bad_argument) for
/// an unknown family.
[[nodiscard]] std::string generating_device(graph_file const& file, exec::any_space const& space);

}  // namespace wyrm::apps
