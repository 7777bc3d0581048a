// SPDX-License-Identifier: Apache-2.0
#include "generate.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "../datasets/families.hpp"
#include "../loaders/loaders.hpp"
#include "../loaders/output_file.hpp"
#include "../loaders/writers.hpp"
#include "loaded_graph.hpp"
#include "output_paths.hpp"
#include "run.hpp"

namespace wyrm::apps {

namespace {

constexpr std::string_view prefix = "gen:";
constexpr char const* on_host_instead = "; `wyrm generate --device cpu` generates the graph in memory of the host";
constexpr std::string_view degrees = "degrees=";  // the parameter that names a file

void list_parameters(std::span<datasets::parameter const> parameters, std::ostream& out) {
  constexpr std::size_t width = 32;
  for (datasets::parameter const& p : parameters) {
    std::string text = "    " + std::string(p.name);
    if (!p.default_value.empty()) text += "=" + std::string(p.default_value);
    text.resize(std::max(text.size() + 1, width), ' ');
    out << text << p.help << '\n';
  }
}

void list_families(std::ostream& out) {
  out << "Families of graphs, and their parameters with defaults:\n";
  for (datasets::family const& f : datasets::families()) {
    out << '\n'
        << f.name << ": " << f.help << (f.has_labels ? "; has labels" : "") << (f.on_device ? "; on a GPU, too" : "")
        << '\n';
    list_parameters(f.parameters, out);
  }
  out << "\nall families\n";
  list_parameters(datasets::common_parameters(), out);
  out << "\nwyrm generate FAMILY NAME=VALUE... -o FILE writes a graph; gen:FAMILY,NAME=VALUE,... stands for a file.\n";
}

// The id of the first vertex in a file of this name.
std::uint64_t first_id(std::string const& output) {
  std::string lower = output;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::filesystem::path name(lower);
  for (char const* packed : {".gz", ".zst", ".xz", ".bz2"})
    if (name.extension() == packed) name = name.stem();
  std::string const extension = name.extension().string();
  return extension == ".mtx" || extension == ".graph" || extension == ".metis" ? 1 : 0;
}

// Where a family is generated: on the chosen space if it can be, else on the host.
exec::any_space space_for(datasets::family const& f, exec::any_space const& chosen, unsigned threads) {
  if (!f.on_device || std::holds_alternative<exec::host_space>(chosen)) return exec::host_space(threads);
  return chosen;
}

// The family of a name that begins with "gen:".
datasets::family const& family_of(graph_file const& file) {
  std::string_view const text = std::string_view(file.name).substr(prefix.size());
  return datasets::family_named(text.substr(0, text.find(',')));
}

template <class F>
datasets::labelled_graph with_memory(F const& make) {
  constexpr char const* what = "generating the graph needs more memory than there is: choose smaller parameters";
  try {
    return make();
  } catch (std::bad_alloc const&) {
    throw error(error_code::out_of_memory, what);
  } catch (std::length_error const&) {
    throw error(error_code::out_of_memory, what);
  }
}

}  // namespace

void generate(generate_command const& c, std::ostream& out) {
  if (c.family.empty()) {
    if (!c.output.empty() || !c.labels.empty())
      throw error(error_code::bad_argument, "there is no FAMILY: name one; `wyrm generate` lists them");
    list_families(out);
    return;
  }
  datasets::family const& f = datasets::family_named(c.family);
  if (c.output.empty())
    throw error(error_code::bad_argument, "there is no output file: give -o FILE; `wyrm generate` lists parameters");
  if (!c.labels.empty() && !f.has_labels)
    throw error(error_code::bad_argument, "the family " + c.family + " has no labels: leave out --labels");
  loaders::refuse_unwritable(c.output);
  std::vector<named_path> inputs;
  for (std::string const& value : c.values)
    if (value.starts_with(degrees)) inputs.push_back({"the file of degrees", value.substr(degrees.size())});
  refuse_equal_paths({}, {{"-o", c.output}, {"--labels", c.labels}}, std::move(inputs));
  loaders::output_file labels("the labels", c.labels);
  exec::any_space space = space_for(f, exec::make_space(c.device), c.threads);
  auto const make = [&] { return with_memory([&] { return datasets::generate(c.family, c.values, space); }); };
  datasets::labelled_graph made;
  double const ms = timed([&] {
    try {
      made = make();
    } catch (error const& e) {
      if (e.code() != error_code::out_of_memory || std::holds_alternative<exec::host_space>(space)) throw;
      if (c.device != "auto") throw error(e.code(), e.what() + std::string(on_host_instead));
      space = exec::host_space(c.threads);
      made = make();
    }
  });
  for (std::size_t v = 0; v < made.labels.size(); ++v) {
    labels.write(first_id(c.output) + v);
    labels.write(" ");
    labels.write(std::uint64_t{made.labels[v]});
    labels.write("\n");
  }
  labels.finish();
  write_with_advice(made.list, c.output);
  labels.commit();
  out << c.output << ": " << c.family << ", " << made.list.vertices << " vertices, " << made.list.edges.size()
      << " edges; generated on " << exec::describe(space) << " in " << std::fixed << std::setprecision(3) << ms / 1000
      << " s\n";
}

bool is_generated(std::string const& name) { return name.starts_with(prefix); }

std::vector<std::string> files_of_generated(std::string const& name) {
  std::string_view const text = std::string_view(name).substr(prefix.size());
  (void)datasets::family_named(text.substr(0, text.find(',')));
  std::vector<std::string> files;
  for (auto const& [parameter, value] : datasets::description(text).values)
    if (parameter == degrees.substr(0, degrees.size() - 1)) files.push_back(value);
  return files;
}

graph::edge_list generated(graph_file const& file, exec::any_space const& space) {
  auto const refuse = [&](bool is_given, char const* flag) {
    if (is_given) throw error(error_code::bad_argument, file.name + " is no file: leave out " + flag);
  };
  refuse(file.settings.format.has_value(), "--format");
  refuse(file.settings.third.has_value(), "--third-column");
  refuse(file.settings.columns.has_value(), "--columns");
  refuse(file.settings.vertex_base.has_value(), "--vertex-base");
  refuse(file.settings.cache, "--cache and --cache-dir");
  exec::any_space const on = space_for(family_of(file), space, file.settings.threads);
  try {
    auto made = with_memory([&] { return datasets::generate(std::string_view(file.name).substr(prefix.size()), on); });
    return loaders::adjusted(std::move(made.list), file.settings);
  } catch (error const& e) {
    if (e.code() != error_code::out_of_memory || std::holds_alternative<exec::host_space>(on)) throw;
    throw error(e.code(),
                e.what() + std::string(on_host_instead) + ", and its file can be used instead of " + file.name);
  }
}

std::string generating_device(graph_file const& file, exec::any_space const& space) {
  if (!is_generated(file.name)) return {};
  return exec::describe(space_for(family_of(file), space, file.settings.threads));
}

}  // namespace wyrm::apps
