// SPDX-License-Identifier: Apache-2.0
// Tests outputs that cannot be written: a full disk, a closed pipe, a limit of the size of files. The command fails,
// and its report, if that can be written, says so. A cache that cannot be written is a warning.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// Standard outputs that fail: a full disk; a pipe that nobody reads; none.
enum class sink { full, pipe, closed };

outcome run_into(sink output, strings arguments) {
  arguments.insert(arguments.begin(), WYRM_PROGRAM_PATH);
  int out = -1;
  int ends[2] = {-1, -1};
  if (output == sink::full) out = open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (output == sink::pipe && pipe2(ends, O_CLOEXEC) == 0) {
    close(ends[0]);
    out = ends[1];
  }
  EXPECT_EQ(out < 0, output == sink::closed);
  stream_file const in;
  stream_file const err;
  int const status = wait_for(start(std::move(arguments), in.descriptor(), out, err.descriptor()));
  if (out >= 0) close(out);
  return {status, {}, err.text()};
}

/// A run with a limit of 16 blocks, of 512 or 1024 bytes depending on the shell, for the size of each file.
outcome run_with_small_files(strings const& arguments) {
  strings all{"/bin/sh", "-c", "ulimit -f 16; exec \"$0\" \"$@\"", WYRM_PROGRAM_PATH};
  all.insert(all.end(), arguments.begin(), arguments.end());
  stream_file const in;
  stream_file const out;
  stream_file const err;
  int const status = wait_for(start(std::move(all), in.descriptor(), out.descriptor(), err.descriptor()));
  return {status, out.text(), err.text()};
}

constexpr char const* no_output = "cannot write to standard output; check the disk, or the program that reads the pipe";

TEST_F(program_test, fails_without_standard_output) {
  std::string const file = write("k5.graph", k5);
  for (sink const output : {sink::full, sink::pipe, sink::closed}) {
    for (strings const& arguments :
         {strings{"--help"}, strings{"--version"}, strings{"run", "--help"}, strings{"info"}, strings{"info", file},
          strings{"run", file}, strings{"stream", file}, strings{"walk", file}, strings{"cluster", file}}) {
      SCOPED_TRACE(arguments[0] + " " + std::to_string(static_cast<int>(output)));
      outcome const ran = run_into(output, arguments);
      EXPECT_EQ(ran.status, 4);
      EXPECT_EQ(ran.err, std::string("wyrm: ") + no_output + '\n');
    }
    EXPECT_EQ(run_into(output, {"convert", file, path("k5.mtx")}).status, 0) << "it prints nothing";
  }
}

TEST_F(program_test, reports_that_standard_output_is_lost) {
  std::string const file = write("k5.graph", k5);
  std::filesystem::create_directory(path("values"));
  for (sink const output : {sink::full, sink::pipe, sink::closed}) {
    for (std::string const command : {"run", "stream", "cluster"}) {
      SCOPED_TRACE(command + " " + std::to_string(static_cast<int>(output)));
      strings arguments{command, file, "--report", path("report.json")};
      if (command == "cluster")
        arguments.insert(arguments.end(), {"--labels", path("values/labels.txt")});
      else
        arguments.insert(arguments.end(), {"--output", path("values")});
      outcome const ran = run_into(output, arguments);
      EXPECT_EQ(ran.status, 4);
      EXPECT_NE(ran.err.find(no_output), std::string::npos) << ran.err;
      report const r(read("report.json"));
      EXPECT_TRUE(r.flag("output_lost"));
      EXPECT_EQ(r.text("command"), command);
      EXPECT_EQ(r.count("graph/edges"), 10u);
      if (command == "cluster") {
        EXPECT_EQ(values<std::uint32_t>("values/labels.txt").size(), 6u);
      } else {
        EXPECT_EQ(values<double>("values/pagerank.txt").size(), 6u);
        EXPECT_EQ(values<vertex_triangles>("values/triangles.txt").size(), 6u);
      }
      EXPECT_EQ(parts(), 0);
      std::filesystem::remove(path("report.json"));
    }
    std::filesystem::remove_all(path("values"));
    std::filesystem::create_directory(path("values"));
  }
  EXPECT_FALSE(run(file).flag("output_lost"));
}

