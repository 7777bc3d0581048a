// SPDX-License-Identifier: Apache-2.0
// Finds out what an output path names: a file to replace, or a device, pipe or descriptor to write to. Needs POSIX.
#pragma once

#include <filesystem>

namespace wyrm::loaders::detail {

/// What an output path names.
struct output_target {
  /// The file to replace or to create, with symbolic links resolved (also those to files that do not exist); or the
  /// device or pipe.
  std::filesystem::path path;
  /// The open descriptor of this process that the path names, as /dev/stdout and /dev/fd/1 do; -1 without one.
  int descriptor = -1;
  /// Whether bytes are written to a device, a pipe or a descriptor, and no file is replaced.
  bool direct = false;
};

/// Throws std::filesystem::filesystem_error when the path is a folder, a circle of symbolic links or cannot be
/// examined.
[[nodiscard]] output_target find_output_target(std::filesystem::path const& path);

}  // namespace wyrm::loaders::detail
