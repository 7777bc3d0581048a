// SPDX-License-Identifier: Apache-2.0
// Malformed files, one defect each: every file of the corpus must be refused, at the line and in the words that this
// table expects.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "../../loaders/loaders.hpp"

namespace wyrm::tests {
namespace {

namespace fs = std::filesystem;

fs::path const corpus = fs::path(WYRM_TEST_DATA) / "invalid";

struct defect {
  std::string_view file;
  std::size_t line;
  std::string_view message;  // a part of it
};

void PrintTo(defect const& row, std::ostream* out) { *out << row.file << ':' << row.line; }

constexpr defect defects[] = {
    {"metis_empty.graph", 1, "expected the number of vertices (0 to 4294967295), found the end of the file; "},
    {"metis_comments_only.graph", 2, "expected the number of vertices (0 to 4294967295), found the end of the file"},
    {"metis_header_only.graph", 3, "expected the line of vertex 1 of 3, found the end of the file"},
    {"metis_header_one_number.graph", 1, "found the end of the line"},
    {"metis_header_five_numbers.graph", 1, R"(expected the end of the header, found "7")"},
    {"metis_header_word.graph", 1, R"(found "three")"},
    {"metis_header_negative.graph", 1, R"(found "-3")"},
    {"metis_header_plus.graph", 1, R"(found "+3")"},
    {"metis_header_fraction.graph", 1, R"(found "3.0")"},
    {"metis_header_bom.graph", 1, R"(found "\xef\xbb\xbf3")"},
    {"metis_header_long_token.graph", 1, R"(found "99999999999999999999999999999999...")"},
    {"metis_vertices_2_32.graph", 1, R"((0 to 4294967295), found "4294967296"; )"},
    {"metis_vertices_2_64.graph", 1, R"((0 to 4294967295), found "18446744073709551617")"},
    {"metis_vertices_absurd.graph", 1,
     R"(a number of vertices that a file of this size can hold (0 to 21), found "4000000000")"},
    {"metis_edges_absurd.graph", 1,
     R"(a number of edges that a file of this size can hold (0 to 6), found "4000000000000")"},
    {"metis_edges_2_64.graph", 1, "a number of edges that a file of this size can hold"},
    {"metis_edges_negative.graph", 1, R"(found "-2")"},
    {"metis_fmt_digit.graph", 1, "expected fmt of one to three digits 0 or 1"},
    {"metis_fmt_four_digits.graph", 1, "expected fmt of one to three digits 0 or 1"},
    {"metis_fmt_negative.graph", 1, R"(found "-1")"},
    {"metis_ncon_without_weights.graph", 1, R"(expected ncon, the number of weights of a vertex (0), found "2")"},
    {"metis_ncon_zero.graph", 1, "expected ncon, the number of weights of a vertex (1 to "},
    {"metis_ncon_absurd.graph", 2,
     "expected a weight of the vertex (0 to 18446744073709551615), found the end of the line"},
    {"metis_too_few_lines.graph", 5, "expected the line of vertex 4 of 4, found the end of the file"},
    {"metis_too_many_lines.graph", 5, R"(expected no line behind that of the last vertex, 2, found "1")"},
    {"metis_extra_blank_line.graph", 2,
     "edge 1-2 equally often on the lines of both vertices, found it more often here than on line 3 of vertex 2"},
    {"metis_too_few_entries.graph", 1, R"(expected 2 edges, as many as the lines below list, found "3")"},
    {"metis_too_many_entries.graph", 3, R"(expected no more than the header's 1 edges, each listed twice, found "3")"},
    {"metis_truncated_line.graph", 4, "expected the line of vertex 4 of 4, found the end of the file"},
    {"metis_truncated_number.graph", 13,
     "edge 12-1 equally often on the lines of both vertices, found it more often here than on line 2 of vertex 1"},
    {"metis_id_zero.graph", 3, R"(expected the id of a neighbour (1 to 3), found "0")"},
    {"metis_id_above.graph", 4, R"(expected the id of a neighbour (1 to 3), found "4")"},
    {"metis_id_2_32.graph", 4, R"(found "4294967298")"},
    {"metis_id_2_64.graph", 4, R"(found "18446744073709551618")"},
    {"metis_id_negative.graph", 3, R"(found "-3")"},
    {"metis_id_word.graph", 3, R"(found "x")"},
    {"metis_id_fraction.graph", 3, R"(found "3.5")"},
    {"metis_id_junk_behind.graph", 3, R"(found "3,")"},
    {"metis_id_quoted.graph", 3, R"(found "\"3\\\"")"},
    {"metis_comment_behind.graph", 3, R"(found "%")"},
    {"metis_lone_cr.graph", 1, R"(found "2\x0d2\x0d1")"},
    {"metis_self_loop.graph", 4,
     R"(expected a neighbour other than the vertex itself, found "3"; METIS files hold no self-loops)"},
    {"metis_asymmetric_later.graph", 3,
     "edge 1-2 equally often on the lines of both vertices, found it more often here than on line 4 of vertex 2"},
    {"metis_asymmetric_passed.graph", 2,
     "edge 1-3 equally often on the lines of both vertices, found it more often here than on line 4 of vertex 3"},
    {"metis_asymmetric_earlier.graph", 4,
     "edge 3-1 equally often on the lines of both vertices, found it more often here than on line 2 of vertex 1"},
    {"metis_asymmetric_repeated.graph", 2,
     "edge 1-2 equally often on the lines of both vertices, found it more often here than on line 3 of vertex 2"},
    {"metis_weights_unequal.graph", 4,
     "expected equal weights of edge 2-3 at both vertices, found 2.5 here and 2 on line 3; "},
    {"metis_weight_missing.graph", 3,
     "expected the weight of the edge, a positive finite number, found the end of the line"},
    {"metis_weight_zero.graph", 3, R"(expected the weight of the edge, a positive finite number, found "0")"},
    {"metis_weight_negative.graph", 3, R"(found "-2")"},
    {"metis_weight_word.graph", 3, R"(found "w")"},
    {"metis_weight_overflow.graph", 3, R"(found "1e999")"},
    {"metis_weight_nan.graph", 3, R"(found "nan")"},
    {"metis_weight_infinite.graph", 3, R"(found "inf")"},
    {"metis_size_missing.graph", 4,
     "expected the size of the vertex (0 to 18446744073709551615), found the end of the line"},
    {"metis_size_negative.graph", 3, R"(expected the size of the vertex (0 to 18446744073709551615), found "-1")"},
    {"metis_vertex_weight_missing.graph", 4,
     "expected a weight of the vertex (0 to 18446744073709551615), found the end of the line"},
    {"metis_vertex_weight_fraction.graph", 3, R"(found "1.5")"},
    {"metis_nul.graph", 3, "expected text, found a NUL byte; "},
    {"metis_nul_in_comment.graph", 2, "expected text, found a NUL byte; "},
    {"metis_junk.graph", 1, R"(found "\x1e\x8b\x08\x01\x80\xfe\xff")"},
    {"mtx_empty.mtx", 1,
     R"(expected the banner "%%MatrixMarket matrix coordinate FIELD SYMMETRY", found the end of the file)"},
    {"mtx_missing_banner.mtx", 1,
     R"(expected the banner "%%MatrixMarket matrix coordinate FIELD SYMMETRY", found "3")"},
    {"mtx_banner_late.mtx", 1, R"(found "%")"},
    {"mtx_banner_percent.mtx", 1, R"(found "%MatrixMarket")"},
    {"mtx_banner_short.mtx", 1,
     R"(expected the symmetry "general", "symmetric" or "skew-symmetric", found the end of the line)"},
    {"mtx_banner_long.mtx", 1, R"(expected the end of the banner, found "graph")"},
    {"mtx_banner_vector.mtx", 1, R"(expected the object "matrix", found "vector")"},
    {"mtx_banner_array.mtx", 1, R"(expected the format "coordinate", found "array")"},
    {"mtx_banner_complex.mtx", 1, R"(expected the field "pattern", "integer" or "real", found "complex")"},
    {"mtx_banner_double.mtx", 1, R"(found "double")"},
    {"mtx_banner_hermitian.mtx", 1,
     R"(expected the symmetry "general", "symmetric" or "skew-symmetric", found "Hermitian")"},
    {"mtx_banner_pattern_skew.mtx", 1, "a skew-symmetric matrix needs values"},
    {"mtx_banner_only.mtx", 2, "expected the number of rows (0 to 4294967295), found the end of the file"},
    {"mtx_size_word.mtx", 2, R"(found "x")"},
    {"mtx_size_two_numbers.mtx", 3, "found the end of the line"},
    {"mtx_size_four_numbers.mtx", 2, R"(expected the end of the size line, found "1")"},
    {"mtx_not_square.mtx", 2, R"(expected as many columns as rows (3), found "4")"},
    {"mtx_rows_2_32.mtx", 2, R"((0 to 4294967295), found "4294967296")"},
    {"mtx_rows_2_64.mtx", 2, R"((0 to 4294967295), found "18446744073709551617")"},
    {"mtx_rows_negative.mtx", 2, R"(found "-3")"},
    {"mtx_entries_absurd.mtx", 2,
     R"(expected a number of entries that a file of this size can hold (0 to 18), found "4000000000000")"},
    {"mtx_entries_2_64.mtx", 2, "a number of entries that a file of this size can hold"},
    {"mtx_entries_negative.mtx", 2, R"(found "-1")"},
    {"mtx_header_only.mtx", 3,
     "expected entry 1 of 2, found the end of the file; correct the number of entries on line 2"},
    {"mtx_too_few_entries.mtx", 5, "expected entry 3 of 3, found the end of the file"},
    {"mtx_too_many_entries.mtx", 5, R"(expected no entry behind the last, 1, found "3")"},
    {"mtx_no_rows.mtx", 2, R"(expected no entries (0), found "1")"},
    {"mtx_truncated.mtx", 4, "expected a column (1 to 30), found the end of the file"},
    {"mtx_row_zero.mtx", 3, R"(expected a row (1 to 3), found "0")"},
    {"mtx_row_above.mtx", 3, R"(expected a row (1 to 3), found "4")"},
    {"mtx_row_2_32.mtx", 3, R"(found "4294967297")"},
    {"mtx_row_negative.mtx", 3, R"(found "-1")"},
    {"mtx_row_word.mtx", 3, R"(found "row")"},
    {"mtx_column_zero.mtx", 3, R"(expected a column (1 to 3), found "0")"},
    {"mtx_column_above.mtx", 3, R"(expected a column (1 to 3), found "4")"},
    {"mtx_column_2_64.mtx", 3, R"(found "18446744073709551617")"},
    {"mtx_column_missing.mtx", 3, "expected a column (1 to 3), found the end of the line"},
    {"mtx_value_in_pattern.mtx", 3, R"(expected the end of the entry, found "5")"},
    {"mtx_value_missing.mtx", 4, "expected a finite value, found the end of the line"},
    {"mtx_value_twice.mtx", 3, R"(expected the end of the entry, found "6")"},
    {"mtx_comment_behind.mtx", 3, R"(expected the end of the entry, found "%")"},
    {"mtx_integer_fraction.mtx", 3,
     R"(expected an integer value (-9007199254740992 to 9007199254740992), found "5.5")"},
    {"mtx_integer_inexact.mtx", 3, R"(found "9007199254740993")"},
    {"mtx_integer_2_64.mtx", 3, R"(found "-18446744073709551617")"},
    {"mtx_integer_missing.mtx", 3,
     "expected an integer value (-9007199254740992 to 9007199254740992), found the end of the line"},
    {"mtx_real_nan.mtx", 3, R"(found "NaN")"},
    {"mtx_real_infinite.mtx", 3, R"(found "-inf")"},
    {"mtx_real_overflow.mtx", 3, R"(found "1e400")"},
    {"mtx_real_plus.mtx", 3, R"(found "+1.5")"},
    {"mtx_real_comma.mtx", 3, R"(found "1,5")"},
    {"mtx_real_hexadecimal.mtx", 3, R"(found "0x1p3")"},
    {"mtx_real_exponent.mtx", 3, R"(found "1.5D+03")"},
    {"mtx_symmetric_upper.mtx", 4, "expected an entry on or below the diagonal, found row 1, column 3"},
    {"mtx_skew_upper.mtx", 4, "expected an entry below the diagonal, found row 1, column 3"},
    {"mtx_skew_diagonal.mtx", 4, "expected an entry below the diagonal, found row 3, column 3"},
    {"mtx_nul.mtx", 3, "expected text, found a NUL byte"},
    {"mtx_lone_cr.mtx", 1, R"(found "general\x0d3")"},
};

class invalid_file : public testing::TestWithParam<defect> {};

TEST_P(invalid_file, is_refused_at_the_line_of_its_defect) {
  auto const& [file, line, message] = GetParam();
  auto const path = corpus / file;
  try {
    (void)loaders::load(path);
    FAIL() << "it was loaded";
  } catch (error const& refused) {
    std::string const text = refused.what();
    EXPECT_EQ(refused.code(), error_code::bad_input) << text;
    EXPECT_EQ(text.rfind(path.string() + ":" + std::to_string(line) + ": ", 0), 0U) << text;
    EXPECT_NE(text.find(message), std::string::npos) << text;
    EXPECT_NE(text.find("; "), std::string::npos) << "no advice: " << text;
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) << text;
    EXPECT_LT(text.size(), path.string().size() + 300);
  }
}

INSTANTIATE_TEST_SUITE_P(corpus, invalid_file, testing::ValuesIn(defects), [](auto const& info) {
  return std::string(info.param.file.substr(0, info.param.file.find('.')));
});

TEST(invalid_corpus, table_and_folder_hold_the_same_files) {
  std::set<std::string> in_table;
  for (auto const& row : defects) EXPECT_TRUE(in_table.emplace(row.file).second) << row.file << " stands twice";
  std::set<std::string> in_folder;
  for (auto const& entry : fs::directory_iterator(corpus)) in_folder.insert(entry.path().filename().string());
  EXPECT_EQ(in_table, in_folder);
}

}  // namespace
}  // namespace wyrm::tests
