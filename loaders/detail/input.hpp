// SPDX-License-Identifier: Apache-2.0
// A file in memory: mapped where it lies on a disk, read where it is a pipe, unpacked where it is compressed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "../../exec/host_space.hpp"
#include "../../exec/memory.hpp"

namespace wyrm::loaders::detail {

/// Text that grows in place, up to a limit.
class growing_text {
 public:
  growing_text(std::string name, std::size_t limit);
  /// Throws wyrm::error (bad_input) beyond the limit, and out_of_memory.
  void append(std::string_view bytes);
  /// Room for at least so many bytes behind the text, which `grown` takes into it; the same errors.
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

/// The content of a file; must outlive what points into it. A mapped file must not be changed or cut meanwhile: the
/// first shows in what is loaded, the second ends the program (SIGBUS).
class input {
 public:
  /// Throws wyrm::error: io with the system's reason, out_of_memory, and bad_input when a compressed file is damaged,
  /// unpacks to more than `limit` bytes (0: half of the machine's memory), or holds no graph or several.
  input(std::filesystem::path const& path, std::size_t limit);
  ~input();
  input(input const&) = delete;
  input& operator=(input const&) = delete;

  /// As messages should call it: the path, and the name inside an archive.
  [[nodiscard]] std::string const& name() const noexcept { return name_; }
  /// The name that tells the format: without .gz and the like, or that inside an archive.
  [[nodiscard]] std::filesystem::path const& graph_name() const noexcept { return graph_name_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  void read(int file, std::size_t limit);

  std::string name_;
  std::filesystem::path graph_name_;
  std::string_view text_;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::optional<growing_text> memory_;
};

}  // namespace wyrm::loaders::detail
