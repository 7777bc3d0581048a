// SPDX-License-Identifier: Apache-2.0
// Quotes text of a file in messages.
#pragma once

#include <string>
#include <string_view>

namespace wyrm::loaders {

/// The first 32 bytes of a word in quotation marks, with control characters escaped, so that terminals do not interpret
/// them.
[[nodiscard]] std::string quoted(std::string_view word);

}  // namespace wyrm::loaders
