// SPDX-License-Identifier: Apache-2.0
// Compresses what is written to a file with libarchive. Equal content gives equal bytes: no names and no times.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

struct archive;

namespace wyrm::loaders::detail {

enum class compression { gzip, bzip2, xz, zstd };

/// The compression that belongs to the extension of a file name, in upper or lower case: .gz, .bz2, .xz, .zst.
[[nodiscard]] std::optional<compression> compression_of(std::filesystem::path const& filename);

/// Not thread-safe. Memory: buffers of the library (xz: about 100 MiB).
class compressor {
 public:
  /// Writes to `file`, which must be open until finish() or the destructor. Throws wyrm::error (io) when the library
  /// cannot compress in this way; std::bad_alloc.
  compressor(compression kind, std::FILE* file);
  ~compressor();
  compressor(compressor const&) = delete;
  compressor& operator=(compressor const&) = delete;

  /// False, with errno, when the file cannot be written.
  [[nodiscard]] bool write(std::string_view bytes);
  /// Ends the compressed data. False, with errno, when the file cannot be written.
  [[nodiscard]] bool finish();

 private:
  [[nodiscard]] bool ok(bool good);

  struct sink {
    std::FILE* file;
    int failure = 0;  // errno of the first failure; nothing is written after it
  };
  std::unique_ptr<sink> sink_;  // the library keeps its address
  ::archive* archive_;
};

}  // namespace wyrm::loaders::detail
