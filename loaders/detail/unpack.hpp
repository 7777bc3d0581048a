// SPDX-License-Identifier: Apache-2.0
// Compressed files and archives, through zlib (whose checksums libarchive passes over) and libarchive. What is packed
// is known by its first bytes, never by its name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "input.hpp"

namespace wyrm::loaders::detail {

struct unpacked_file {
  std::string entry;  // its name in an archive; empty: there was no archive
  growing_text text;
};

/// Unpacks gzip, bzip2, xz, Zstandard, and the one graph in a tar archive, also in a compressed one: the one regular
/// file whose name is that of a format, or of several the one that is called like the archive. Links in it lead nowhere
/// and nothing is written to disk. Nothing when the bytes are none of these.
///
/// Throws wyrm::error (bad_input): damaged, cut, more than `limit` bytes, no graph or several. Memory: what is
/// unpacked.
[[nodiscard]] std::optional<unpacked_file> unpack(std::string const& name, std::string_view bytes, std::size_t limit);

}  // namespace wyrm::loaders::detail
