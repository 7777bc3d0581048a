// SPDX-License-Identifier: Apache-2.0
// Results of a benchmark that measures its own time: a line of text for each case, and a file of JSON in the form of
// Google Benchmark, which scripts/plot reads.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"

namespace wyrm::bench {

using figures = std::vector<std::pair<std::string, double>>;

class report {
 public:
  /// only: cases whose names do not contain it are not selected; empty: all are. path: of the file, which is written at
  /// once, so that a wrong path is known before anything is measured, and from time to time; empty: there is none.
  /// Throws error(io).
  explicit report(std::string only, std::string path = "") : only_(std::move(only)), path_(std::move(path)) { write(); }

  [[nodiscard]] bool selects(std::string const& name) {
    bool const is_selected = name.find(only_) != std::string::npos;
    has_selected_ = has_selected_ || is_selected;
    return is_selected;
  }
  /// Whether --only may select cases of a subject, the first part of a name.
  [[nodiscard]] bool may_select(std::string_view subject) const {
    return only_.find('/') == std::string::npos || only_.starts_with(subject);
  }
  void about(std::string const& key, std::string const& value) { context_.emplace_back(key, value); }
  /// Prints a case, and keeps it for the file.
  void add(std::string const& name, double seconds, figures const& values) {
    std::printf("%-52s %10.3f ms", name.c_str(), seconds * 1e3);
    for (auto const& [key, value] : values) std::printf("  %s %.4g", key.c_str(), value);
    std::printf("\n");
    std::fflush(stdout);
    std::string entry = head_of(name) + ", \"run_type\": \"iteration\", \"real_time\": " + number(seconds * 1e3) +
                        ", \"time_unit\": \"ms\"";
    for (auto const& [key, value] : values) entry += ", " + quoted(key) + ": " + number(value);
    entries_.push_back(entry + "}");
    if (std::chrono::steady_clock::now() - written_ > std::chrono::seconds(2)) write();
  }
  /// A case without a result.
  void add_failure(std::string const& name, std::string const& why) {
    std::printf("%-52s failed: %s\n", name.c_str(), why.c_str());
    std::fflush(stdout);
    entries_.push_back(head_of(name) + ", \"error_occurred\": true, \"error_message\": " + quoted(why) + "}");
    ++failures_;
  }
  [[nodiscard]] std::size_t failures() const { return failures_; }

  /// Writes the file. Throws error(io), also if standard output cannot be written, and error(bad_argument) if no case
  /// was selected.
  void finish() {
    write();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw error(error_code::io, "standard output cannot be written; is the disk full?");
    if (!has_selected_)
      throw error(error_code::bad_argument,
                  "--only: no case has '" + only_ + "' in its name; run without it for a list");
  }

 private:
  void write() {
    if (path_.empty()) return;
    std::ofstream file(path_);
    file << "{\n \"context\": {";
    for (std::size_t i = 0; i < context_.size(); ++i)
      file << (i == 0 ? "" : ", ") << quoted(context_[i].first) << ": " << quoted(context_[i].second);
    file << "},\n \"benchmarks\": [\n";
    for (std::size_t i = 0; i < entries_.size(); ++i)
      file << "  " << entries_[i] << (i + 1 < entries_.size() ? ",\n" : "\n");
    file << " ]\n}\n";
    file.close();
    if (!file)
      throw error(error_code::io,
                  path_ + ": the results cannot be written; is the folder there, and the disk not full?");
    written_ = std::chrono::steady_clock::now();
  }
  [[nodiscard]] static std::string quoted(std::string const& text) {
    std::string all = "\"";
    for (char const c : text) {
      if (c == '"' || c == '\\') all += '\\';
      all += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return all + '"';
  }
  [[nodiscard]] static std::string number(double value) {
    if (!std::isfinite(value)) return "null";
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", value);
    return text;
  }
  [[nodiscard]] static std::string head_of(std::string const& name) {
    return "{\"name\": " + quoted(name) + ", \"run_name\": " + quoted(name);
  }

  std::string only_;
  std::string path_;
  bool has_selected_ = false;
  std::chrono::steady_clock::time_point written_;
  std::vector<std::pair<std::string, std::string>> context_;
  std::vector<std::string> entries_;
  std::size_t failures_ = 0;
};

}  // namespace wyrm::bench
