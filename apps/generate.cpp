// SPDX-License-Identifier: Apache-2.0
#include "generate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "run.hpp"

namespace wyrm::apps {

namespace {

constexpr std::string_view prefix = "gen:";
constexpr char const* on_host_instead = "; `wyrm generate --device cpu` generates the graph in memory of the host";

// An input: the file that the parameter `degrees` names.
named_path file_of_degrees(std::string_view path) { return {"the file of degrees", std::string(path)}; }

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

// Where a family is generated: on the chosen space if it can be, else on the host.
exec::any_space space_for(datasets::family const& f, exec::any_space const& chosen, unsigned threads) {
  if (!f.on_device || std::holds_alternative<exec::host_space>(chosen)) return exec::host_space(threads);
  return chosen;
}

// What follows "gen:" in a name.
std::string_view description_of(std::string const& name) { return std::string_view(name).substr(prefix.size()); }

datasets::family const& family_of(std::string const& name) {
  std::string_view const text = description_of(name);
  return datasets::family_named(text.substr(0, text.find(',')));
}

bool is_full(exec::any_space const& space, error const& e) {
  return e.code() == error_code::out_of_memory && !std::holds_alternative<exec::host_space>(space);
}

// Generates on a space. If the memory of a GPU does not suffice, the message ends with the advice.
template <class F>
datasets::labelled_graph with_memory(exec::any_space const& space, std::string const& advice, F const& make) {
  constexpr char const* what = "generating the graph needs more memory than there is: choose smaller parameters";
  try {
    return make();
  } catch (error const& e) {
    if (is_full(space, e)) throw error(e.code(), e.what() + advice);
    throw;
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
  for (std::string_view const value : c.values)
    if (constexpr std::string_view degrees = "degrees="; value.starts_with(degrees))
      inputs.push_back(file_of_degrees(value.substr(degrees.size())));
  refuse_equal_paths({}, {{"-o", c.output}, {"--labels", c.labels}}, std::move(inputs));
  loaders::output_file labels("the labels", c.labels);
  exec::any_space space = space_for(f, exec::make_space(c.device), c.threads);
  datasets::labelled_graph made;
  auto const make = [&] {
    made = with_memory(space, on_host_instead, [&] { return datasets::generate(c.family, c.values, space); });
  };
  double const ms = timed([&] {
    try {
      make();
    } catch (error const& e) {
      if (c.device != "auto" || !is_full(space, e)) throw;
      space = exec::host_space(c.threads);
      make();
    }
  });
  std::uint64_t const first = loaders::first_written_id(c.output);
  for (std::size_t v = 0; v < made.labels.size(); ++v) {
    labels.write(first + v);
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

std::vector<named_path> inputs_of_generated(std::string const& name) {
  (void)family_of(name);
  std::vector<named_path> inputs;
  for (auto const& [parameter, value] : datasets::description(description_of(name)).values)
    if (parameter == "degrees") inputs.push_back(file_of_degrees(value));
  return inputs;
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
  exec::any_space const on = space_for(family_of(file.name), space, file.settings.threads);
  auto made = with_memory(on, on_host_instead + (", and its file can be used instead of " + file.name),
                          [&] { return datasets::generate(description_of(file.name), on); });
  return loaders::adjusted(std::move(made.list), file.settings);
}

std::string generating_device(graph_file const& file, exec::any_space const& space) {
  if (!is_generated(file.name)) return {};
  return exec::describe(space_for(family_of(file.name), space, file.settings.threads));
}

}  // namespace wyrm::apps
