// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name when it is complete, or not at all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace wyrm::loaders {

/// All members throw wyrm::error (io) when the file cannot be written. Not thread-safe.
class output_file {
 public:
  /// Makes sure that the file can be written, before hours of work; an earlier one stays until commit. `what` it is, is
  /// for messages. An empty path: no file is wanted, and nothing is written.
  output_file(std::string what, std::filesystem::path path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(std::string_view bytes);
  void write(std::uint64_t number);
  /// In the shortest form that reads back as itself.
  void write(double number);
  /// It is complete, and whatever can still fail but its appearance has not.
  void finish();
  /// A file that is complete appears; of one that is not nothing stays.
  void commit();

 private:
  template <class T>
  void append(T number);
  void flush();
  [[noreturn]] void fail(std::string const& reason) const;

  std::string what_;
  std::filesystem::path path_;    // as given
  std::filesystem::path target_;  // where symbolic links lead
  std::filesystem::path part_;
  std::FILE* file_ = nullptr;
  std::string buffer_;
  bool complete_ = false;
};

}  // namespace wyrm::loaders
