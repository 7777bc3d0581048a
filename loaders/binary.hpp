// SPDX-License-Identifier: Apache-2.0
// Wyrm's own files (`.wyrm`): a header with version and checksum, followed by the arrays of an edge list in their
// representation in memory. A file is mapped and copied, without parsing. docs/formats.md has the layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders {

/// Writes all arrays of the list. The file appears complete or not at all. `stamp` is for caches: a number that
/// identifies the source of the list. Throws wyrm::error: io; bad_argument when the lengths of the arrays do not match.
/// Time: linear.
void write_binary(graph::edge_list const& list, std::filesystem::path const& path, std::uint64_t stamp = 0);

/// Whether a file that starts with this text has the signature of a `.wyrm` file.
[[nodiscard]] bool has_binary_signature(std::string_view text) noexcept;

namespace detail {

/// The stamp of a file; 0 when the text is shorter than a header.
[[nodiscard]] std::uint64_t binary_stamp(std::string_view text) noexcept;

/// The offset of the checksum (8 bytes) in a file, and the value that it should have. Throws like parse_binary.
inline constexpr std::size_t binary_checksum_at = 56;
[[nodiscard]] std::uint64_t binary_checksum(source const& in);

/// Parses the content of a file. Throws wyrm::error (bad_input), with the byte, when version, size or checksum are
/// wrong, an id is out of range, or a weight or a time is not finite. Memory: the list; the counts in the header are
/// compared with the size of the file before memory is allocated. Time: linear, on all cores.
[[nodiscard]] graph::edge_list parse_binary(source const& in);

}  // namespace detail
}  // namespace wyrm::loaders
