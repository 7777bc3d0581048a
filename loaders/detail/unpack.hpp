// SPDX-License-Identifier: Apache-2.0
// Unpacks compressed files and archives with zlib and libarchive (which does not verify the checksums of gzip). Files
// are recognised by their first bytes, never by their names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "input.hpp"

namespace wyrm::loaders::detail {

struct unpacked_file {
  std::string entry;  // path in the archive; empty without an archive
  growing_text text;
};

/// Unpacks gzip, bzip2, xz, Zstandard, and the graph in a tar archive, also a compressed one. The graph of an archive
/// is the only regular file with the name of a format; among several the only one with the name of the archive, as
/// NAME/NAME.mtx in NAME.tar.gz. Links are not followed, and nothing is written to disk. Returns nothing for other
/// bytes.
///
/// Throws wyrm::error (bad_input): the data are damaged or truncated, other bytes than zeros follow compressed data,
/// unpack to more than `limit` bytes (all entries of an archive count, with their headers), or contain no graph,
/// several, or a graph and another entry of the same path. Memory: the unpacked text; for compressed archives, the
/// whole archive, too.
[[nodiscard]] std::optional<unpacked_file> unpack(std::string const& name, std::string_view bytes, std::size_t limit);

}  // namespace wyrm::loaders::detail
