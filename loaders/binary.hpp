// SPDX-License-Identifier: Apache-2.0
// Wyrm's own files (`.wyrm`): a header with version and checksum, followed by the arrays of an edge list in their
// representation in memory. A file is copied, without parsing. docs/formats.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders {

/// What a cache was made of. Both are 0 in a file that is no cache.
struct cache_stamp {
  std::uint32_t content = 0;  // hash of the state of the source files, and of the options that affect parsing
  std::uint32_t name = 0;     // hash of the file name of the cache, so that a renamed file is no cache
  friend bool operator==(cache_stamp const&, cache_stamp const&) = default;
};

/// Writes all arrays of the list. The file appears complete or not at all. Throws wyrm::error: io; bad_argument when
/// the lengths of the arrays do not match. Returns the number of bytes, before compression. Time: linear.
std::uint64_t write_binary(graph::edge_list const& list, std::filesystem::path const& path, cache_stamp stamp = {});

/// Whether a file that starts with this text has the signature of a `.wyrm` file.
[[nodiscard]] bool has_binary_signature(std::string_view text) noexcept;

namespace detail {

/// A hash of bytes; the same on all machines that read the files.
[[nodiscard]] std::uint64_t hash_of(std::uint64_t seed, std::string_view bytes) noexcept;

inline constexpr std::size_t binary_header_bytes = 64;

/// The stamp of a file; zeros when the text is shorter than a header.
[[nodiscard]] cache_stamp binary_stamp(std::string_view text) noexcept;

/// The offset of the checksum (8 bytes) in a file, and the value that it should have. Throws like parse_binary.
inline constexpr std::size_t binary_checksum_at = 56;
[[nodiscard]] std::uint64_t binary_checksum(source const& in);

/// Parses the content of a file. Throws wyrm::error (bad_input), with the byte, when version, size or checksum are
/// wrong, an id is out of range, or a time is not finite. Memory: the list; the counts in the header are
/// compared with the size of the file before memory is allocated. Time: linear, on all cores.
[[nodiscard]] graph::edge_list parse_binary(source const& in);

}  // namespace detail
}  // namespace wyrm::loaders