TEST_F(program_test, reports_that_a_file_is_lost) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  std::filesystem::create_directory(path("values"));
  for (strings const& arguments : {strings{"run", file, "--rounds", "0", "--output", path("values")},
                                   strings{"stream", file, "--output", path("values")}}) {
    strings all = arguments;
    all.insert(all.end(), {"--report", path("report.json")});
    outcome const ran = run_with_small_files(all);
    EXPECT_EQ(ran.status, 4) << ran.err;
    EXPECT_NE(ran.err.find("cannot write the ranks " + path("values/pagerank.txt") + ": File too large"),
              std::string::npos)
        << ran.err;
    EXPECT_EQ(row(ran.out, "vertices"), "3,000");
    EXPECT_TRUE(report(read("report.json")).flag("output_lost"));
    EXPECT_TRUE(std::filesystem::is_empty(path("values")));
    EXPECT_EQ(parts(), 0);
    std::filesystem::remove(path("report.json"));
  }
  outcome const ran = run_with_small_files({"convert", file, path("large.mtx")});
  EXPECT_EQ(ran.status, 4);
  EXPECT_NE(ran.err.find("cannot write the graph " + path("large.mtx") + ": File too large"), std::string::npos)
      << ran.err;
  EXPECT_FALSE(std::filesystem::exists(path("large.mtx")));
  EXPECT_EQ(parts(), 0);
}

TEST_F(program_test, reports_that_updates_cannot_be_saved) {
  std::string const file = write("k5.graph", k5);
  for (std::string const updates : {"gen:random,batches=3,batch=100000", "gen:random,batches=1,batch=5000"}) {
    outcome const ran = run_with_small_files(
        {"stream", file, updates, "--print", "json", "--save", path("saved"), "--report", path("report.json")});
    EXPECT_EQ(ran.status, 4) << ran.err;
    EXPECT_NE(ran.err.find("cannot write the updates " + path("saved") + ": File too large"), std::string::npos)
        << ran.err;
    report const r(read("report.json"));
    EXPECT_EQ("wyrm: " + r.text("error") + '\n', ran.err);
    EXPECT_EQ(r.count("updates/batches"), static_cast<std::uint64_t>(std::ranges::count(ran.out, '\n')));
    EXPECT_FALSE(std::filesystem::exists(path("saved")));
    EXPECT_EQ(parts(), 0);
    std::filesystem::remove(path("report.json"));
  }
}

TEST_F(program_test, goes_on_without_a_cache) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  outcome const ran = run_with_small_files({"run", file, "--rounds", "0", "--cache", "--report", path("report.json")});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.err.starts_with("wyrm: warning: " + file + ": the graph is loaded, but not its cache kept: "))
      << ran.err;
  EXPECT_NE(ran.err.find(file + ".wyrm: File too large"), std::string::npos) << ran.err;
  EXPECT_EQ(report(read("report.json")).count("graph/edges"), 5998u);
  EXPECT_FALSE(std::filesystem::exists(file + ".wyrm"));
  EXPECT_EQ(parts(), 0);

  // A file that `convert` has written is no cache.
  (void)output({"convert", write("k5.graph", k5), file + ".wyrm"});
  std::string const converted = read("wheel.mtx.wyrm");
  outcome const left = run_program({"info", file, "--cache"});
  EXPECT_EQ(left.status, 0);
  EXPECT_EQ(row(left.out, "vertices"), "3000");
  EXPECT_NE(left.err.find("another file has this name"), std::string::npos) << left.err;
  EXPECT_EQ(read("wheel.mtx.wyrm"), converted);
  outcome const below_file = run_program({"info", file, "--cache-dir", file});
  EXPECT_EQ(below_file.status, 0);
  EXPECT_NE(below_file.err.find(": Not a directory"), std::string::npos) << below_file.err;

  std::filesystem::create_directory(path("caches"));
  EXPECT_EQ(row(output({"info", file, "--cache-dir", path("caches")}), "vertices"), "3000");
  std::filesystem::directory_iterator const caches(path("caches"));
  ASSERT_EQ(std::distance(begin(caches), end(caches)), 1);
  std::string const cache = std::filesystem::directory_iterator(path("caches"))->path().string();
  EXPECT_EQ(row(output({"info", cache}), "edges"), "5998 (undirected)");
  expect_refused(2, "are the same file", {"run", file, "--cache-dir", path("caches"), "--report", cache});
}

}  // namespace

}  // namespace wyrm::tests
