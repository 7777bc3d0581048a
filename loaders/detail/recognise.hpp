// SPDX-License-Identifier: Apache-2.0
// Which format a file has.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "../options.hpp"

namespace wyrm::loaders::detail {

/// The format that goes with a file's name, in upper or lower case.
[[nodiscard]] std::optional<file_format> format_of_name(std::filesystem::path const& filename);

/// The same, where content has a say: Wyrm's own format starts with its signature, whatever the name; names that edge
/// lists share with others (.txt), and names that say nothing, give way to a Matrix Market banner, a JSON object and a
/// DIMACS problem line.
[[nodiscard]] std::optional<file_format> recognise(std::filesystem::path const& filename, std::string_view text);

}  // namespace wyrm::loaders::detail
