// SPDX-License-Identifier: Apache-2.0
// Unpacks compressed data while they arrive: gzip, xz and Zstandard, whose first bytes tell them from text.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct archive;

namespace wyrm::apps {

class unpacker {
 public:
  /// Reads up to so many bytes, and returns their number; 0 at the end. May throw.
  using reader = std::function<std::size_t(char*, std::size_t)>;

  /// The most bytes that is_compressed() needs.
  static constexpr std::size_t signature_bytes = 6;
  /// Whether data that begin with these bytes are compressed.
  [[nodiscard]] static bool is_compressed(std::string_view bytes);
  /// Whether further bytes may make them so.
  [[nodiscard]] static bool may_be_compressed(std::string_view bytes);

  /// `begin`: bytes that were read already. Throws std::bad_alloc.
  unpacker(std::string name, std::string_view begin, reader more);
  ~unpacker();
  unpacker(unpacker const&) = delete;
  unpacker& operator=(unpacker const&) = delete;

  /// Unpacked bytes; 0 at the end. Throws error(io) for damaged or truncated data; the errors of the reader. The
  /// checksums of gzip are not verified.
  [[nodiscard]] std::size_t read(char* to, std::size_t n);

 private:
  static std::ptrdiff_t read_packed(archive*, void* self, void const** bytes);
  void check(std::ptrdiff_t status) const;

  std::string name_;
  reader more_;
  std::vector<char> packed_;
  std::size_t begun_;      // bytes in packed_ that libarchive has not got
  bool is_empty_ = false;  // whether nothing is packed, which libarchive does not read
  std::exception_ptr failure_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

}  // namespace wyrm::apps
