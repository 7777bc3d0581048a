// SPDX-License-Identifier: Apache-2.0
// The Matrix Market parser: the banner says what kind of matrix follows, a size line how large it is, and each further
// line holds one entry.
#include "matrix_market.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "detail/text_reader.hpp"

namespace wyrm::loaders {
namespace detail {
namespace {

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
constexpr expectation real_value{"a finite value", "every entry of a real matrix has one, behind row and column"};
constexpr expectation entry_end{"the end of the entry",
                                "one entry a line: row, column, and a value unless the field is \"pattern\""};

enum class field { pattern, integer, real };
enum class symmetry { general, symmetric, skew };

bool same_word(std::string_view a, std::string_view b) noexcept {
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// Reads one of the known words and says which.
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

void skip_comments(text_reader& reader) {
  while (!reader.end_of_file() && (reader.comment() || reader.end_of_line())) reader.skip_line();
}

void check_triangle(text_reader const& reader, symmetry shape, std::uint64_t row, std::uint64_t column) {
  if (shape == symmetry::general || row > column || (shape == symmetry::symmetric && row == column)) return;
  auto const& expected = shape == symmetry::symmetric ? lower_entry : strictly_lower_entry;
  reader.fail_at(reader.line(), expected.what, "row " + std::to_string(row) + ", column " + std::to_string(column),
                 expected.advice);
}

}  // namespace

graph::edge_list parse_matrix_market(text_reader& reader) {
  auto const [values, shape] = read_banner(reader);
  skip_comments(reader);
  auto const size = reader.read_unsigned(0, graph::max_vertices, row_count);
  (void)reader.read_unsigned(size, size, column_count);
  // An entry takes at least two digits, a blank and a newline, which the last line may lack; with a value two more.
  auto const entry_bytes = values == field::pattern ? std::size_t{4} : std::size_t{6};
  auto const entries = size == 0 ? reader.read_unsigned(0, 0, no_entries)
                                 : reader.read_unsigned(0, (reader.bytes() + 1) / entry_bytes, entry_count);
  auto const size_line = reader.line();
  reader.end_line(size_end);

  graph::edge_list list;
  list.vertices = size;
  list.directed = shape != symmetry::symmetric;
  auto const arcs = shape == symmetry::skew ? 2 * entries : entries;
  list.edges.reserve(arcs);
  if (values != field::pattern) list.weights.reserve(arcs);

  for (std::uint64_t i = 0; i < entries; ++i) {
    skip_comments(reader);
    if (reader.end_of_file()) {
      reader.fail({"entry " + std::to_string(i + 1) + " of " + std::to_string(entries),
                   "correct the number of entries on line " + std::to_string(size_line) +
                       ", or fetch the file again if it is truncated"});
    }
    auto const row = reader.read_unsigned(1, size, row_id);
    auto const column = reader.read_unsigned(1, size, column_id);
    check_triangle(reader, shape, row, column);
    auto const source = static_cast<graph::vertex_id>(row - 1);
    auto const target = static_cast<graph::vertex_id>(column - 1);
    list.edges.push_back({source, target});
    if (shape == symmetry::skew) list.edges.push_back({target, source});
    if (values != field::pattern) {
      auto const value = values == field::real ? reader.read_real(real_value)
                                               : static_cast<double>(reader.read_signed(-exact, exact, integer_value));
      list.weights.push_back(value);
      if (shape == symmetry::skew) list.weights.push_back(-value);
    }
    reader.end_line(entry_end);
  }
  skip_comments(reader);
  if (!reader.end_of_file()) {
    reader.fail({"no entry behind the last, " + std::to_string(entries),
                 "correct the number of entries on line " + std::to_string(size_line) + " or remove the line"});
  }
  return list;
}

}  // namespace detail

graph::edge_list load_matrix_market(std::filesystem::path const& path, progress const& report) {
  return detail::load_text(path, report, detail::parse_matrix_market);
}

bool has_matrix_market_banner(std::string_view text) noexcept {
  return detail::same_word(text.substr(0, detail::banner.size()), detail::banner);
}

}  // namespace wyrm::loaders
