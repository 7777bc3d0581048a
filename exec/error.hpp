// SPDX-License-Identifier: Apache-2.0
// The exception type of Wyrm. The message states what failed, with the relevant numbers, and what to do about it. The
// code is the kind of failure: a program can derive its exit status from it, and a caller its reaction.
#pragma once

#include <stdexcept>
#include <string>

namespace wyrm {

enum class error_code {
  bad_argument,   // an argument is invalid: an id out of range, an unknown name
  bad_input,      // a file is malformed; the message has the file, the line and the reason
  io,             // a file cannot be opened, read or written
  out_of_memory,  // memory is used up, or has reached its limit
  device,         // a device is missing, or a call to its driver failed
  corrupt,        // a structure's own check failed: a bug in Wyrm, or memory that other code has overwritten
};

class error : public std::runtime_error {
 public:
  error(error_code code, std::string const& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] error_code code() const noexcept { return code_; }

 private:
  error_code code_;
};

}  // namespace wyrm
