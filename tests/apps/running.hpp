// SPDX-License-Identifier: Apache-2.0
// A run of the program that goes on while the test sends it input and signals. Needs POSIX.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "program.hpp"

namespace wyrm::tests {

/// Waits until a condition holds; fails the test when it does not within half a minute.
template <class F>
void wait_until(F const& condition, std::string const& what) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL() << "never happened: " << what;
}

class running_program {
 public:
  /// Starts a program, whose path is the first argument. Its output goes to files in a folder.
  running_program(std::vector<std::string> arguments, std::string const& folder)
      : out_(folder + "/running.out"), err_(folder + "/running.err") {
    std::signal(SIGPIPE, SIG_IGN);  // of the test, if the program ends before it has read its input
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    input_ = ends[1];
    int const out = create(out_);
    int const err = create(err_);
    child_ = start(std::move(arguments), ends[0], out, err);
    for (int const mine : {ends[0], out, err}) close(mine);
  }
  ~running_program() {
    end_input();
    if (child_ <= 0) return;
    kill(SIGKILL);
    (void)wait_for(child_);
  }
  running_program(running_program const&) = delete;
  running_program& operator=(running_program const&) = delete;

  void send(std::string const& text) const { (void)!write(input_, text.data(), text.size()); }
  void end_input() {
    if (input_ >= 0) close(std::exchange(input_, -1));
  }
  void kill(int signal) const { ::kill(child_, signal); }
  [[nodiscard]] std::string output() const { return read(out_); }
  /// Waits until the output contains a text.
  void wait_for_output(std::string const& text) const {
    wait_until([&] { return output().find(text) != std::string::npos; }, text);
  }
  /// Waits for the end of the program.
  [[nodiscard]] outcome wait() {
    int const status = wait_for(std::exchange(child_, -1));
    return {status, output(), read(err_)};
  }

 private:
  static int create(std::string const& path) {
    int const descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), path);
    return descriptor;
  }
  static std::string read(std::string const& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  std::string out_;
  std::string err_;
  int input_ = -1;
  pid_t child_ = -1;
};

}  // namespace wyrm::tests
