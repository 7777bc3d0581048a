// SPDX-License-Identifier: Apache-2.0
// Tests malformed text files with one defect each: every file of the corpus must be refused with the line and the
// message in this table.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    {"metis_header_fraction.graph", 1, R"(found "3.0")"},
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
    {"metis_too_many_lines.graph", 5, R"(expected no line after that of the last vertex, 2, found "1")"},
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
    {"mtx_too_many_entries.mtx", 5, R"(expected no entry after the last, 1, found "3")"},
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
    {"mtx_value_missing.mtx", 4, "expected a value, found the end of the line"},
    {"mtx_value_twice.mtx", 3, R"(expected the end of the entry, found "6")"},
    {"mtx_comment_behind.mtx", 3, R"(expected the end of the entry, found "%")"},
    {"mtx_integer_fraction.mtx", 3,
     R"(expected an integer value (-9007199254740992 to 9007199254740992), found "5.5")"},
    {"mtx_integer_inexact.mtx", 3, R"(found "9007199254740993")"},
    {"mtx_integer_2_64.mtx", 3, R"(found "-18446744073709551617")"},
    {"mtx_integer_missing.mtx", 3,
     "expected an integer value (-9007199254740992 to 9007199254740992), found the end of the line"},
    {"mtx_real_overflow.mtx", 3, R"(found "1e400")"},
    {"mtx_real_comma.mtx", 3, R"(found "1,5")"},
    {"mtx_real_hexadecimal.mtx", 3, R"(found "0x1p3")"},
    {"mtx_symmetric_upper.mtx", 4, "expected an entry on or below the diagonal, found row 1, column 3"},
    {"mtx_skew_upper.mtx", 4, "expected an entry below the diagonal, found row 1, column 3"},
    {"mtx_skew_diagonal.mtx", 4, "expected an entry below the diagonal, found row 3, column 3"},
    {"mtx_nul.mtx", 3, "expected text, found a NUL byte"},
    {"mtx_lone_cr.mtx", 1, R"(found "general\x0d3")"},
    {"dimacs_empty.gr", 1, R"(expected the problem line "p sp vertices arcs", found the end of the file)"},
    {"dimacs_comments_only.gr", 3, R"(expected the problem line "p sp vertices arcs", found the end of the file)"},
    {"dimacs_no_problem.gr", 1, R"(expected the problem line "p sp vertices arcs", found "a")"},
    {"dimacs_problem_word.gr", 1, R"(expected the problem line "p sp vertices arcs", found "max")"},
    {"dimacs_problem_late.gr", 2, R"(expected the problem line "p sp vertices arcs", found "a")"},
    {"dimacs_problem_twice.gr", 2, R"(expected an arc, "a source target weight", found "p")"},
    {"dimacs_vertices_2_32.gr", 1, R"(expected the number of vertices (0 to 4294967295), found "4294967296")"},
    {"dimacs_vertices_word.gr", 1, R"(expected the number of vertices (0 to 4294967295), found "x")"},
    {"dimacs_vertices_negative.gr", 1, R"(expected the number of vertices (0 to 4294967295), found "-3")"},
    {"dimacs_arcs_absurd.gr", 1,
     R"(expected a number of arcs that a file of this size can hold (0 to 4), found "1000000000000000000")"},
    {"dimacs_arcs_negative.gr", 1,
     R"(expected a number of arcs that a file of this size can hold (0 to 2), found "-1")"},
    {"dimacs_arcs_2_64.gr", 1,
     R"(expected a number of arcs that a file of this size can hold (0 to 4), found "18446744073709551617")"},
    {"dimacs_problem_short.gr", 1,
     R"(expected a number of arcs that a file of this size can hold (0 to 2), found the end of the line)"},
    {"dimacs_problem_long.gr", 1, R"(expected the end of the problem line, found "1")"},
    {"dimacs_too_few.gr", 3, R"(expected arc 2 of 2, found the end of the file)"},
    {"dimacs_too_many.gr", 5, R"(expected no arc after the last, 2, found "a")"},
    {"dimacs_letter.gr", 2, R"(expected an arc, "a source target weight", found "b")"},
    {"dimacs_source_zero.gr", 2, R"(expected the id of the source (1 to 3), found "0")"},
    {"dimacs_source_above.gr", 3, R"(expected the id of the source (1 to 3), found "4")"},
    {"dimacs_target_zero.gr", 2, R"(expected the id of the target (1 to 3), found "0")"},
    {"dimacs_target_above.gr", 3, R"(expected the id of the target (1 to 3), found "4")"},
    {"dimacs_target_missing.gr", 2, R"(expected the id of the target (1 to 3), found the end of the line)"},
    {"dimacs_weight_missing.gr", 3,
     R"(expected an integer weight (-9007199254740992 to 9007199254740992), found the end of the line)"},
    {"dimacs_weight_fraction.gr", 2,
     R"(expected an integer weight (-9007199254740992 to 9007199254740992), found "3.5")"},
    {"dimacs_weight_inexact.gr", 2,
     R"(expected an integer weight (-9007199254740992 to 9007199254740992), found "9007199254740993")"},
    {"dimacs_weight_word.gr", 2, R"(expected an integer weight (-9007199254740992 to 9007199254740992), found "w")"},
    {"dimacs_weight_twice.gr", 2, R"(expected the end of the arc, found "4")"},
    {"dimacs_nul.gr", 3, R"(expected text, found a NUL byte)"},
    {"dimacs_truncated.gr", 3, R"(expected the id of the target (1 to 3), found the end of the file)"},
    {"edges_empty.txt", 1, R"(expected an edge, found the end of the file)"},
    {"edges_comments_only.txt", 3, R"(expected an edge, found the end of the file)"},
    {"edges_one_column.txt", 1,
     R"(expected the id of the target (0 to 18446744073709551615), found the end of the line)"},
    {"edges_five_columns.txt", 1, R"(expected at most 4 columns, found "5")"},
    {"edges_column_more.txt", 2, R"(expected the end of the line, found "4")"},
    {"edges_column_fewer.txt", 2, R"(expected a weight, a finite number, found the end of the line)"},
    {"edges_time_missing.txt", 2, R"(expected a time, a finite number, found the end of the line)"},
    {"edges_id_negative.txt", 2, R"(expected the id of the source (0 to 18446744073709551615), found "-1")"},
    {"edges_id_word.txt", 2, R"(expected the id of the source (0 to 18446744073709551615), found "source")"},
    {"edges_id_fraction.txt", 2, R"(expected the id of the target (0 to 18446744073709551615), found "3.0")"},
    {"edges_id_2_64.txt", 2,
     R"(expected the id of the source (0 to 18446744073709551615), found "18446744073709551616")"},
    {"edges_id_hexadecimal.txt", 2, R"(expected the id of the source (0 to 18446744073709551615), found "0x1")"},
    {"edges_weight_word.txt", 2, R"(expected a weight, a finite number, found "w")"},
    {"edges_weight_nan.txt", 2, R"(expected a weight, a finite number, found "nan")"},
    {"edges_weight_infinite.txt", 1, R"(expected a weight, a finite number, found "inf")"},
    {"edges_weight_overflow.txt", 1,
     R"(a weight, a finite number (of size 4.9e-324 to 1.8e308 unless 0), found "1e999")"},
    {"edges_weight_underflow.txt", 2,
     R"(a weight, a finite number (of size 4.9e-324 to 1.8e308 unless 0), found "1e-400")"},
    {"edges_time_word.txt", 2, R"(expected a time, a finite number, found "today")"},
    {"edges_comma.txt", 2, R"(expected the id of the target (0 to 18446744073709551615), found "x")"},
    {"edges_semicolon.txt", 2, R"(expected 2 columns, found 1)"},
    {"edges_header.txt", 1, R"(expected a column "source", "src" or "from" in the first line, found "a", "b")"},
    {"edges_quote_open.csv", 2, R"(expected fields, quoted or not, found "\"3")"},
    {"edges_field_more.csv", 2, R"(expected 2 columns, found 3)"},
    {"edges_field_empty.csv", 2, R"(expected a weight, a finite number, in column "w", found an empty field)"},
    {"edges_name_twice.csv", 1, R"(expected one column for the id of the source, found several, such as "source")"},
    {"edges_names_only.csv", 2, R"(expected an edge, found the end of the file)"},
    {"edges_five_fields.csv", 1, R"(expected 2 to 4 columns: source, target, weight, time, found 5)"},
    {"edges_bipartite.txt", 1, R"(expected a network with one kind of vertices, found a bipartite one (bip))"},
    {"edges_nul.txt", 3, R"(expected text, found a NUL byte)"},
    {"edges_nul_in_comment.txt", 1, R"(expected text, found a NUL byte)"},
    {"edges_comment_behind.txt", 2, R"(expected the end of the line, found "#")"},
    {"edges_truncated.txt", 3,
     R"(expected the id of the target (0 to 18446744073709551615), found the end of the file)"},
    {"edges_lone_cr.txt", 1, R"(expected the id of the target (0 to 18446744073709551615), found "2\x0d2")"},
    {"edges_junk.txt", 1, R"(expected the id of the source (0 to 18446744073709551615), found "\xfe\xff1")"},
    {"gap_empty.el", 1, R"(expected an edge, found the end of the file)"},
    {"gap_comment.el", 1, R"(expected the id of the source (0 to 4294967294), found "#")"},
    {"gap_four_columns.el", 1, R"(expected at most 3 columns, found "3")"},
    {"gap_id_negative.el", 2, R"(expected the id of the target (0 to 4294967294), found "-1")"},
    {"gap_id_2_32.el", 2, R"(expected the id of the source (0 to 4294967294), found "4294967295")"},
    {"gap_id_word.el", 2, R"(expected the id of the source (0 to 4294967294), found "a")"},
    {"gap_columns_change.el", 2, R"(expected the end of the line, found "3")"},
    {"gap_nul.el", 2, R"(expected text, found a NUL byte)"},
    {"gap_one_column.el", 1, R"(expected the id of the target (0 to 4294967294), found the end of the line)"},
    {"gap_weight_word.wel", 2, R"(expected a weight, a finite number, found "x")"},
    {"gap_weight_missing.wel", 2, R"(expected a weight, a finite number, found the end of the line)"},
    {"gap_weight_nan.wel", 1, R"(expected a weight, a finite number, found "nan")"},
    {"graphalytics_v_word.v", 2, R"(expected the id of a vertex (0 to 18446744073709551615), found "two")"},
    {"graphalytics_v_negative.v", 2, R"(expected the id of a vertex (0 to 18446744073709551615), found "-2")"},
    {"graphalytics_v_id_2_64.v", 2,
     R"(expected the id of a vertex (0 to 18446744073709551615), found "18446744073709551616")"},
    {"graphalytics_v_two_columns.v", 1, R"(expected the end of the line, found "2")"},
    {"graphalytics_v_repeated.v", 4, R"(expected each vertex once, found "5")"},
    {"graphalytics_v_nul.v", 2, R"(expected text, found a NUL byte)"},
    {"graphalytics_e_unknown_source.e", 2, R"(graphalytics_e_unknown_source.v, found "4")"},
    {"graphalytics_e_unknown_target.e", 4, R"(graphalytics_e_unknown_target.v, found "4")"},
    {"graphalytics_e_one_column.e", 2,
     R"(expected the id of the target (0 to 18446744073709551615), found the end of the line)"},
    {"graphalytics_e_four_columns.e", 1, R"(expected at most 3 columns, found "4")"},
    {"graphalytics_e_weight_word.e", 1, R"(expected a weight, a finite number, found "w")"},
    {"graphalytics_e_weight_missing.e", 2, R"(expected a weight, a finite number, found the end of the line)"},
    {"graphalytics_e_word.e", 2, R"(expected the id of the target (0 to 18446744073709551615), found "b")"},
    {"graphalytics_e_comment.e", 1, R"(expected the id of the source (0 to 18446744073709551615), found "#")"},
    {"graphalytics_e_nul.e", 2, R"(expected text, found a NUL byte)"},
    {"json_empty.json", 1, R"(expected JSON, found the end of the file at byte 0 (The document is empty.))"},
    {"json_blank.json", 3, R"(expected JSON, found the end of the file at byte 3 (The document is empty.))"},
    {"json_word.json", 1, R"(expected JSON, found "graph" at byte 0 (Invalid value.))"},
    {"json_truncated.json", 2, R"(expected JSON, found the end of the file at byte 29 (Invalid value.))"},
    {"json_array.json", 1, R"(expected an object, found an array near byte 0)"},
    {"json_number.json", 1, R"(expected an object, found 17 near byte 2)"},
    {"json_no_nodes.json", 2, R"(expected an array "nodes", found none)"},
    {"json_no_links.json", 2, R"(expected an array "links" or "edges", found none)"},
    {"json_nodes_object.json", 1, R"(expected an array "nodes", found an object near byte 10)"},
    {"json_links_number.json", 2, R"(expected an array "links", found 3 near byte 45)"},
    {"json_nodes_twice.json", 2, R"(expected nodes once, and links or edges once, found "nodes" again)"},
    {"json_links_and_edges.json", 3, R"(expected nodes once, and links or edges once, found "edges" again)"},
    {"json_directed_number.json", 1, R"(expected true or false for "directed", found 1 near byte 14)"},
    {"json_directed_twice.json", 2, R"(expected "directed" once, found true for it again near byte )"},
    {"json_node_number.json", 1, R"(expected an object in "nodes", found 0 near byte 12)"},
    {"json_node_array.json", 1, R"(expected an object in "nodes", found an array near byte 11)"},
    {"json_link_array.json", 2, R"(expected an object in "links", found an array near byte 45)"},
    {"json_id_mixed.json", 2,
     R"(expected integers as ids of all nodes, or strings, or no ids, as of the first node, found "b" near byte 32)"},
    {"json_id_missing.json", 2,
     R"(expected integers as ids of all nodes, or strings, or no ids, as of the first node, found a node without id near byte )"},
    {"json_id_late.json", 2,
     R"(expected integers as ids of all nodes, or strings, or no ids, as of the first node, found 1 near byte )"},
    {"json_id_negative.json", 1,
     R"(expected an integer below 2^64 or a string without NUL as id, found -1 near byte 20)"},
    {"json_id_fraction.json", 1,
     R"(expected an integer below 2^64 or a string without NUL as id, found 0.5 near byte 21)"},
    {"json_id_2_64.json", 1,
     R"(expected an integer below 2^64 or a string without NUL as id, found 18446744073709551616 near byte 38)"},
    {"json_id_object.json", 1,
     R"(expected an integer below 2^64 or a string without NUL as id, found an object near byte 18)"},
    {"json_id_null.json", 1,
     R"(expected an integer below 2^64 or a string without NUL as id, found null near byte 22)"},
    {"json_id_nul.json", 1,
     R"(expected an integer below 2^64 or a string without NUL as id, found "a\x00b" near byte 28)"},
    {"json_id_repeated.json", 2,
     R"(expected an id of its own for each node, found 1, which another node has, near byte )"},
    {"json_name_repeated.json", 2,
     R"(expected an id of its own for each node, found "1", which another node has, near byte )"},
    {"json_id_twice.json", 1, R"(expected one "id" of a node, found another one, 1, near byte 28)"},
    {"json_source_missing.json", 2, R"(expected "source" and "target" of a link, found only "target" near byte )"},
    {"json_target_missing.json", 2, R"(expected "source" and "target" of a link, found only "source" near byte )"},
    {"json_source_unknown.json", 2, R"(expected the id of a node as "source", found 2)"},
    {"json_target_unknown.json", 2, R"(expected the id of a node as "target", found "b")"},
    {"json_target_number.json", 2, R"(expected the id of a node as "target", found 0)"},
    {"json_index_above.json", 2, R"(expected the id of a node as "target", found 2)"},
    {"json_source_array.json", 2, R"(expected the id of a node as "source", found an array near byte )"},
    {"json_source_twice.json", 2, R"(expected one "source" of a link, found another one, 0, near byte )"},
    {"json_weight_word.json", 2, R"(expected a number as "weight", found "heavy" near byte )"},
    {"json_weight_null.json", 2, R"(expected a number as "weight", found null near byte )"},
    {"json_weight_some.json", 3,
     R"(expected a weight of all links or of none, found a link without a weight near byte )"},
    {"json_weight_late.json", 3,
     R"(expected a weight of all links or of none, found the first link with a weight near byte )"},
    {"json_weight_twice.json", 2, R"(expected one "weight" of a link, found another one, 2, near byte )"},
    {"json_weight_nan.json", 2, R"(expected JSON, found "NaN}]}" at byte 82 (Invalid value.))"},
    {"json_weight_overflow.json", 2,
     R"(expected JSON, found "1e999}]}" at byte 82 (Number too big to be stored in double.))"},
    {"json_behind.json", 3,
     R"(expected JSON, found "{}" at byte 74 (The document root must not be followed by other values.))"},
    {"json_comma.json", 1, R"(expected JSON, found "," at byte 33 (Missing a name for object member.))"},
    {"json_comment.json", 2, R"(expected JSON, found "//" at byte 35 (Missing a name for object member.))"},
    {"json_single_quotes.json", 1, R"(expected JSON, found "'nodes':" at byte 1 (Missing a name for object member.))"},
    {"json_utf_8.json", 1, R"(at byte 19 (Invalid encoding in string.))"},
    {"json_surrogate.json", 1, R"(at byte 19 (The surrogate pair in string is invalid.))"},
    {"json_nul.json", 3, R"(expected text, found a NUL byte)"},
    {"json_directed_array.json", 1, R"(expected true or false for "directed", found an array near byte 13)"},
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
  for (auto const& row : defects) EXPECT_TRUE(in_table.emplace(row.file).second) << row.file << " occurs twice";
  std::set<std::string> in_folder;
  for (auto const& entry : fs::directory_iterator(corpus)) {
    auto const name = entry.path().filename().string();
    // One of the two files of a Graphalytics graph is malformed; its extension is in the name.
    bool const sound = (name.starts_with("graphalytics_v_") && name.ends_with(".e")) ||
                       (name.starts_with("graphalytics_e_") && name.ends_with(".v"));
    if (!sound) in_folder.insert(name);
  }
  EXPECT_EQ(in_table, in_folder);
}

