// SPDX-License-Identifier: Apache-2.0
#include "bench_graphalytics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "../algorithms/bfs.hpp"
#include "../algorithms/clustering_coefficients.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/label_propagation.hpp"
#include "../algorithms/pagerank.hpp"
#include "../algorithms/sssp.hpp"
#include "../exec/device.hpp"
#include "../exec/error.hpp"
#include "../loaders/quoted.hpp"
#include "insertion.hpp"
#include "line_input.hpp"
#include "loaded_graph.hpp"

namespace wyrm::apps {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr char const* blanks = " \t\r\f";
  auto const first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The properties of one graph, whose errors name the file.
class properties_of_graph {
 public:
  properties_of_graph(std::string path, std::string const& name)
      : path_(std::move(path)), values_(read_properties(path_, name)) {}

  [[noreturn]] void fail(std::string const& what) const { throw error(error_code::bad_input, path_ + ": " + what); }
  [[nodiscard]] std::string const* find(std::string const& key) const {
    auto const found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::string const& at(std::string const& key) const {
    if (auto const* const value = find(key)) return *value;
    fail("there is no property " + key + "; add it");
  }
  template <class T>
  [[nodiscard]] T number_at(std::string const& key) const {
    auto const value = number<T>(at(key));
    if (!value) fail("expected a number in " + key + ", found " + loaders::quoted(at(key)));
    return *value;
  }
  [[nodiscard]] graph::vertex_id vertex_at(std::string const& key, vertex_ids const& ids) const {
    auto const vertex = ids.find(at(key));
    if (!vertex) fail("expected a vertex (" + ids.range() + ") in " + key + ", found " + loaders::quoted(at(key)));
    return *vertex;
  }
  // The names in `algorithms`, in lower case.
  [[nodiscard]] std::vector<std::string> algorithms() const {
    std::vector<std::string> names;
    std::string text = at("algorithms");
    std::replace(text.begin(), text.end(), ',', ' ');
    for (std::string_view rest = text;;) {
      std::string name(take_word(rest));
      if (name.empty()) return names;
      std::transform(name.begin(), name.end(), name.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      names.push_back(std::move(name));
    }
  }

 private:
  std::string path_;
  graph_properties values_;
};

// How values are compared with reference output.
enum class validation { exact, equivalent, close };

// Values of all vertices, as in reference output: whole numbers or doubles.
struct output_values {
  std::vector<std::uint64_t> whole;
  std::vector<double> real;
  validation how = validation::exact;
};

// Compares values with a file of lines `VERTEX VALUE`. Returns the first difference; an empty text without one.
std::string difference(std::string const& path, output_values const& got, vertex_ids const& ids) {
  line_input in(path);
  std::vector<bool> seen(ids.size());
  std::size_t vertices = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> ours;  // of equivalent labels
  std::unordered_map<std::uint64_t, std::uint64_t> theirs;
  auto const at = [&](std::string const& what) { return path + ":" + std::to_string(in.line()) + ": " + what; };
  auto const malformed = [&](std::string const& what) { throw error(error_code::bad_input, at(what)); };
  for (std::string_view line; in.next(line);) {
    std::string_view rest = line;
    std::string_view const id = take_word(rest);
    if (id.empty()) continue;
    std::string_view const word = take_word(rest);
    auto const v = ids.find(id);
    if (!v || seen[*v]) malformed("expected a vertex that has no value yet, found " + loaders::quoted(id));
    seen[*v] = true;
    ++vertices;
    bool same = false;
    if (got.how == validation::close) {
      double const infinity = std::numeric_limits<double>::infinity();
      auto const want = word == "Infinity" || word == "infinity" ? infinity : number<double>(word);
      if (!want) malformed("expected a number, found " + loaders::quoted(word));
      double const value = got.real[*v];
      same = value == *want || (std::isfinite(*want) && std::abs(value - *want) <= 1e-4 * std::abs(*want));
    } else {
      auto const want = number<std::uint64_t>(word);
      if (!want) malformed("expected a whole number, found " + loaders::quoted(word));
      std::uint64_t const value = got.whole[*v];
      same = got.how == validation::exact ? value == *want
                                          : ours.try_emplace(*want, value).first->second == value &&
                                                theirs.try_emplace(value, *want).first->second == *want;
    }
    if (!same) {
      std::string const value =
          got.how == validation::close ? std::to_string(got.real[*v]) : std::to_string(got.whole[*v]);
      return at("expected " + std::string(word) + " at vertex " + std::string(id) + ", computed " + value);
    }
  }
  return vertices == ids.size()
             ? std::string()
             : path + ": has values of " + std::to_string(vertices) + " of " + std::to_string(ids.size()) + " vertices";
}

std::vector<std::uint64_t> ids_of(std::vector<graph::vertex_id> const& vertices, vertex_ids const& ids) {
  std::vector<std::uint64_t> found(vertices.size());
  for (std::size_t v = 0; v < found.size(); ++v) found[v] = std::get<std::uint64_t>(ids.in_file(vertices[v]));
  return found;
}

struct graphalytics_input {
  graph::any_graph const& g;
  properties_of_graph const& properties;
  vertex_ids const& ids;
};

// Prepares an algorithm with its parameters; the result runs it once.
using prepared = std::function<void(output_values&)>;

prepared prepare_bfs(graphalytics_input const& in) {
  return [&g = in.g, source = in.properties.vertex_at("bfs.source-vertex", in.ids)](output_values& out) {
    auto const distance = algorithms::bfs(g, {&source, 1}).distance;
    out.whole.assign(distance.begin(), distance.end());
    std::replace(out.whole.begin(), out.whole.end(), std::uint64_t{algorithms::bfs_result::unreached},
                 static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  };
}

prepared prepare_cdlp(graphalytics_input const& in) {
  auto const iterations = in.properties.number_at<unsigned>("cdlp.max-iterations");
  // Vertices are numbered in the order of their ids, so the smallest label is that of the smallest id.
  return [&in, iterations](output_values& out) {
    out.whole = ids_of(algorithms::label_propagation(in.g, {.iterations = iterations}), in.ids);
  };
}

prepared prepare_lcc(graphalytics_input const& in) {
  return [&in](output_values& out) {
    out.real = algorithms::clustering_coefficients(in.g).local;
    out.how = validation::close;
  };
}

prepared prepare_pr(graphalytics_input const& in) {
  algorithms::pagerank_options o;
  o.damping = in.properties.number_at<double>("pr.damping-factor");
  if (!(o.damping >= 0 && o.damping < 1))
    in.properties.fail("expected a number from 0 to below 1 in pr.damping-factor, found " +
                       loaders::quoted(in.properties.at("pr.damping-factor")));
  o.max_iterations = in.properties.number_at<unsigned>("pr.num-iterations");
  o.tolerance = std::numeric_limits<double>::min();  // all iterations
  return [&in, o](output_values& out) {
    out.real = algorithms::pagerank(in.g, o).rank;
    out.how = validation::close;
  };
}

prepared prepare_sssp(graphalytics_input const& in) {
  return [&in, source = in.properties.vertex_at("sssp.source-vertex", in.ids)](output_values& out) {
    out.real = algorithms::sssp(in.g, source).distance;
    out.how = validation::close;
  };
}

prepared prepare_wcc(graphalytics_input const& in) {
  return [&in](output_values& out) {
    out.whole = ids_of(algorithms::components(in.g).label, in.ids);
    out.how = validation::equivalent;
  };
}

struct known_run {
  char const* name;
  char const* suffix;  // of the file of reference output
  prepared (*prepare)(graphalytics_input const& in);
};
constexpr known_run known_runs[] = {{"bfs", "-BFS", prepare_bfs},    {"cdlp", "-CDLP", prepare_cdlp},
                                    {"lcc", "-LCC", prepare_lcc},    {"pr", "-PR", prepare_pr},
                                    {"sssp", "-SSSP", prepare_sssp}, {"wcc", "-WCC", prepare_wcc}};

// The algorithms that the properties name.
std::vector<known_run const*> asked_runs(properties_of_graph const& properties) {
  std::vector<known_run const*> asked;
  for (std::string const& name : properties.algorithms()) {
    auto const* const known =
        std::find_if(std::begin(known_runs), std::end(known_runs), [&](known_run const& k) { return name == k.name; });
    if (known == std::end(known_runs))
      properties.fail("there is no algorithm " + loaders::quoted(name) +
                      "; known are bfs, cdlp, lcc, pr, sssp and wcc");
    asked.push_back(known);
  }
  return asked;
}

void print_run(std::ostream& out, graphalytics_graph const& g, graphalytics_run const& run) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "  %-6s %12.6f s %14.6g EVPS  ", run.algorithm.c_str(), run.average_seconds(),
                g.evps(run));
  out << text.data()
      << (!run.valid   ? "no reference output"
          : *run.valid ? "valid"
                       : "INVALID: " + run.difference)
      << '\n'
      << std::flush;
}

graphalytics_graph run_graph(graphalytics_options const& o, exec::any_space const& space,
                             alloc::residency::bounded_space const* bound, std::filesystem::path const& path,
                             std::ostream& out) {
  graphalytics_graph r;
  r.name = path.stem().string();
  properties_of_graph const properties(path.string(), r.name);
  auto const asked = asked_runs(properties);  // before the graph is loaded
  std::filesystem::path file = path;
  graph_file input = o.file;
  input.name = file.replace_extension(".v").string();
  graph::edge_list list;
  r.load_ms = timed([&] { list = load_file(input); });
  vertex_ids const ids(list, id_kind::file);
  bool const weighted = !list.weights.empty();
  if (weighted) prepare_weights(input, list, ids);
  r.directed = list.directed;
  graph::any_graph g(space, o.allocator, list.vertices, o.settings(list.directed, weighted));
  r.build_ms = timed([&] {
    (void)insert_all(g, list.edges, weighted ? graph::host_numbers(list.weights) : graph::host_numbers(), bound);
  });
  r.vertices = g.vertices();
  r.edges = g.edges();
  for (auto const& [key, has] : {std::pair{"meta.vertices", r.vertices}, std::pair{"meta.edges", r.edges}})
    if (properties.find(key) != nullptr && properties.number_at<std::uint64_t>(key) != has)
      properties.fail(std::string(key) + " is " + properties.at(key) + ", and the graph has " + std::to_string(has));
  out << r.name << ": " << r.vertices << " vertices, " << r.edges << " edges"
      << (r.directed ? " (directed)\n" : " (undirected)\n");
  graphalytics_input const in{g, properties, ids};
  std::vector<prepared> runs;  // before the first one, so that wrong properties cost no time
  for (known_run const* const known : asked) runs.push_back(known->prepare(in));
  for (std::size_t a = 0; a < asked.size(); ++a) {
    graphalytics_run one{asked[a]->name, {}, std::nullopt, {}};
    output_values got;
    for (std::size_t i = 0; i < o.trials; ++i) one.seconds.push_back(timed([&] { runs[a](got); }) / 1000);
    std::filesystem::path const reference = path.parent_path() / (r.name + asked[a]->suffix);
    if (std::filesystem::exists(reference)) {
      one.difference = difference(reference.string(), got, ids);
      one.valid = one.difference.empty();
    }
    print_run(out, r, one);
    r.runs.push_back(std::move(one));
  }
  return r;
}

}  // namespace

double graphalytics_run::average_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

double graphalytics_graph::evps(graphalytics_run const& run) const {
  constexpr double step = 1e-9;  // of the clock
  return static_cast<double>(vertices + edges) / std::max(run.average_seconds(), step);
}

bool graphalytics_result::passed() const {
  for (graphalytics_graph const& graph : graphs)
    for (graphalytics_run const& run : graph.runs)
      if (!run.valid.value_or(true)) return false;
  return true;
}

graph_properties read_properties(std::string const& path, std::string const& name) {
  line_input in(path);
  graph_properties values;
  std::string const prefix = "graph." + name + ".";
  for (std::string_view line; in.next(line);) {
    std::string_view const text = trimmed(line);
    if (text.empty() || text.starts_with('#') || text.starts_with('!')) continue;
    auto const sign = text.find_first_of("=:");
    if (sign == std::string_view::npos)
      throw error(error_code::bad_input,
                  path + ":" + std::to_string(in.line()) + ": expected KEY = VALUE, found " + loaders::quoted(text));
    std::string_view const key = trimmed(text.substr(0, sign));
    if (key.starts_with(prefix)) values[std::string(key.substr(prefix.size()))] = trimmed(text.substr(sign + 1));
  }
  return values;
}

graphalytics_result graphalytics(graphalytics_options const& o, std::ostream& out) {
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(o.file.name, failed))
    if (entry.path().extension() == ".properties") files.push_back(entry.path());
  if (failed) throw error(error_code::io, o.file.name + ": cannot be read: " + failed.message());
  if (files.empty())
    throw error(error_code::io, o.file.name + ": has no file NAME.properties; name a folder of Graphalytics graphs");
  std::sort(files.begin(), files.end());
  graphalytics_result r;
  auto const bound = o.bound();
  exec::any_space const space = o.space(bound.get());
  r.device = exec::describe(space);
  for (auto const& file : files) r.graphs.push_back(run_graph(o, space, bound.get(), file, out));
  return r;
}

}  // namespace wyrm::apps
