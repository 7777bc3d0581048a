// SPDX-License-Identifier: Apache-2.0
// Runs the program `wyrm` in a folder of its own, and captures its output and its files. Needs POSIX.
#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../../graph/types.hpp"
#include "report.hpp"

namespace wyrm::tests {

/// A line of triangles.txt.
struct vertex_triangles {
  std::uint64_t triangles = 0;
  double clustering = 0;
  friend bool operator==(vertex_triangles const&, vertex_triangles const&) = default;
  friend std::istream& operator>>(std::istream& in, vertex_triangles& c) { return in >> c.triangles >> c.clustering; }
  friend std::ostream& operator<<(std::ostream& out, vertex_triangles const& c) {
    return out << c.triangles << ' ' << c.clustering;
  }
};

/// The result of a run.
struct outcome {
  int status = 0;  // as in a shell: 128 plus the signal number for a program that a signal ended
  std::string out;
  std::string err;
  long peak_kib = 0;  // the most memory that it had
};

/// Lines of JSON of `wyrm stream` without the times that they took.
[[nodiscard]] inline std::string without_times(std::string const& out) {
  std::istringstream in(out);
  std::string all;
  for (std::string line; std::getline(in, line);) all += line.substr(0, line.find(",\"ms\":")) + '\n';
  return all;
}

/// An unnamed temporary file for a standard stream of the program: input of any length, or captured output.
class stream_file {
 public:
  explicit stream_file(std::string const& text = {}) : file_(std::tmpfile(), &std::fclose) {
    if (!file_ || std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
      throw std::system_error(errno, std::generic_category(), "a temporary file");
    std::rewind(file_.get());
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

/// Starts a program, whose path is the first argument, with these standard streams; -1 closes one. Signals have their
/// default effects, whatever they are in the test.
[[nodiscard]] inline pid_t start(std::vector<std::string> arguments, int in, int out, int err) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  for (auto const& [from, to] : {std::pair{in, STDIN_FILENO}, {out, STDOUT_FILENO}, {err, STDERR_FILENO}}) {
    if (from < 0)
      posix_spawn_file_actions_addclose(&streams, to);
    else
      posix_spawn_file_actions_adddup2(&streams, from, to);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  int const failed = posix_spawn(&child, argv[0], &streams, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&streams);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), argv[0]);
  return child;
}

/// Waits for the end of a program; the result is that of outcome::status. `peak_kib` receives outcome::peak_kib.
[[nodiscard]] inline int wait_for(pid_t child, long* peak_kib = nullptr) {
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "wait4");
  if (peak_kib != nullptr) *peak_kib = used.ru_maxrss;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[nodiscard]] inline outcome run_program(std::vector<std::string> arguments, std::string const& input = {}) {
  arguments.insert(arguments.begin(), WYRM_PROGRAM_PATH);
  stream_file const in(input);
  stream_file const out;
  stream_file const err;
  long peak_kib = 0;
  int const status =
      wait_for(start(std::move(arguments), in.descriptor(), out.descriptor(), err.descriptor()), &peak_kib);
  return {status, out.text(), err.text(), peak_kib};
}

/// Compares triangles and clustering coefficients per vertex with their definitions.
inline void expect_vertex_triangles(std::vector<vertex_triangles> const& got, graph::csr const& rows,
                                    std::vector<std::uint64_t> const& triangles) {
  ASSERT_EQ(got.size(), triangles.size());
  for (std::size_t v = 0; v < got.size(); ++v) {
    auto const degree = static_cast<double>(rows.offsets[v + 1] - rows.offsets[v]);
    EXPECT_EQ(got[v].triangles, triangles[v]) << v;
    EXPECT_DOUBLE_EQ(got[v].clustering,
                     degree < 2 ? 0 : static_cast<double>(triangles[v]) / (degree * (degree - 1) / 2))
        << v;
  }
}

/// The value in the row of a table; fails the test when there is no such row.
[[nodiscard]] inline std::string row(std::string const& table, std::string const& name) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  " + name + "  ")) return line.substr(line.find_first_not_of(' ', 2 + name.size()));
  ADD_FAILURE() << "no row " << name << " in\n" << table;
  return {};
}

/// A fixture with a temporary folder for graph files, and runs of the program on them.
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

  /// A run that must succeed without output on standard error (without a terminal there is no progress bar).
  [[nodiscard]] std::string output(std::vector<std::string> const& arguments, std::string const& input = {}) const {
    outcome const ran = run_program(arguments, input);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out.find_first_of("\r\033"), std::string::npos) << ran.out;
    return ran.out;
  }

  /// The number of incomplete files in the folder.
  [[nodiscard]] std::ptrdiff_t parts() const {
    std::filesystem::directory_iterator const files(path(""));
    return std::count_if(begin(files), end(files), [](auto const& f) { return f.path().extension() == ".part"; });
  }

  /// Runs `wyrm run FILE OPTIONS... --report ...`, which must succeed.
  [[nodiscard]] report run(std::string const& file, std::vector<std::string> const& options = {}) const {
    std::vector<std::string> arguments{"run", file, "--report", path("report.json")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::filesystem::remove(path("report.json"));
    (void)output(arguments);
    EXPECT_EQ(parts(), 0);
    return report(read("report.json"));
  }

  /// The values in a file of --output, without the comment in the first line, for a graph with ids from `first_id`.
  template <class Value>
  [[nodiscard]] std::vector<Value> values(std::string const& name, std::size_t first_id = 1) const {
    std::istringstream text(read(name));
    std::string comment;
    std::getline(text, comment);
    EXPECT_TRUE(comment.starts_with("# id of the vertex, ")) << name;
    std::vector<Value> all;
    std::size_t id = 0;
    for (Value value; text >> id >> value; all.push_back(value)) EXPECT_EQ(id, first_id + all.size()) << name;
    return all;
  }

  /// A run that must fail with this status and message, and must not create or remove files.
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
