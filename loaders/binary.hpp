// SPDX-License-Identifier: Apache-2.0
// Wyrm's own files (`.wyrm`): an edge list as it lies in memory, behind a header with version and checksum. They are
// mapped and copied, nothing is parsed. docs/formats.md has the layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders {

/// Writes everything that the list has. The file appears whole or not at all. `stamp` is for caches: a number that says
/// what the list was made of. Throws wyrm::error: io; bad_argument when the list's columns differ in length. Time:
/// linear.
void write_binary(graph::edge_list const& list, std::filesystem::path const& path, std::uint64_t stamp = 0);

/// Whether a file that starts with this text claims to be one of Wyrm's.
[[nodiscard]] bool has_binary_signature(std::string_view text) noexcept;

namespace detail {

/// The stamp of a file, 0 when the text is too short to have one.
[[nodiscard]] std::uint64_t binary_stamp(std::string_view text) noexcept;

/// Where a file has its checksum, 8 bytes, and what it should be. Throws as parse_binary does.
inline constexpr std::size_t binary_checksum_at = 56;
[[nodiscard]] std::uint64_t binary_checksum(source const& in);

/// Throws wyrm::error (bad_input), with the byte, when version, size or checksum are not right, or an id, a weight or a
/// time is out of range. Memory: the list; sizes are held against the file's before anything is allocated. Time:
/// linear, on all cores.
[[nodiscard]] graph::edge_list parse_binary(source const& in);

}  // namespace detail
}  // namespace wyrm::loaders
