// SPDX-License-Identifier: Apache-2.0
// An output file that gets its name only when it is complete: it is written under another name and renamed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "detail/compressor.hpp"
#include "detail/output_target.hpp"

namespace wyrm::loaders {

/// What happens depends on what the path names:
///
///   nothing, or a regular file  A temporary file in the same folder, PATH.RANDOM.part, replaces it. The mode of an
///                               existing file is kept; owner and group are those of a new file
///   a symbolic link             The link stays, and the file that it names is replaced or created
///   a device or a pipe          The bytes are written to it at once, also when the work fails later; opening a pipe
///                               waits for a reader. The same for /dev/stdout and /dev/fd/N
///
/// Several writers of one path, in one process or in several, do not affect each other: the last commit() wins. A file
/// is on the disk before it gets its name. All members except the destructor throw wyrm::error (io) when the file
/// cannot be written. Not thread-safe.
class output_file {
 public:
  /// Opens a temporary file next to `path`, so that errors appear before hours of work; an existing file stays until
  /// commit(). `what` names the content in messages. With an empty path, all operations do nothing.
  output_file(std::string what, std::filesystem::path path);
  /// The same, compressed as the extension of `path` says: .gz, .bz2, .xz or .zst; else not.
  struct by_extension {};
  output_file(std::string what, std::filesystem::path path, by_extension);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  void write(std::string_view bytes);
  void write(std::uint64_t number);
  void write(std::int64_t number);
  /// Writes the shortest form that reads back as the same number.
  void write(double number);
  /// Whether bytes are written to a device, a pipe or a descriptor at once: commit() has nothing to do.
  [[nodiscard]] bool is_direct() const noexcept { return target_.direct; }
  /// The number of bytes of the content so far, before compression.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Completes the content: writes the temporary file to the disk and closes it. Only the renaming can fail after that.
  void finish();
  /// Renames a complete file to its name; does nothing for an incomplete one, which the destructor removes.
  void commit();

 private:
  template <class T>
  void append(T number);
  void open();
  [[nodiscard]] int create_part();
  void remove_part();
  void flush();
  void put(std::string_view bytes);
  [[noreturn]] void fail(std::string const& reason) const;
  [[noreturn]] void fail_system() const;  // with the reason in errno

  std::string what_;
  std::filesystem::path path_;  // as given
  detail::output_target target_;
  std::filesystem::path part_;  // the temporary file; empty without one
  std::FILE* file_ = nullptr;
  std::unique_ptr<detail::compressor> compressor_;  // null: not compressed
  std::string buffer_;
  std::uint64_t bytes_ = 0;
  bool complete_ = false;
};

/// Removes the temporary files of all output files of this process: for a program that is about to end, such as after a
/// signal. As long as the result lives, no thread can create a temporary file, or give a file its name: the thread
/// waits in the member function of output_file. Thread-safe; not for signal handlers.
[[nodiscard]] std::unique_lock<std::mutex> remove_unfinished_files();

/// Whether an output file `output` would replace `file`: the two are paths of one regular file (by other spellings,
/// symbolic or hard links), or of one file that does not exist yet. False for devices and pipes.
[[nodiscard]] bool replaces(std::filesystem::path const& output, std::filesystem::path const& file);

}  // namespace wyrm::loaders
