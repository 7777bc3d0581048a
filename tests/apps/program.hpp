// SPDX-License-Identifier: Apache-2.0
// Runs the program `wyrm` as a user would, in a folder of its own, and takes what it prints and leaves. POSIX.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "report.hpp"

namespace wyrm::tests {

/// What a run left behind.
struct outcome {
  int status = 0;  // as a shell says it: 128 and the signal's number for a program that a signal ended
  std::string out;
  std::string err;
};

/// An unnamed file that takes an output stream of the program, of any length.
class captured_stream {
 public:
  captured_stream() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) throw std::system_error(errno, std::generic_category(), "a temporary file");
  }
  [[nodiscard]] int descriptor() const { return fileno(file_.get()); }
  [[nodiscard]] std::string text() const {
    std::string text;
    std::rewind(file_.get());
    for (int c = std::fgetc(file_.get()); c != EOF; c = std::fgetc(file_.get())) text += static_cast<char>(c);
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

[[nodiscard]] inline outcome run_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), WYRM_PROGRAM_PATH);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  captured_stream const out;
  captured_stream const err;
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&streams, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, err.descriptor(), STDERR_FILENO);
  pid_t child = 0;
  int const failed = posix_spawn(&child, argv[0], &streams, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), argv[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.text(), err.text()};
}

/// A folder that is gone after the test, with graph files in it, and runs of the program on them.
class program_test : public testing::Test {
 protected:
  program_test() {
    std::string name = (std::filesystem::temp_directory_path() / "wyrm_program_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    folder_ = name;
  }
  ~program_test() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(std::string const& name) const { return (folder_ / name).string(); }
  std::string write(std::string const& name, std::string const& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  [[nodiscard]] std::string read(std::string const& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  /// A run that must go well and be silent on standard error: no progress bar where no terminal is.
  [[nodiscard]] std::string output(std::vector<std::string> const& arguments) const {
    outcome const ran = run_program(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out.find_first_of("\r\033"), std::string::npos) << ran.out;
    return ran.out;
  }

  /// `wyrm run FILE OPTIONS... --report ...`, which must go well.
  [[nodiscard]] report run(std::string const& file, std::vector<std::string> const& options = {}) const {
    std::vector<std::string> arguments{"run", file, "--report", path("report.json")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::filesystem::remove(path("report.json"));
    (void)output(arguments);
    EXPECT_FALSE(std::filesystem::exists(path("report.json.part")));
    return report(read("report.json"));
  }

  /// A run that must fail, say why, and leave no file behind.
  void expect_refused(int status, std::string const& message, std::vector<std::string> const& arguments) const {
    std::set<std::filesystem::path> const before = files();
    outcome const ran = run_program(arguments);
    EXPECT_EQ(ran.status, status) << message;
    EXPECT_NE(ran.err.find(message), std::string::npos) << "not \"" << message << "\" but:\n" << ran.err;
    EXPECT_EQ(files(), before) << message;
  }

 private:
  [[nodiscard]] std::set<std::filesystem::path> files() const {
    std::set<std::filesystem::path> found;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder_)) found.insert(entry.path());
    return found;
  }
  std::filesystem::path folder_;
};

}  // namespace wyrm::tests