// Files of many pieces, which several threads read at the same time: the error is that of the first malformed line.
class malformed_lines {
 public:
  // Sound lines behind a header; each is 7 characters and a newline.
  malformed_lines(loaders::file_format format, std::string header, std::size_t lines)
      : format_(format), header_(std::move(header)), lines_(lines) {}

  // Replaces lines, numbered from 1 in the file, and expects the error of one of them.
  void expect_first(std::vector<std::pair<std::size_t, std::string>> const& defects, std::size_t line,
                    std::string const& message) const {
    std::vector<std::string> all(lines_, sound());
    auto const above = static_cast<std::size_t>(std::count(header_.begin(), header_.end(), '\n'));
    for (auto const& [at, content] : defects) all.at(at - above - 1) = content;
    std::string text = header_;
    for (auto const& content : all) text += content + "\n";
    for (unsigned const threads : {1U, 2U, 4U})
      for (int repetition = 0; repetition < 5; ++repetition) {
        try {
          (void)loaders::parse("text", text, format_, {.threads = threads});
          ADD_FAILURE() << "it was loaded";
        } catch (error const& refused) {
          std::string const want = "text:" + std::to_string(line) + ": expected " + message;
          EXPECT_EQ(std::string(refused.what()).rfind(want, 0), 0U)
              << threads << " threads: " << refused.what() << "\nnot: " << want;
        }
      }
  }

