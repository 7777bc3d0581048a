// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name when it is complete, or not at all.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace wyrm::apps {

class report_file {
 public:
  /// Makes sure that the report can be written, before hours of work; an earlier one stays until commit. Throws
  /// error(io). An empty path: no report is wanted.
  explicit report_file(std::string path);
  ~report_file();
  report_file(report_file const&) = delete;
  report_file& operator=(report_file const&) = delete;

  /// Writes the file; throws error(io). Without a path: nothing.
  void commit(std::string_view text);

 private:
  [[noreturn]] void fail(std::string const& reason) const;

  std::string path_;    // as given
  std::string target_;  // where symbolic links lead
  std::string part_;    // empty when there is none
  std::ofstream file_;
};

}  // namespace wyrm::apps
