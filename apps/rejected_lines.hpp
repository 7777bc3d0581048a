// SPDX-License-Identifier: Apache-2.0
// What happens to the lines of a stream that are refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace wyrm::apps {

/// stop: the stream ends. skip: the line is counted. file: it is also written to a file.
enum class on_error { stop, skip, file };

/// The file has a comment with the reason, and then the line as it was, so that it can be corrected and streamed; CSV
/// begins with the header.
class rejected_lines {
 public:
  /// Creates the file. Throws error(io).
  rejected_lines(on_error policy, std::string path);
  [[nodiscard]] bool stops() const { return policy_ == on_error::stop; }
  /// Writes the header of CSV, before all lines. Throws error(io).
  void add_header(std::string_view line);
  /// An empty line is one that was too long to be kept: only the reason is written. Throws error(io).
  void add(std::string_view reason, std::string_view line);
  /// For any thread.
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  void write(std::string const& text);
  [[noreturn]] void fail() const;

  on_error policy_;
  std::string path_;
  std::ofstream file_;
  std::atomic<std::uint64_t> count_ = 0;
};

}  // namespace wyrm::apps
