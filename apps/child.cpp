// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"
#include "process.hpp"

namespace wyrm::apps {

namespace {

// A descriptor that is closed at the end of its scope.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  ~descriptor() { close(); }
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  [[nodiscard]] int get() const { return number_; }
  void close() {
    if (int const number = std::exchange(number_, -1); number >= 0) ::close(number);
  }

 private:
  int number_;
};

struct spawn_settings {
  spawn_settings() {
    posix_spawn_file_actions_init(&streams);
    posix_spawnattr_init(&attributes);
    // This program blocks signals, and ignores SIGPIPE; the child does neither. SIGXFSZ stays ignored, so that a file
    // beyond the limit of its size is a failure to write.
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_settings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&streams);
  }
  spawn_settings(spawn_settings const&) = delete;
  spawn_settings& operator=(spawn_settings const&) = delete;

  posix_spawn_file_actions_t streams{};
  posix_spawnattr_t attributes{};
};

[[noreturn]] void fail_to_run(std::string const& program, int reason, std::string const& advice) {
  throw error(error_code::io, "cannot run " + program + ": " + std::generic_category().message(reason) + "; " + advice);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    auto const got = ::read(from, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

child_result run_child(std::vector<std::string> arguments, int input, std::string const& advice) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_to_run(arguments[0], errno, advice);
  descriptor const out(ends[0]);
  descriptor in(ends[1]);
  spawn_settings settings;
  if (input < 0)
    posix_spawn_file_actions_addopen(&settings.streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  else
    posix_spawn_file_actions_adddup2(&settings.streams, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&settings.streams, in.get(), STDOUT_FILENO);
  pid_t child = 0;
  int const failed = posix_spawnp(&child, argv[0], &settings.streams, &settings.attributes, argv.data(), environ);
  if (failed != 0) fail_to_run(arguments[0], failed, advice);
  end_with_program(child);
  in.close();
  child_result result;
  result.output = read_all(out.get());
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  end_with_program(0);  // before its number is free for another process
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail_to_run(arguments[0], errno, advice);
  if (WIFSIGNALED(status)) await_end_after_signal();
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace wyrm::apps
