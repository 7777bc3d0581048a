// SPDX-License-Identifier: Apache-2.0
#include "edge_lines.hpp"

#include <algorithm>

namespace wyrm::loaders::detail {
namespace {

constexpr std::string_view line_form = "each line is \"source target\", with weight and time where the format has them";

constexpr expectation source_id{"the id of the source", line_form};
constexpr expectation target_id{"the id of the target", line_form};
constexpr expectation weight_value{"a weight, a finite number", "every line has the columns of the first"};
constexpr expectation time_value{"a time, a finite number", "every line has the columns of the first"};
constexpr expectation edge_end{"the end of the line", "every line has the columns of the first"};
constexpr expectation any_edge{"an edge", "the file has none; it may be truncated"};

columns columns_of(text_reader reader, std::size_t most_columns) {
  std::size_t words = 0;
  while (!reader.end_of_line()) {
    if (++words > most_columns) {
      reader.fail({"at most " + std::to_string(most_columns) + " columns", line_form});
    }
    reader.skip_word();
  }
  bool const only_time = words == 3 && most_columns == 4 && reader.in().settings.third == third_column::time;
  return {words >= 3 && !only_time, words == 4 || only_time};
}

/// Reserves memory for the estimated number of edges, because growing arrays copies them. The estimate assumes that
/// lines are on average as long as the first ones.
void reserve(id_columns& all, columns const has, source const& in, char const* from) {
  constexpr std::size_t sample_bytes = std::size_t{1} << 16;
  auto const sample = whole_lines(in, from, sample_bytes);
  auto const lines = static_cast<double>(std::count(sample.begin(), sample.end(), '\n') + 1);
  auto const samples = static_cast<double>(in.end() - from) / static_cast<double>(sample.size());
  auto const edges = static_cast<std::size_t>(lines * samples * 1.05);
  all.edges.reserve(2 * edges);
  if (has.weight) all.weights.reserve(edges);
  if (has.time) all.times.reserve(edges);
}

void read_edges(text_reader& reader, columns const has, std::uint64_t least, std::uint64_t most, id_columns& part) {
  for (reader.skip_comments(); !reader.end_of_file(); reader.skip_comments()) {
    auto const source = reader.read_unsigned(least, most, source_id);
    auto const target = reader.read_unsigned(least, most, target_id);
    if (has.weight) part.weights.push_back(reader.read_real(weight_value));
    if (has.time) part.times.push_back(reader.read_real(time_value));
    reader.end_line(edge_end);
    part.edges.push_back(source);
    part.edges.push_back(target);
  }
}

}  // namespace

id_columns read_edge_lines(text_reader& reader, std::string_view comment_marks, std::size_t most_columns,
                           std::uint64_t least, std::uint64_t most) {
  reader.skip_comments();
  if (reader.end_of_file()) reader.fail(any_edge);
  auto const has = columns_of(reader, most_columns);
  id_columns all;
  reserve(all, has, reader.in(), reader.at());
  scan_lines<id_columns>(
      reader.in(), reader.at(), comment_marks,
      [&](text_reader& lines, id_columns& part) { read_edges(lines, has, least, most, part); },
      [&](id_columns const& part) { all.append(part); });
  return all;
}

}  // namespace wyrm::loaders::detail
