// SPDX-License-Identifier: Apache-2.0
// The content of a file in memory: a file is read, or mapped on request; a compressed file is unpacked.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "../../exec/host_space.hpp"
#include "../../exec/memory.hpp"
#include "../options.hpp"
#include "source.hpp"

namespace wyrm::loaders::detail {

/// Throws wyrm::error (bad_input): the file has or unpacks to more than `limit` bytes.
[[noreturn]] void fail_beyond_limit(std::string const& name, std::size_t limit);

/// The text without U+FEFF in UTF-8 at its start, with which some editors begin a file.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text) noexcept;

/// Reads the first bytes of a file, in parallel. Throws wyrm::error (io), with `name`: the file is shorter, or the
/// message of the system.
void read_file(std::string const& name, int file, std::span<char> to, unsigned threads);

/// Text that grows in place, up to a limit of bytes.
class growing_text {
 public:
  growing_text(std::string name, std::size_t limit);
  /// Throws wyrm::error: bad_input beyond the limit; out_of_memory.
  void append(std::string_view bytes);
  /// Returns uninitialised memory of at least `bytes` bytes after the text; grown() adds it to the text. Same errors.
  [[nodiscard]] char* room(std::size_t bytes);
  void grown(std::size_t bytes) noexcept { size_ += bytes; }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<char const*>(memory_.data()), size_};
  }

 private:
  std::string name_;
  std::size_t limit_;
  std::size_t size_ = 0;
  exec::reservation<exec::host_space> memory_;
};

/// The content of a file, without a byte order mark. The object must outlive all pointers into the content. A file that
/// options.map maps must not be changed or cut meanwhile: a change may appear in the content; a cut ends the program
/// (SIGBUS).
class input final : private text_memory {
 public:
  /// Throws wyrm::error: io with the message of the system, or when a file is cut while it is read; out_of_memory;
  /// bad_input when a compressed file is damaged, unpacks to more bytes than options.unpacked_limit, or contains no
  /// graph or several.
  input(std::filesystem::path const& path, options const& settings);
  ~input();
  input(input const&) = delete;
  input& operator=(input const&) = delete;

  /// The name for messages: the path, and the name of the file in an archive.
  [[nodiscard]] std::string const& name() const noexcept { return name_; }
  /// The name that determines the format: without the extension of a compression, or the name in an archive.
  [[nodiscard]] std::filesystem::path const& graph_name() const noexcept { return graph_name_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// The number of bytes before the text: those of a byte order mark.
  [[nodiscard]] std::size_t skipped() const noexcept { return skipped_; }
  /// The memory of the text; null where freed text could not be read again: pipes, and unpacked text.
  [[nodiscard]] text_memory* memory() noexcept { return mapped_ != nullptr || file_ >= 0 ? this : nullptr; }

 private:
  void read(int file, std::size_t limit, options const& settings);
  void forget_file() noexcept;
  void release(char const* upto) noexcept override;
  void restore() noexcept override;

  std::string name_;
  std::filesystem::path graph_name_;
  std::string_view text_;
  std::size_t skipped_ = 0;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  int file_ = -1;             // of content_, to read freed text again
  std::size_t released_ = 0;  // bytes at the start of the file whose memory is freed
  std::mutex restoring_;
  exec::buffer<char, exec::host_space> content_{exec::host_space(1)};
  std::optional<growing_text> memory_;
};

}  // namespace wyrm::loaders::detail
