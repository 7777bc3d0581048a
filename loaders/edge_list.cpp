// SPDX-License-Identifier: Apache-2.0
#include "edge_list.hpp"

#include <algorithm>
#include <limits>

#include "detail/edge_lines.hpp"
#include "detail/numbering.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::string_view comment_marks = "#%";
constexpr std::size_t most_columns = 4;

/// Reads the comments above the edges; returns whether the graph is directed.
bool read_direction(text_reader& reader) {
  bool directed = true;
  for (; !reader.end_of_file() && (reader.comment() || reader.end_of_line()); reader.skip_line()) {
    auto const comment = reader.rest_of_line();
    if (comment.starts_with("% sym ") || comment.starts_with("# Undirected graph")) directed = false;
    if (comment.starts_with("% bip ")) {
      reader.fail_at(reader.line(), "a network with one kind of vertices", "a bipartite one (bip)",
                     "its two sides have the same ids: renumber one side, and remove this line");
    }
  }
  return directed;
}

graph::edge_list parse(text_reader& reader, std::string_view marks, std::size_t columns, bool directed,
                       std::optional<std::uint64_t> base) {
  auto const& in = reader.in();
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  auto const most = base ? *base + std::min(any - *base, std::uint64_t{graph::max_vertices} - 1) : any;
  auto read = read_edge_lines(reader, marks, columns, base.value_or(0), most);

  graph::edge_list list;
  list.directed = directed;
  list.weights = std::move(read.weights);
  list.times = std::move(read.times);
  exec::host_space const space(in.settings.threads);
  if (base) {
    list.first_id = *base;
    list.vertices = *std::max_element(read.edges.begin(), read.edges.end()) - *base + 1;
    list.edges.resize(read.edges.size() / 2);
    exec::for_each(space, list.edges.size(), [&](std::size_t i) {
      list.edges[i] = {static_cast<graph::vertex_id>(read.edges[2 * i] - *base),
                       static_cast<graph::vertex_id>(read.edges[2 * i + 1] - *base)};
    });
  } else {
    numbering const numbers(space, in.name, read.edges);
    list.vertices = numbers.size();
    list.edges = numbered(space, numbers, read.edges);
    list.ids = numbers.ids();
  }
  return list;
}

}  // namespace

graph::edge_list parse_edge_list(source const& in) {
  text_reader reader(in, in.begin(), comment_marks);
  bool const directed = read_direction(reader);
  return parse(reader, comment_marks, most_columns, directed, in.settings.vertex_base);
}

graph::edge_list parse_gap(source const& in) {
  text_reader reader(in, in.begin(), "");
  return parse(reader, "", most_columns - 1, true, in.settings.vertex_base.value_or(0));
}

}  // namespace wyrm::loaders::detail
