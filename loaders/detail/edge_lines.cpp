// SPDX-License-Identifier: Apache-2.0
#include "edge_lines.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "../../exec/launch.hpp"

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

void read_edges(text_reader& reader, columns const has, std::uint64_t least, std::uint64_t most, id_piece& part) {
  for (reader.skip_comments(); !reader.end_of_file(); reader.skip_comments()) {
    auto const source = reader.read_unsigned(least, most, source_id);
    auto const target = reader.read_unsigned(least, most, target_id);
    if (has.weight) part.weights.push_back(reader.read_real(weight_value));
    if (has.time) part.times.push_back(reader.read_real(time_value));
    reader.end_line(edge_end);
    part.add(source, target);
  }
}

}  // namespace

void id_columns::reserve(columns const has, source const& in, char const* from) {
  constexpr std::size_t sample_bytes = std::size_t{1} << 16;
  auto const sample = whole_lines(in, from, sample_bytes);
  if (sample.empty()) return;
  auto const lines = static_cast<double>(std::count(sample.begin(), sample.end(), '\n') + 1);
  auto const samples = static_cast<double>(in.end() - from) / static_cast<double>(sample.size());
  auto const edges = static_cast<std::size_t>(lines * samples * 1.05);
  narrow_.reserve(edges);
  if (has.weight) weights.reserve(edges);
  if (has.time) times.reserve(edges);
}

void id_columns::append(id_piece const& piece) {
  largest_ = std::max(largest_, piece.largest);
  weights.insert(weights.end(), piece.weights.begin(), piece.weights.end());
  times.insert(times.end(), piece.times.begin(), piece.times.end());
  if (wide_.empty() && largest_ <= std::numeric_limits<graph::vertex_id>::max()) {
    for (std::size_t i = 0; i < piece.edges.size(); i += 2) {
      narrow_.push_back(
          {static_cast<graph::vertex_id>(piece.edges[i]), static_cast<graph::vertex_id>(piece.edges[i + 1])});
    }
    return;
  }
  if (wide_.empty()) {
    wide_.reserve(2 * narrow_.capacity());
    for (auto const& [source, target] : narrow_) {
      wide_.push_back(source);
      wide_.push_back(target);
    }
    narrow_ = {};
  }
  wide_.insert(wide_.end(), piece.edges.begin(), piece.edges.end());
}

numbering id_columns::numbered(exec::host_space const& space, std::string const& file) const {
  return wide_.empty() ? numbering(space, file, narrow_) : numbering(space, file, wide_);
}

template <class F>
std::vector<graph::edge> id_columns::take(exec::host_space const& space, F const& vertex) {
  auto edges = std::move(narrow_);
  if (!wide_.empty()) edges.resize(wide_.size() / 2);
  exec::for_each(space, edges.size(), [&](std::size_t i) {
    auto const source = wide_.empty() ? edges[i].source : wide_[2 * i];
    auto const target = wide_.empty() ? edges[i].target : wide_[2 * i + 1];
    edges[i] = {vertex(source), vertex(target)};
  });
  wide_ = {};
  return edges;
}

std::vector<graph::edge> id_columns::take_edges(exec::host_space const& space, numbering const& numbers) {
  return take(space, [&](std::uint64_t id) { return numbers.find(id); });
}

std::vector<graph::edge> id_columns::take_edges(exec::host_space const& space, std::uint64_t base) {
  return take(space, [=](std::uint64_t id) { return static_cast<graph::vertex_id>(id - base); });
}

id_columns read_edge_lines(text_reader& reader, std::string_view comment_marks, std::size_t most_columns,
                           std::uint64_t least, std::uint64_t most) {
  reader.skip_comments();
  if (reader.end_of_file()) reader.fail(any_edge);
  auto const has = columns_of(reader, most_columns);
  id_columns all;
  all.reserve(has, reader.in(), reader.at());
  scan_lines<id_piece>(
      reader.in(), reader.at(), comment_marks,
      [&](text_reader& lines, id_piece& part) { read_edges(lines, has, least, most, part); },
      [&](id_piece const& part) { all.append(part); });
  return all;
}

}  // namespace wyrm::loaders::detail
