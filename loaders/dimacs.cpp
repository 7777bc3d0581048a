// SPDX-License-Identifier: Apache-2.0
#include "dimacs.hpp"

#include "detail/parallel_lines.hpp"

namespace wyrm::loaders::detail {
namespace {

constexpr std::string_view comment_marks = "c";
constexpr std::int64_t exact = std::int64_t{1} << 53;  // beyond it a double skips integers

constexpr expectation problem_line{"the problem line \"p sp vertices arcs\"", "it precedes all arcs"};
constexpr expectation vertex_count{"the number of vertices", "the problem line is \"p sp vertices arcs\""};
constexpr expectation arc_count{"a number of arcs that a file of this size can hold",
                                "the problem line is \"p sp vertices arcs\"; the file may be truncated"};
constexpr expectation problem_end{"the end of the problem line", "it has two words and two numbers"};
constexpr expectation arc_line{"an arc, \"a source target weight\"", "only arcs and comments follow the problem line"};
constexpr expectation source_id{"the id of the source", "ids start at 1 and end at the number of vertices"};
constexpr expectation target_id{"the id of the target", "ids start at 1 and end at the number of vertices"};
constexpr expectation arc_weight{"an integer weight", "every arc has one"};
constexpr expectation arc_end{"the end of the arc", "an arc is \"a source target weight\""};

void read_word(text_reader& reader, std::string_view word, expectation const& expected) {
  if (reader.peek_word() != word) reader.fail(expected);
  reader.skip_word();
}

using arcs = edge_columns<graph::edge>;

void read_arcs(text_reader& reader, std::size_t vertices, arcs& part) {
  for (reader.skip_comments(); !reader.end_of_file(); reader.skip_comments()) {
    read_word(reader, "a", arc_line);
    auto const source = reader.read_unsigned(1, vertices, source_id);
    auto const target = reader.read_unsigned(1, vertices, target_id);
    part.weights.push_back(static_cast<double>(reader.read_signed(-exact, exact, arc_weight)));
    reader.end_line(arc_end);
    part.edges.push_back({static_cast<graph::vertex_id>(source - 1), static_cast<graph::vertex_id>(target - 1)});
  }
}

}  // namespace

graph::edge_list parse_dimacs(source const& in) {
  text_reader reader(in, in.begin(), comment_marks);
  reader.skip_comments();
  read_word(reader, "p", problem_line);
  read_word(reader, "sp", problem_line);
  graph::edge_list list;
  list.directed = true;
  list.first_id = 1;
  list.vertices = reader.read_unsigned(0, graph::max_vertices, vertex_count);
  constexpr std::size_t arc_bytes = 8;  // "a 1 2 3" and a newline, which the last line may lack
  auto const announced = reader.read_unsigned(0, (in.text.size() + 1) / arc_bytes, arc_count);
  auto const line = reader.line();
  reader.end_line(problem_end);

  list.edges.reserve(announced);
  list.weights.reserve(announced);
  scan_lines<arcs>(
      in, reader.at(), comment_marks, [&](text_reader& lines, arcs& part) { read_arcs(lines, list.vertices, part); },
      [&](arcs const& part) {
        list.edges.insert(list.edges.end(), part.edges.begin(), part.edges.end());
        list.weights.insert(list.weights.end(), part.weights.begin(), part.weights.end());
      });
  expect_count(reader, announced, list.edges.size(), {"arc", "arcs", line});
  return list;
}

}  // namespace wyrm::loaders::detail
