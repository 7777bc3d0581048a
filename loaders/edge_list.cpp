// SPDX-License-Identifier: Apache-2.0
#include "edge_list.hpp"

#include <algorithm>
#include <limits>

#include "detail/delimited_lines.hpp"
#include "detail/edge_lines.hpp"

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

/// The largest id that the vertices from `base` on can have.
std::uint64_t most_id(std::optional<std::uint64_t> base) {
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  return base ? *base + std::min(any - *base, std::uint64_t{graph::max_vertices} - 1) : any;
}

graph::edge_list made_of(id_columns read, source const& in, bool directed, std::optional<std::uint64_t> base) {
  graph::edge_list list;
  list.directed = directed;
  list.weights = std::move(read.weights);
  list.times = std::move(read.times);
  exec::host_space const space(in.settings.threads);
  if (base) {
    list.first_id = *base;
    list.vertices = read.largest() - *base + 1;
    list.edges = read.take_edges(space, *base);
  } else {
    auto const numbers = read.numbered(space, in.name);
    list.vertices = numbers.size();
    list.edges = read.take_edges(space, numbers);
    list.ids = numbers.ids();
  }
  return list;
}

}  // namespace

graph::edge_list parse_edge_list(source const& in) {
  text_reader reader(in, in.begin(), comment_marks);
  bool const directed = read_direction(reader);
  auto const base = in.settings.vertex_base;
  auto const read = is_delimited(reader) ? read_delimited_lines : read_edge_lines;
  return made_of(read(reader, comment_marks, most_columns, base.value_or(0), most_id(base)), in, directed, base);
}

graph::edge_list parse_gap(source const& in) {
  text_reader reader(in, in.begin(), "");
  auto const base = in.settings.vertex_base.value_or(0);
  return made_of(read_edge_lines(reader, "", most_columns - 1, base, most_id(base)), in, true, base);
}

}  // namespace wyrm::loaders::detail
