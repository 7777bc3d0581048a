// SPDX-License-Identifier: Apache-2.0
// Quotes text of a file in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wyrm::loaders {

/// The first `most` bytes of a word, with quotation marks, backslashes and all bytes outside printable ASCII escaped,
/// so that terminals do not interpret them. A longer word ends with "...".
[[nodiscard]] std::string escaped(std::string_view word, std::size_t most = 200);
/// The same in quotation marks.
[[nodiscard]] std::string quoted(std::string_view word, std::size_t most = 32);

}  // namespace wyrm::loaders
