// SPDX-License-Identifier: Apache-2.0
// A file or standard input as a stream buffer, whose end a signal brings forward.
#pragma once

#include <streambuf>
#include <string>
#include <vector>

namespace wyrm::apps {

class update_input : public std::streambuf {
 public:
  /// Opens a file; "-" is standard input. failure() says whether that succeeded.
  explicit update_input(std::string const& path);
  ~update_input() override;
  update_input(update_input const&) = delete;
  update_input& operator=(update_input const&) = delete;

  /// The error number of the system for a file that cannot be opened or read; 0 without an error.
  [[nodiscard]] int failure() const { return failure_; }
  /// Whether the input ended because interrupted() was true, perhaps in the middle of a line.
  [[nodiscard]] bool cut() const { return cut_; }

 protected:
  /// Waits for input or for a signal.
  int_type underflow() override;

 private:
  int descriptor_;
  bool owned_;
  int failure_ = 0;
  bool cut_ = false;
  std::vector<char> buffer_;
};

}  // namespace wyrm::apps
