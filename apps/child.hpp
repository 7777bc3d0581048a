// SPDX-License-Identifier: Apache-2.0
// Runs other programs. Needs POSIX.
#pragma once

#include <string>
#include <vector>

namespace wyrm::apps {

struct child_result {
  int status = 0;  // the exit status; 128 plus the signal that ended the program
  std::string output;
};

/// Runs a program that is found by PATH, without a shell, and waits for its end. `input` is the descriptor of its
/// standard input; -1: /dev/null. Its standard output is returned, and standard error is that of this program. The
/// signals that end this program end the child, too. Throws error(io) when the program cannot be started: `advice` says
/// what to do about it.
[[nodiscard]] child_result run_child(std::vector<std::string> arguments, int input, std::string const& advice);

}  // namespace wyrm::apps
