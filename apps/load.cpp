// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

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
};
std::map<std::string, id_kind> const id_kinds{{"file", id_kind::file}, {"internal", id_kind::internal}};
std::map<std::string, loaders::third_column> const third_columns{{"weight", loaders::third_column::weight},
                                                                 {"time", loaders::third_column::time}};

// Adds a flag for an optional member, which `set` sets.
template <class T, class F>
CLI::Option* add_optional(CLI::App& command, std::string const& flag, F const& set, std::string const& help) {
  return command.add_option_function<T>(
      flag, [set](T const& value) { set(value); }, help);
}

// Throws the error for the weight of edge i.
[[noreturn]] void refuse_weight(graph_file const& file, graph::edge_list const& list, vertex_ids const& ids,
                                std::size_t i, std::string const& reason) {
  auto const [source, target] = list.edges[i];
  std::ostringstream what;
  what << file.name << ": the weight " << list.weights[i] << " of the arc " << ids.text(source) << " -> "
       << ids.text(target) << " is " << reason << ", or leave out --weighted";
  throw error(error_code::bad_input, what.str());
}

// Refuses negative weights, which no algorithm accepts.
void refuse_negative_weights(graph_file const& file, graph::edge_list const& list, vertex_ids const& ids) {
  auto const negative = std::find_if(list.weights.begin(), list.weights.end(), [](double w) { return w < 0; });
  if (negative != list.weights.end())
    refuse_weight(file, list, ids, static_cast<std::size_t>(negative - list.weights.begin()), "negative: correct it");
}

// The power of two with which weights are scaled for single precision: 0, unless a weight needs another one. Then the
// largest is scaled to [2^126, 2^127). Refuses a weight that would become subnormal. No weight may be negative.
int exponent_for_floats(graph_file const& file, graph::edge_list const& list, vertex_ids const& ids) {
  using limits = std::numeric_limits<float>;
  std::size_t least = 0;  // of those other than 0
  std::size_t most = 0;
  auto const size = [&](std::size_t i) { return list.weights[i]; };
  for (std::size_t i = 0; i < list.weights.size(); ++i) {
    if (size(i) > size(most)) most = i;
    if (size(i) > 0 && (size(least) == 0 || size(i) < size(least))) least = i;
  }
  if (size(most) <= limits::max() && (size(least) == 0 || size(least) >= limits::min())) return 0;
  int const exponent = limits::max_exponent - 2 - std::ilogb(size(most));
  if (std::ldexp(size(least), exponent) < limits::min()) {
    std::ostringstream reason;
    reason << "less than the largest, " << size(most) << ", divided by 7e75: write 0 for it";
    refuse_weight(file, list, ids, least, reason.str());
  }
  return exponent;
}

}  // namespace

void add_graph_file(CLI::App& command, graph_file& file, bool required) {
  auto& o = file.settings;
  command.add_option("FILE", file.name, "A graph, in any format that `wyrm info` lists, compressed or not")
      ->required(required)
      ->check([](std::string const& name) { return name.empty() ? "the file name is empty" : std::string(); });
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

graph::edge_list load_file(graph_file const& file) {
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

std::vector<float> weights_of_arcs(graph_file const& file, graph::edge_list const& list, vertex_ids const& ids,
                                   graph::csr const& rows) {
  if (list.weights.empty()) throw error(error_code::bad_argument, file.name + " has no weights; leave out --weighted");
  refuse_negative_weights(file, list, ids);
  int const exponent = exponent_for_floats(file, list, ids);
  std::vector<std::pair<std::uint64_t, double>> all;
  all.reserve(list.edges.size() * (list.directed ? 1 : 2));
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    auto const [u, v] = list.edges[i];
    all.push_back({std::uint64_t{u} << 32 | v, list.weights[i]});
    if (!list.directed) all.push_back({std::uint64_t{v} << 32 | u, list.weights[i]});
  }
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<float> weights;
  weights.reserve(rows.targets.size());
  auto at = all.begin();
  for (std::uint64_t u = 0; u + 1 < rows.offsets.size(); ++u)
    for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      at = std::lower_bound(at, all.end(), u << 32 | rows.targets[i],
                            [](auto const& pair, std::uint64_t key) { return pair.first < key; });
      weights.push_back(static_cast<float>(std::ldexp(at->second, exponent)));
    }
  return weights;
}

}  // namespace wyrm::apps
