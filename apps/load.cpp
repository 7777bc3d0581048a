// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "../loaders/quoted.hpp"
#include "catalogue.hpp"
#include "generate.hpp"
#include "progress.hpp"

namespace wyrm::apps {
namespace {

using loaders::file_format;

std::map<std::string, file_format> const formats{
    {"metis", file_format::metis},
    {"mtx", file_format::matrix_market},
    {"dimacs", file_format::dimacs},
    {"edges", file_format::edge_list},
    {"gap", file_format::gap},
    {"graphalytics", file_format::graphalytics},
    {"node-link", file_format::node_link},
    {"wyrm", file_format::binary},
    {"sg", file_format::serialized},
};
std::map<std::string, id_kind> const id_kinds{{"file", id_kind::file}, {"internal", id_kind::internal}};
std::map<std::string, graph::vertex_order> const orders{{"as-given", graph::vertex_order::as_given},
                                                        {"by-degree", graph::vertex_order::by_degree},
                                                        {"by-locality", graph::vertex_order::by_locality}};
std::map<std::string, loaders::third_column> const third_columns{{"weight", loaders::third_column::weight},
                                                                 {"time", loaders::third_column::time}};

// Adds a flag for an optional member, which `set` sets.
template <class T, class F>
CLI::Option* add_optional(CLI::App& command, std::string const& flag, F const& set, std::string const& help) {
  return command.add_option_function<T>(
      flag, [set](T const& value) { set(value); }, help);
}

// Throws error(bad_argument), with the word that is wrong.
loaders::column_names columns_of(std::string_view text) {
  loaders::column_names names;
  std::pair<std::string_view, std::string*> const known[] = {
      {"source", &names.source}, {"target", &names.target}, {"weight", &names.weight}, {"time", &names.time}};
  for (bool last = false; !last;) {
    auto const comma = text.find(',');
    last = comma == std::string_view::npos;
    auto const word = text.substr(0, comma);
    text.remove_prefix(last ? text.size() : comma + 1);
    auto const equal = word.find('=');
    auto const* const found = std::find_if(std::begin(known), std::end(known),
                                           [&](auto const& k) { return k.first == word.substr(0, equal); });
    bool const good = equal != std::string_view::npos && equal + 1 < word.size() && found != std::end(known);
    if (!good || !found->second->empty())
      throw error(error_code::bad_argument,
                  "--columns: expected source=NAME, target=NAME, weight=NAME and time=NAME, "
                  "each at most once and with commas between them, found " +
                      loaders::quoted(word));
    *found->second = word.substr(equal + 1);
  }
  if (names.source.empty() || names.target.empty())
    throw error(error_code::bad_argument, "--columns needs source=NAME and target=NAME");
  if (names.source == names.target)
    throw error(error_code::bad_argument,
                "--columns: source and target are both " + loaders::quoted(names.source) + "; name two columns");
  return names;
}

}  // namespace

void add_graph_name(CLI::App& command, char const* role, std::string& name, bool required) {
  command
      .add_option(
          role, name,
          "A graph, in any format that `wyrm info` lists, compressed or not; a name that `wyrm datasets` lists; or "
          "gen:FAMILY,NAME=VALUE,..., as `wyrm generate` lists")
      ->required(required)
      ->transform([](std::string const& given) { return graph_path(given); })
      ->check([](std::string const& given) { return given.empty() ? "the file name is empty" : std::string(); });
}

void add_graph_file(CLI::App& command, graph_file& file, bool required, char const* role) {
  auto& o = file.settings;
  add_graph_name(command, role, file.name, required);
  add_optional<std::string>(
      command, "--ids", [&file](std::string const& kind) { file.ids = id_kinds.at(kind); },
      "Names of vertices in input and output: file = the ids in FILE, internal = numbers from 0 [file]")
      ->check(CLI::IsMember(id_kinds));
  add_optional<std::string>(
      command, "--format", [&o](std::string const& name) { o.format = formats.at(name); },
      "Format of the file [determined by its name and content]")
      ->check(CLI::IsMember(formats));
  add_optional<std::string>(
      command, "--third-column", [&o](std::string const& name) { o.third = third_columns.at(name); },
      "Meaning of the third column of an edge list with three [weight]")
      ->check(CLI::IsMember(third_columns));
  add_optional<std::string>(
      command, "--columns", [&o](std::string const& text) { o.columns = columns_of(text); },
      "Columns of an edge list by the names in its first line: source=NAME,target=NAME, and if wanted weight=NAME, "
      "time=NAME [names such as source, target, weight, time]")
      ->check(not_empty);
  add_optional<std::uint64_t>(
      command, "--vertex-base", [&o](std::uint64_t base) { o.vertex_base = base; },
      "Id of vertex 0 in an edge list [ids are renumbered in ascending order]")
      ->check(decimal);
  command
      .add_option("--unpacked-limit", o.unpacked_limit,
                  "Maximum bytes to which a compressed file or an archive may unpack; 0 = half of the memory that the "
                  "process may use")
      ->check(decimal)
      ->capture_default_str();
  command
      .add_option("--max-vertices", o.max_vertices,
                  "Maximum number of vertices; 0 = 16777216, or 64 for each byte of the file if that is more")
      ->check(decimal)
      ->check(CLI::Range(std::size_t{0}, graph::max_vertices))
      ->capture_default_str();
  command.add_flag("--cache", o.cache,
                   "Keep the parsed graph in FILE.wyrm, and load that as long as FILE is unchanged");
  add_optional<std::string>(
      command, "--cache-dir",
      [&o](std::string const& folder) {
        o.cache = true;
        o.cache_dir = folder;
      },
      "Like --cache, but keep the graph in this folder, under a name that is unique to the path of FILE")
      ->check(not_empty)
      ->type_name("DIR");
  command.add_flag("--remove-self-loops", o.remove_self_loops, "Remove edges from a vertex to itself");
  auto* const directed = command.add_flag_callback(
      "--directed", [&o] { o.directed = true; }, "Each edge of an undirected file becomes two arcs");
  command
      .add_flag_callback(
          "--undirected", [&o] { o.directed = false; }, "Each arc of a directed file becomes an edge")
      ->excludes(directed);
  command.add_flag("--remove-duplicates", o.remove_duplicates, "Keep the first of equal edges, and sort edges");
  auto const range = [&o]() -> loaders::weight_range& {
    return o.random_weights ? *o.random_weights : o.random_weights.emplace();
  };
  auto* const drawn = add_optional<std::vector<double>>(
      command, "--random-weights",
      [range](std::vector<double> const& ends) {
        range().least = ends.at(0);
        range().most = ends.at(1);
      },
      "Draw weights uniformly from LEAST to MOST");
  drawn->expected(2)->check(not_empty)->type_name("LEAST MOST");
  add_optional<std::uint64_t>(
      command, "--weight-seed", [range](std::uint64_t seed) { range().seed = seed; }, "Seed of random weights [1]")
      ->check(decimal)
      ->needs(drawn);
  command.add_flag("--map", o.map,
                   "Map the file into memory instead of reading it; then it must not be cut while it is loaded");
  command.add_option("--load-threads", o.threads, "Number of threads that parse; 0 = one per core")
      ->check(decimal)
      ->capture_default_str();
}

void add_order(CLI::App& command, graph_file& file) {
  command
      .add_option_function<std::string>(
          "--order", [&file](std::string const& name) { file.settings.order = orders.at(name); },
          "Order of the vertices in memory, which changes the speed of algorithms: as-given; by-degree, hubs first; "
          "by-locality, neighbours near each other. Ids stay those of FILE; internal ones count in this order "
          "[as-given]")
      ->check(CLI::IsMember(orders));
}

std::string_view name_of(graph::vertex_order order) {
  return std::find_if(orders.begin(), orders.end(), [&](auto const& named) { return named.second == order; })->first;
}

graph::edge_list load_file(graph_file const& file, exec::any_space const& space) {
  if (is_generated(file.name)) return generated(file, space);
  std::string warned;
  graph::edge_list list;
  {
    progress_bar bar("loading");
    list = loaders::load(
        file.name, file.settings, [&](std::size_t done, std::size_t all) { bar(done, all); },
        [&](std::string const& message) { warned += "wyrm: warning: " + message + '\n'; });
  }
  std::cerr << warned;  // after the bar has erased itself
  return list;
}

void reverse_edges(graph::edge_list& list) {
  std::reverse(list.edges.begin(), list.edges.end());
  std::reverse(list.weights.begin(), list.weights.end());
  std::reverse(list.times.begin(), list.times.end());
}

void prepare_weights(graph_file const& file, graph::edge_list& list, vertex_ids const& ids) {
  if (list.weights.empty()) throw error(error_code::bad_argument, file.name + " has no weights; leave out --weighted");
  auto const unusable =
      std::find_if_not(list.weights.begin(), list.weights.end(), [](double w) { return w >= 0 && std::isfinite(w); });
  if (unusable != list.weights.end()) {
    auto const [source, target] = list.edges[static_cast<std::size_t>(unusable - list.weights.begin())];
    std::ostringstream what;
    what << file.name << ": the weight " << *unusable << " of the arc " << ids.text(source) << " -> "
         << ids.text(target) << " is " << (std::isfinite(*unusable) ? "negative" : "not finite")
         << ": correct it, or leave out --weighted";
    throw error(error_code::bad_input, what.str());
  }
  reverse_edges(list);
}

}  // namespace wyrm::apps
