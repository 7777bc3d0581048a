// SPDX-License-Identifier: Apache-2.0
#include "graphalytics.hpp"

#include <algorithm>
#include <limits>

#include "detail/edge_lines.hpp"
#include "detail/numbering.hpp"
#include "detail/same_word.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr auto any = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view comment_marks;  // there are none
constexpr std::size_t most_columns = 3;

constexpr expectation vertex_id{"the id of a vertex", "each line of the vertex file is one id"};
constexpr expectation vertex_end{"the end of the line", "each line of the vertex file is one id"};

std::vector<std::uint64_t> read_vertices(source const& in) {
  struct ids : std::vector<std::uint64_t> {};
  std::vector<std::uint64_t> all;
  scan_lines<ids>(
      in, in.begin(), comment_marks,
      [](text_reader& reader, ids& part) {
        for (reader.skip_comments(); !reader.end_of_file(); reader.skip_comments()) {
          part.push_back(reader.read_unsigned(0, any, vertex_id));
          reader.end_line(vertex_end);
        }
      },
      [&](ids const& part) { all.insert(all.end(), part.begin(), part.end()); });
  return all;
}

[[noreturn]] void fail_repeated(source const& in, std::vector<std::uint64_t> const& ids, numbering const& numbers) {
  std::vector<bool> seen(numbers.size());
  std::size_t i = 0;
  while (!seen[numbers.find(ids[i])]) seen[numbers.find(ids[i++])] = true;
  text_reader reader(in, in.begin(), comment_marks);
  go_to_record(reader, i);
  reader.fail({"each vertex once", "remove the line"});
}

[[noreturn]] void fail_unknown(source const& vertices, source const& edges, std::size_t index, bool is_target) {
  text_reader reader(edges, edges.begin(), comment_marks);
  go_to_record(reader, index);
  if (is_target) reader.skip_word();
  reader.fail({"a vertex of " + vertices.name, "add it there, or remove the edge"});
}

bool is_undirected(std::string_view properties) {
  auto const trimmed = [](std::string_view text) {
    auto const first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return std::string_view();
    return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
  };
  while (!properties.empty()) {
    auto const line = properties.substr(0, properties.find('\n'));
    properties.remove_prefix(std::min(properties.size(), line.size() + 1));
    auto const separator = line.find_first_of("=:");
    if (separator == std::string_view::npos) continue;
    auto const key = trimmed(line.substr(0, separator));
    if (key.starts_with("graph.") && key.ends_with(".directed") &&
        same_word(trimmed(line.substr(separator + 1)), "false"))
      return true;
  }
  return false;
}

}  // namespace

graph::edge_list parse_graphalytics(source const& vertices, source const& edges, std::string_view properties) {
  exec::host_space const space(edges.settings.threads);
  auto const ids = read_vertices(vertices);
  numbering const numbers(space, vertices.name, ids);
  if (numbers.size() < ids.size()) fail_repeated(vertices, ids, numbers);

  graph::edge_list list;
  list.vertices = numbers.size();
  list.directed = !is_undirected(properties);
  list.ids = numbers.ids();
  text_reader reader(edges, edges.begin(), comment_marks);
  reader.skip_comments();
  if (reader.end_of_file()) return list;
  auto read = read_edge_lines(reader, comment_marks, most_columns, 0, any);
  list.weights = std::move(read.weights);
  list.edges = read.take_edges(space, numbers);
  auto const unknown = std::find_if(list.edges.begin(), list.edges.end(),
                                    [](auto const& e) { return e.source == no_vertex || e.target == no_vertex; });
  if (unknown != list.edges.end()) {
    fail_unknown(vertices, edges, static_cast<std::size_t>(unknown - list.edges.begin()), unknown->source != no_vertex);
  }
  return list;
}

}  // namespace wyrm::loaders::detail
