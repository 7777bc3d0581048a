// SPDX-License-Identifier: Apache-2.0
// Compares the paths of a command before its work, so that no output replaces another one or an input.
#pragma once

#include <string>
#include <vector>

#include "load.hpp"
#include "loaded_graph.hpp"

namespace wyrm::apps {

/// A path of a command, and its role for messages: "--report", "the input". If the path is empty, there is no such
/// file.
struct named_path {
  std::string role;
  std::string path;
};

/// The output files of the common options: --report, and the files of --output. Throws error(io) when the folder of
/// --output does not exist.
[[nodiscard]] std::vector<named_path> outputs_of(graph_options const& o);

/// Throws error(bad_argument) when two outputs are the same file, or an output is an input. Devices and pipes may serve
/// several times. `file` is the graph that the command loads, an input; its cache, if it keeps one, counts as an
/// output. `inputs` are further ones.
void refuse_equal_paths(graph_file const& file, std::vector<named_path> outputs, std::vector<named_path> inputs = {});

}  // namespace wyrm::apps
