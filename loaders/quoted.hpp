// SPDX-License-Identifier: Apache-2.0
// Quotes text of a file, in messages and in outputs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wyrm::loaders {

/// The first `most` bytes of a word, with quotation marks, backslashes and all bytes outside printable ASCII escaped,
/// so that terminals do not interpret them. A longer word ends with "...".
[[nodiscard]] std::string escaped(std::string_view word, std::size_t most = 200);
/// The same in quotation marks.
[[nodiscard]] std::string quoted(std::string_view word, std::size_t most = 32);

/// The inverse of quoted() without a limit of bytes; nothing for a text that is not in quotation marks, or has a wrong
/// escape. Bytes that quoted() would escape are accepted as they are, too.
[[nodiscard]] std::optional<std::string> unquoted(std::string_view text);

/// Takes the first field off a line of separated values (RFC 4180), with the delimiter after it: the field as it
/// stands, with its quotation marks, without blanks around it. The delimiter ' ' stands for any number of spaces and
/// tabs. In quotation marks, delimiters have no meaning and "" is one quotation mark. After the last field, line.data()
/// is null. Nothing when a quotation mark is not closed on the line, or is followed by something else than the
/// delimiter; the line is then unchanged.
[[nodiscard]] std::optional<std::string_view> take_field(std::string_view& line, char delimiter);
/// The content of a field: without quotation marks, and with one for each two.
[[nodiscard]] std::string field_text(std::string_view field);

}  // namespace wyrm::loaders