 private:
  [[nodiscard]] std::string sound() const {
    switch (format_) {
      case loaders::file_format::dimacs: return "a 1 2 3";
      case loaders::file_format::matrix_market: return "  10  9";
      default: return " 1000 7";
    }
  }

  loaders::file_format format_;
  std::string header_;
  std::size_t lines_;
};

TEST(invalid_lines, the_first_of_several_is_reported) {
  std::string const source = R"(the id of the source (0 to 18446744073709551615), found "x")";
  std::string const target = R"(the id of the target (0 to 18446744073709551615), found "y")";
  std::string const end = R"(the end of the line, found "3")";
  // A piece is at least 16 KiB of whole lines: 2,049 of these.
  constexpr std::size_t piece = 2049;
  constexpr std::size_t pieces = 64;
  malformed_lines const list(loaders::file_format::edge_list, "", pieces * piece);
  std::pair<std::size_t, std::string> const none{7, " 1000 7"};
  // Within a piece, in both orders of the kinds.
  list.expect_first({{3, "x 1"}, {4, "1 y"}, {6, "1 2 3"}}, 3, source);
  list.expect_first({{3, "1 2 3"}, {4, "1 y"}, {6, "x 1"}}, 3, end);
  list.expect_first({{piece + 2, "1 y"}, {piece + 3, "x 1"}, {2 * piece - 1, "1 2 3"}, none}, piece + 2, target);
  // In several pieces: the last line of one, the first of the next; and one more in each.
  list.expect_first({{piece, "1 y"}, {piece + 1, "x 1"}}, piece, target);
  list.expect_first({{2 * piece - 1, "x 1"}, {2 * piece + 1, "1 y"}, {4 * piece, "1 2 3"}}, 2 * piece - 1, source);
  list.expect_first({{piece - 1, "1 2 3"}, {piece + 1, "x 1"}, {2 * piece + 1, "1 y"}, {4 * piece + 9, "x 1"}},
                    piece - 1, end);
  // The last line of all, and one before it.
  list.expect_first({{pieces * piece, "1 y"}}, pieces * piece, target);
  list.expect_first({{pieces * piece - 1, "x 1"}, {pieces * piece, "1 y"}}, pieces * piece - 1, source);
  // Where the threads that read the later pieces meet theirs first: a long line keeps another one busy.
  std::vector<std::pair<std::size_t, std::string>> many{{9, "1" + std::string(std::size_t{4} << 20, ' ') + "2 3"}};
  for (std::size_t i = 1; i < pieces; ++i) many.emplace_back(i * piece + 1, i % 2 == 0 ? "x 1" : "1 y");
  list.expect_first(many, 9, end);
  // Every line from one on.
  many.clear();
  for (std::size_t line = 3 * piece + 100; line <= pieces * piece; ++line)
    many.emplace_back(line, line % 2 == 0 ? "x 1" : "1 y");
  list.expect_first(many, 3 * piece + 100, (3 * piece + 100) % 2 == 0 ? source : target);

  malformed_lines const arcs(loaders::file_format::dimacs, "c\np sp 9 6000\n", 6000);
  arcs.expect_first({{4000, "a 1 2 w"}, {4001, "b"}, {5999, "a 0 1 1"}}, 4000, R"(an integer weight)");
  arcs.expect_first({{12, "a 1 10 1"}, {4001, "b"}}, 12, R"(the id of the target (1 to 9), found "10")");
  malformed_lines const entries(loaders::file_format::matrix_market,
                                "%%MatrixMarket matrix coordinate pattern symmetric\n10 10 6000\n", 6000);
  entries.expect_first({{2500, "9 10"}, {2501, "11 1"}, {5000, "w"}}, 2500, "an entry on or below the diagonal");
  entries.expect_first({{2500, "11 1"}, {2501, "9 10"}, {5000, "w"}}, 2500, R"(a row (1 to 10), found "11")");
}

