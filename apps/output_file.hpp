// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name when it is complete, or not at all.
#pragma once

#include <cerrno>
#include <fstream>
#include <string>

namespace wyrm::apps {

class output_file {
 public:
  /// Makes sure that the file can be written, before hours of work; an earlier one stays until commit. `what` it is, is
  /// for messages. Throws error(io). An empty path: no file is wanted.
  output_file(std::string what, std::string path);
  ~output_file();
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// fill(std::ostream&) writes all of it. Throws error(io). Without a path: nothing.
  template <class F>
  void write(F const& fill) {
    if (path_.empty()) return;
    errno = 0;
    fill(static_cast<std::ostream&>(file_));
    finish();
  }
  /// What was written appears; without a path, or when nothing was: nothing. Throws error(io).
  void commit();

 private:
  void finish();
  [[noreturn]] void fail(std::string const& reason) const;

  std::string what_;
  std::string path_;    // as given
  std::string target_;  // where symbolic links lead
  std::string part_;    // empty when there is none
  bool written_ = false;
  std::ofstream file_;
};

}  // namespace wyrm::apps
