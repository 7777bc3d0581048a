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

}  // namespace wyrm::loaders
