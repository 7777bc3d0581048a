// SPDX-License-Identifier: Apache-2.0
#include "output_paths.hpp"

#include <cstddef>
#include <filesystem>
#include <utility>

#include "../exec/error.hpp"
#include "../loaders/loaders.hpp"
#include "../loaders/output_file.hpp"
#include "generate.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

namespace {

void refuse_if_equal(named_path const& output, named_path const& other) {
  if (!loaders::replaces(output.path, other.path)) return;
  throw error(error_code::bad_argument, output.role + " (" + output.path + ") and " + other.role + " (" + other.path +
                                            ") are the same file; give each a file of its own");
}

// One file, the three of Graphalytics, or the files of a generated graph.
std::vector<named_path> inputs_of(graph_file const& file) {
  if (is_generated(file.name)) return inputs_of_generated(file.name);
  std::vector<named_path> inputs{{"the input", file.name}};
  std::filesystem::path const path(file.name);
  auto const extension = path.extension();
  if (extension != ".v" && extension != ".e" && extension != ".V" && extension != ".E") return inputs;
  for (auto const& part : loaders::graphalytics_files(path)) inputs.push_back({"the input", part.string()});
  return inputs;
}

}  // namespace

std::vector<named_path> outputs_of(graph_options const& o) {
  std::vector<named_path> outputs{{"--report", o.report}};
  for (algorithm const* const a : o.selected())
    outputs.push_back({std::string(a->name) + ".txt of --output", value_files::path_of(o, a->name)});
  return outputs;
}

void refuse_equal_paths(graph_file const& file, std::vector<named_path> outputs, std::vector<named_path> inputs) {
  for (auto& input : inputs_of(file)) inputs.push_back(std::move(input));
  if (file.settings.cache && !file.name.ends_with(".wyrm"))
    outputs.push_back({"the cache", loaders::cache_of(file.name, file.settings).string()});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) refuse_if_equal(outputs[i], outputs[j]);
    for (auto const& input : inputs) refuse_if_equal(outputs[i], input);
  }
}

}  // namespace wyrm::apps
