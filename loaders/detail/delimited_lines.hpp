// SPDX-License-Identifier: Apache-2.0
// Reads edge lists whose first line names the columns, or whose columns are separated by commas or semicolons, as CSV
// files have them (RFC 4180, except that a field has no line breaks).
#pragma once

#include "edge_lines.hpp"

namespace wyrm::loaders::detail {

/// Whether the line at the cursor is one of such a list: options.columns is set, it has a comma or a semicolon, or it
/// has two columns or more, and none of them is a number.
[[nodiscard]] bool is_delimited(text_reader reader);

/// Reads edges from the position of the reader to the end of the file; ids are in [least, most]. The delimiter is that
/// of the first line: the most frequent of comma, semicolon and tab outside of quotation marks, or else blanks. Every
/// line must have as many columns as the first line.
///
/// The first line has names if options.columns is set, or if none of its columns is a number. Without options.columns
/// the names that count are, in upper or lower case: source, src, from, fromnodeid; target, dst, to, tonodeid; weight,
/// w; time, timestamp, t. If the first line has no names, the order of the columns is that of read_edge_lines.
///
/// Throws bad_input with file and line, also when there is no edge; bad_argument when options.third is set and the
/// first line has names.
[[nodiscard]] id_columns read_delimited_lines(text_reader& reader, std::string_view comment_marks,
                                              std::size_t most_columns, std::uint64_t least, std::uint64_t most);

}  // namespace wyrm::loaders::detail
