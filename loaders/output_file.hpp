// SPDX-License-Identifier: Apache-2.0
// An output file that appears under its name only when it is complete. It is written under another name and renamed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace wyrm::loaders {

/// All members except the destructor throw wyrm::error (io) when the file cannot be written. Not thread-safe.
class output_file {
 public:
  /// Opens a temporary file next to `path`, so that errors appear before hours of work; an existing file stays until
  /// commit(). `what` names the content in messages. With an empty path, all operations do nothing.
  output_file(std::string what, std::filesystem::path path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(std::string_view bytes);
  void write(std::uint64_t number);
  /// Writes the shortest form that reads back as the same number.
  void write(double number);
  /// Completes the content: writes and closes the temporary file. Only the renaming can fail after that.
  void finish();
  /// Renames a complete file to its name; does nothing for an incomplete one, which the destructor removes.
  void commit();

 private:
  template <class T>
  void append(T number);
  void flush();
  [[noreturn]] void fail(std::string const& reason) const;

  std::string what_;
  std::filesystem::path path_;    // as given
  std::filesystem::path target_;  // path_ with symbolic links resolved
  std::filesystem::path part_;
  std::FILE* file_ = nullptr;
  std::string buffer_;
  bool complete_ = false;
};

}  // namespace wyrm::loaders
