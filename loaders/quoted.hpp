// SPDX-License-Identifier: Apache-2.0
// How messages show what stands in a file.
#pragma once

#include <string>
#include <string_view>

namespace wyrm::loaders {

/// A word between quotation marks: its beginning, and nothing that a terminal would obey.
[[nodiscard]] std::string quoted(std::string_view word);

}  // namespace wyrm::loaders
