// SPDX-License-Identifier: Apache-2.0
// The Matrix Market parser. The banner has the kind of the matrix, the size line its size, and each further line has
// one entry.
#include "matrix_market.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "detail/parallel_lines.hpp"
#include "detail/same_word.hpp"

namespace wyrm::loaders {
namespace detail {
namespace {

constexpr std::string_view comment_marks = "%";
constexpr std::string_view banner = "%%MatrixMarket";
constexpr std::int64_t exact = std::int64_t{1} << 53;  // beyond it a double skips integers

constexpr expectation banner_word{"the banner \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"",
                                  "a Matrix Market file starts with it on its first line"};
constexpr expectation object_word{"the object \"matrix\"", "nothing else can be read as a graph"};
constexpr expectation format_word{"the format \"coordinate\"",
                                  "dense arrays are not read: convert the matrix to coordinate format"};
constexpr expectation field_word{"the field \"pattern\", \"integer\" or \"real\"",
                                 "an edge weight is one real number: convert the matrix"};
constexpr expectation symmetry_word{"the symmetry \"general\", \"symmetric\" or \"skew-symmetric\"",
                                    "correct the banner or convert the matrix"};
constexpr expectation skew_pattern{"the symmetry \"general\" or \"symmetric\" with the field \"pattern\"",
                                   "a skew-symmetric matrix needs values: the mirrored ones have the other sign"};
constexpr expectation banner_end{"the end of the banner", "it has five words"};
constexpr expectation row_count{"the number of rows",
                                "the size line is \"rows columns entries\", and ids have 32 bits"};
constexpr expectation column_count{"as many columns as rows", "the matrix of a graph is square"};
constexpr expectation entry_count{"a number of entries that a file of this size can hold",
                                  "the size line is \"rows columns entries\"; the file may be truncated"};
constexpr expectation no_entries{"no entries", "a matrix without rows has none"};
constexpr expectation size_end{"the end of the size line", "it has three numbers: rows columns entries"};
constexpr expectation row_id{"a row", "ids start at 1 and end at the number of rows"};
constexpr expectation column_id{"a column", "ids start at 1 and end at the number of columns"};
constexpr expectation lower_entry{"an entry on or below the diagonal",
                                  "a symmetric file stores the lower triangle: swap row and column or drop the entry"};
constexpr expectation strictly_lower_entry{"an entry below the diagonal",
                                           "a skew-symmetric file stores the lower triangle, its diagonal is zero"};
constexpr expectation integer_value{"an integer value", "write fractions and larger numbers with the field \"real\""};
constexpr expectation real_value{"a value", "every entry of a real matrix has one, after row and column"};
constexpr expectation entry_end{"the end of the entry",
                                "one entry a line: row, column, and a value unless the field is \"pattern\""};

enum class field { pattern, integer, real };
enum class symmetry { general, symmetric, skew };

/// Reads one of the known words; returns its index.
template <std::size_t N>
std::size_t read_choice(text_reader& reader, std::array<std::string_view, N> const& known,
                        expectation const& expected) {
  auto const word = reader.peek_word();
  auto const found = std::find_if(known.begin(), known.end(), [&](auto const& k) { return same_word(k, word); });
  if (found == known.end()) reader.fail(expected);
  reader.skip_word();
  return static_cast<std::size_t>(found - known.begin());
}

struct kind {
  field values;
  symmetry shape;
};

kind read_banner(text_reader& reader) {
  using words = std::string_view;
  (void)read_choice(reader, std::array{banner}, banner_word);
  (void)read_choice(reader, std::array{words("matrix")}, object_word);
  (void)read_choice(reader, std::array{words("coordinate")}, format_word);
  auto const values = read_choice(reader, std::array{words("pattern"), words("integer"), words("real")}, field_word);
  if (values == 0 && same_word(reader.peek_word(), "skew-symmetric")) reader.fail(skew_pattern);
  auto const shape =
      read_choice(reader, std::array{words("general"), words("symmetric"), words("skew-symmetric")}, symmetry_word);
  reader.end_line(banner_end);
  return {static_cast<field>(values), static_cast<symmetry>(shape)};
}

void check_triangle(text_reader const& reader, symmetry shape, std::uint64_t row, std::uint64_t column) {
  if (shape == symmetry::general || row > column || (shape == symmetry::symmetric && row == column)) return;
  auto const& expected = shape == symmetry::symmetric ? lower_entry : strictly_lower_entry;
  reader.fail_at(reader.line(), expected.what, "row " + std::to_string(row) + ", column " + std::to_string(column),
                 expected.advice);
}

/// The content of the banner and of the size line.
struct header {
  kind is;
  std::uint64_t size;
  std::uint64_t entries;
  std::size_t line;  // of the size line
};

header read_header(text_reader& reader) {
  header head{};
  head.is = read_banner(reader);
  reader.skip_comments();
  head.size = reader.read_unsigned(0, graph::max_vertices, row_count);
  (void)reader.read_unsigned(head.size, head.size, column_count);
  // An entry takes at least two digits, a blank and a newline, which the last line may lack; with a value two more.
  auto const entry_bytes = head.is.values == field::pattern ? std::size_t{4} : std::size_t{6};
  auto const bytes = reader.in().text.size();
  head.entries = head.size == 0 ? reader.read_unsigned(0, 0, no_entries)
                                : reader.read_unsigned(0, (bytes + 1) / entry_bytes, entry_count);
  head.line = reader.line();
  reader.end_line(size_end);
  return head;
}

using entries = edge_columns<graph::edge>;

void read_entries(text_reader& reader, header const& head, entries& part) {
  auto const [values, shape] = head.is;
  for (reader.skip_comments(); !reader.end_of_file(); reader.skip_comments()) {
    auto const row = reader.read_unsigned(1, head.size, row_id);
    auto const column = reader.read_unsigned(1, head.size, column_id);
    check_triangle(reader, shape, row, column);
    if (values == field::real) part.weights.push_back(reader.read_any_real(real_value));
    if (values == field::integer)
      part.weights.push_back(static_cast<double>(reader.read_signed(-exact, exact, integer_value)));
    reader.end_line(entry_end);
    part.edges.push_back({static_cast<graph::vertex_id>(row - 1), static_cast<graph::vertex_id>(column - 1)});
  }
}

/// Adds the mirrored entry, with the opposite sign, after each entry of a skew-symmetric matrix.
void add_mirrored(graph::edge_list& list) {
  auto const entries = list.edges.size();
  list.edges.resize(2 * entries);
  list.weights.resize(2 * entries);
  for (auto i = entries; i-- > 0;) {
    auto const [source, target] = list.edges[i];
    auto const value = list.weights[i];
    list.edges[2 * i] = {source, target};
    list.edges[2 * i + 1] = {target, source};
    list.weights[2 * i] = value;
    list.weights[2 * i + 1] = -value;
  }
}

}  // namespace

graph::edge_list parse_matrix_market(source const& in) {
  text_reader reader(in, in.begin(), comment_marks);
  auto const head = read_header(reader);
  graph::edge_list list;
  list.vertices = head.size;
  list.first_id = 1;
  list.directed = head.is.shape != symmetry::symmetric;
  list.edges.reserve(head.entries);
  if (head.is.values != field::pattern) list.weights.reserve(head.entries);
  scan_lines<entries>(
      in, reader.at(), comment_marks, [&](text_reader& lines, entries& part) { read_entries(lines, head, part); },
      [&](entries const& part) {
        list.edges.insert(list.edges.end(), part.edges.begin(), part.edges.end());
        list.weights.insert(list.weights.end(), part.weights.begin(), part.weights.end());
      });
  expect_count(reader, head.entries, list.edges.size(), {"entry", "entries", head.line});
  if (head.is.shape == symmetry::skew) add_mirrored(list);
  return list;
}

}  // namespace detail

bool has_matrix_market_banner(std::string_view text) noexcept {
  return detail::same_word(text.substr(0, detail::banner.size()), detail::banner);
}

}  // namespace wyrm::loaders
