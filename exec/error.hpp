// SPDX-License-Identifier: Apache-2.0
// The one exception type of Wyrm. A message says what failed, with the numbers, and what to do about it; the code
// says which kind of failure it is, so that a program can choose its exit status and a caller its reaction.
#pragma once

#include <stdexcept>
#include <string>

namespace wyrm {

enum class error_code {
  bad_argument,   // a caller passed something that cannot be served: an id out of range, an unknown name
  bad_input,      // a file is malformed: the message names file, line and reason
  io,             // a file cannot be opened, read or written
  out_of_memory,  // memory is used up or may not grow any further
  device,         // a device is missing, or a call to its driver failed
  corrupt,        // a structure's own check found it broken: a bug in Wyrm, or memory overwritten by somebody
};

class error : public std::runtime_error {
 public:
  error(error_code code, std::string const& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] error_code code() const noexcept { return code_; }

 private:
  error_code code_;
};

}  // namespace wyrm