// Rows of METIS files are read in pieces and then checked in order. A row that contradicts another one is reported
// before a malformed line behind it, and after one above it.
TEST(invalid_lines, the_first_of_malformed_and_contradicting_rows_is_reported) {
  // A ring, with a comment of 60 characters above each row, so that pieces have few rows.
  constexpr std::size_t n = 1000;
  std::string const comment = "%" + std::string(58, '-') + "\n";
  auto const rows = [&] {
    std::vector<std::string> all;
    for (std::size_t v = 1; v <= n; ++v)
      all.push_back(std::to_string(v == 1 ? n : v - 1) + " " + std::to_string(v == n ? 1 : v + 1));
    return all;
  };
  auto const expect_first = [&](std::size_t vertex, std::vector<std::string> const& all, std::string const& message) {
    std::string text = std::to_string(n) + " " + std::to_string(n) + "\n";
    for (auto const& row : all) text.append(comment).append(row).append("\n");
    for (unsigned const threads : {1U, 2U, 4U}) {
      try {
        (void)loaders::parse("text", text, loaders::file_format::metis, {.threads = threads});
        ADD_FAILURE() << "it was loaded";
      } catch (error const& refused) {
        std::string const want = "text:" + std::to_string(2 * vertex + 1) + ": expected " + message;
        EXPECT_EQ(std::string(refused.what()).rfind(want, 0), 0U) << refused.what() << "\nnot: " << want;
      }
    }
  };
  std::string const loop = "a neighbour other than the vertex itself";
  std::string const id = R"(the id of a neighbour (1 to 1000), found "x")";
  for (std::size_t const first : {std::size_t{5}, std::size_t{600}})
    for (std::size_t const second : {first + 1, first + 3, std::size_t{990}}) {
      SCOPED_TRACE(std::to_string(first) + " before " + std::to_string(second));
      auto all = rows();
      all[first - 1] = std::to_string(first) + " " + std::to_string(first + 1);
      all[second - 1] = "1 x";
      expect_first(first, all, loop);
      all = rows();
      all[first - 1] = "1 x";
      all[second - 1] = std::to_string(second);
      expect_first(first, all, id);
    }
}

}  // namespace
}  // namespace wyrm::tests
