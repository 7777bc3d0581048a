// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name when it is complete, or not at all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace wyrm::loaders::detail {

class output_file {
 public:
  /// Throws wyrm::error (io), as all members do, when the file cannot be written. An earlier file stays until commit.
  explicit output_file(std::filesystem::path const& path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(std::string_view bytes);
  void write(std::uint64_t number);
  /// In the shortest form that reads back as itself.
  void write(double number);
  void commit();

 private:
  void flush();
  [[noreturn]] void fail(std::string const& reason) const;

  std::filesystem::path path_;
  std::filesystem::path part_;
  std::FILE* file_ = nullptr;
  std::string buffer_;
};

}  // namespace wyrm::loaders::detail
