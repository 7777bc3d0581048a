// SPDX-License-Identifier: Apache-2.0
// Tests what signals do to the program: exit status, report, and the files that are left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"
#include "running.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// A triangle 1 2 3 with a tail 3 4 5, and the isolated vertex 6.
constexpr char const* tail = "6 5\n2 3\n1 3\n1 2 4\n3 5\n4\n\n";

/// The row of the first batch, if it inserts one edge, and of the second one.
constexpr char const* first_batch = "\n        1          1          0 ";
constexpr char const* second_batch = "\n        2 ";

strings program(strings arguments) {
  arguments.insert(arguments.begin(), WYRM_PROGRAM_PATH);
  return arguments;
}

// As timeout(1) does, and more often, so that some arrive while the program handles the first. They count as one.
void kill_repeatedly(running_program const& run, int signal) {
  for (int i = 0; i < 100; ++i) {
    run.kill(signal);
    std::this_thread::sleep_for(std::chrono::microseconds(10));
  }
}

// The second batch is incomplete when the signal arrives.
TEST_F(program_test, interrupted_stream_finishes_its_batch_and_reports) {
  std::string const file = write("tail.graph", tail);
  ASSERT_EQ(mkfifo(path("updates").c_str(), 0600), 0);
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (bool const from_file : {false, true}) {
      SCOPED_TRACE(std::to_string(signal) + (from_file ? " from a file" : ""));
      running_program run(program({"stream", file, from_file ? path("updates") : "-", "--check", "--report",
                                   path("report.json"), "--output", path("")}),
                          path(""));
      std::string const updates = "1 6\n\n- 1 2\n- 2";
      int pipe = -1;
      if (from_file) {
        pipe = open(path("updates").c_str(), O_WRONLY | O_CLOEXEC);
        ASSERT_EQ(::write(pipe, updates.data(), updates.size()), static_cast<ssize_t>(updates.size()));
      } else {
        run.send(updates);
      }
      run.wait_for_output(first_batch);
      kill_repeatedly(run, signal);
      outcome const ran = run.wait();
      if (pipe >= 0) close(pipe);
      EXPECT_EQ(ran.status, 130);
      EXPECT_NE(ran.err.find("wyrm: interrupted; finishing the current batch"), std::string::npos) << ran.err;
      EXPECT_EQ(row(ran.out, "edges").substr(0, 1), "5") << "as loaded";
      EXPECT_EQ(ran.out.find(second_batch), std::string::npos) << "the incomplete batch";
      EXPECT_TRUE(row(ran.out, "interrupted").starts_with("yes")) << ran.out;
      report const r(read("report.json"));
      EXPECT_TRUE(r.flag("interrupted"));
      EXPECT_FALSE(r.flag("output_lost"));
      EXPECT_EQ(r.count("updates/batches"), 1u);
      EXPECT_EQ(r.count("updates/graph_edges"), 6u);
      EXPECT_EQ(values<double>("pagerank.txt").size(), 6u);
      EXPECT_EQ(parts(), 0);
      for (std::string const name : {"report.json", "pagerank.txt", "triangles.txt"})
        EXPECT_TRUE(std::filesystem::remove(path(name))) << name;
    }
  }
}

TEST_F(program_test, uninterrupted_stream_says_so) {
  (void)output({"stream", write("tail.graph", tail), "--report", path("report.json")}, "1 6\n");
  EXPECT_FALSE(report(read("report.json")).flag("interrupted"));
}

// The graph file is a pipe that nobody writes to, so the program waits in the middle of its work.
TEST_F(program_test, interrupted_command_leaves_no_files) {
  ASSERT_EQ(mkfifo(path("late.graph").c_str(), 0600), 0);
  std::string const late = path("late.graph");
  std::filesystem::create_directory(path("values"));
  write("report.json", "old");
  auto const parts_in = [&](std::string const& folder) {
    std::filesystem::directory_iterator const files(path(folder));
    return std::count_if(begin(files), end(files), [](auto const& f) { return f.path().extension() == ".part"; });
  };
  for (strings const& arguments : {strings{"run", late, "--report", path("report.json"), "--output", path("values")},
                                   strings{"stream", late, "--report", path("report.json"), "--output", path("values")},
                                   strings{"walk", late, "--walks", path("values/walks")},
                                   strings{"cluster", late, "--labels", path("values/labels")}}) {
    for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
      SCOPED_TRACE(arguments[0] + ", " + std::to_string(signal));
      running_program run(program(arguments), path(""));
      wait_until([&] { return parts_in("values") + parts_in("") == (arguments.size() > 4 ? 3 : 1); }, "files");
      kill_repeatedly(run, signal);
      outcome const ran = run.wait();
      EXPECT_EQ(ran.status, 130);
      EXPECT_EQ(ran.err, "wyrm: interrupted\n");
      EXPECT_EQ(parts_in(""), 0);
      EXPECT_TRUE(std::filesystem::is_empty(path("values")));
      EXPECT_EQ(read("report.json"), "old");
      for (auto const& entry : std::filesystem::directory_iterator(path("values"))) std::filesystem::remove(entry);
    }
  }
}

// Nobody reads the ranks, which are more than a pipe holds, so the program waits after the first signal.
TEST_F(program_test, second_signal_ends_a_stream_at_once) {
  std::string const file = write("large.mtx", matrix_market(20000, {{0, 1}}));
  std::filesystem::create_directory(path("values"));
  ASSERT_EQ(mkfifo(path("values/pagerank.txt").c_str(), 0600), 0);
  int const unread = open(path("values/pagerank.txt").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(unread, 0);
  running_program run(program({"stream", file, "--report", path("report.json"), "--output", path("values")}), path(""));
  run.send("1 6\n\n");
  run.wait_for_output(first_batch);
  run.kill(SIGTERM);
  run.wait_for_output("interrupted");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // else the two count as one
  run.kill(SIGTERM);
  EXPECT_EQ(run.wait().status, 130);
  close(unread);
  EXPECT_FALSE(std::filesystem::exists(path("report.json")));
  EXPECT_EQ(parts(), 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("values")), {}), 1);
}

// A folder has taken the place of a file of values.
TEST_F(program_test, report_says_that_a_file_cannot_get_its_name) {
  std::filesystem::create_directory(path("values"));
  running_program run(
      program({"stream", write("tail.graph", tail), "--report", path("report.json"), "--output", path("values")}),
      path(""));
  run.send("1 6\n\n");
  run.wait_for_output(first_batch);
  std::filesystem::create_directory(path("values/triangles.txt"));
  run.end_input();
  EXPECT_EQ(run.wait().status, 4);
  EXPECT_TRUE(report(read("report.json")).flag("output_lost"));
  EXPECT_EQ(parts(), 0);
}

// As a shell does for programs in the background.
TEST_F(program_test, ignored_signal_stays_ignored) {
  running_program run({"/bin/sh", "-c", "trap '' INT; exec \"$0\" stream \"$1\" --report \"$2\"", WYRM_PROGRAM_PATH,
                       write("tail.graph", tail), path("report.json")},
                      path(""));
  run.send("1 6\n\n");
  run.wait_for_output(first_batch);
  run.kill(SIGINT);
  run.send("1 4\n\n");
  run.wait_for_output(second_batch);
  run.end_input();
  outcome const ran = run.wait();
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_FALSE(report(read("report.json")).flag("interrupted"));
}

}  // namespace

}  // namespace wyrm::tests
