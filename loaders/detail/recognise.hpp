// SPDX-License-Identifier: Apache-2.0
// Recognises the format of a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "../options.hpp"

namespace wyrm::loaders::detail {

/// The format that belongs to the extension of a file name, in upper or lower case; nothing for another extension.
[[nodiscard]] std::optional<file_format> format_of_extension(std::filesystem::path const& filename);

/// The format that belongs to a file name (its extension, or the prefix "out." of KONECT), in upper or lower case;
/// nothing for an unknown name.
[[nodiscard]] std::optional<file_format> format_of_name(std::filesystem::path const& filename);

/// The format by name and content: the signature of a `.wyrm` file precedes every name; a Matrix Market banner, a JSON
/// object and a DIMACS problem line precede names of edge lists (such as .txt) and unknown names.
[[nodiscard]] std::optional<file_format> recognise(std::filesystem::path const& filename, std::string_view text);

}  // namespace wyrm::loaders::detail
