// SPDX-License-Identifier: Apache-2.0
// Tests the files that the program writes: converted graphs, reports, and which files they never replace.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

TEST_F(program_test, converts_between_formats) {
  std::string const k5_file = write("k5.graph", k5);
  for (std::string const name : {"k5.mtx", "k5.wyrm", "again.graph"}) {
    EXPECT_EQ(output({"convert", k5_file, path(name)}), "");
    report const r = run(path(name), {"--rounds", "0"});
    expect_graph(r, false, 6, 10, 20);
  }
  EXPECT_EQ(read("again.graph"), k5);
  EXPECT_EQ(output({"convert", "--remove-self-loops", "--undirected", "--remove-duplicates", "--vertex-base", "1",
                    write("loops.txt", "1 2 7\n2 2 8\n2 1 9\n4 1 5\n"), path("loops.mtx")}),
            "");
  EXPECT_EQ(read("loops.mtx"), "%%MatrixMarket matrix coordinate real symmetric\n4 4 2\n2 1 7\n4 1 5\n");
  EXPECT_EQ(output({"convert", path("loops.txt"), path("timed.txt"), "--third-column", "time", "--format", "edges"}),
            "");
  EXPECT_EQ(read("timed.txt"), "1\t2\t7\n2\t2\t8\n2\t1\t9\n4\t1\t5\n") << "ids and times are unchanged";
  EXPECT_EQ(output({"convert", k5_file, path("drawn.wyrm"), "--random-weights", "2", "2", "--weight-seed", "9",
                    "--cache", "--load-threads", "1", "--unpacked-limit", "1000"}),
            "");
  EXPECT_TRUE(std::filesystem::exists(path("k5.graph.wyrm")));
  EXPECT_EQ(row(output({"info", path("drawn.wyrm")}), "weights"), "yes");
  EXPECT_EQ(output({"convert", path("drawn.wyrm"), path("drawn.mtx"), "--directed"}), "");
  EXPECT_TRUE(read("drawn.mtx").starts_with("%%MatrixMarket matrix coordinate real general\n6 6 20\n1 2 2\n"));

  for (std::string const bad : {"k5.json", "out.gr.gz", "out.csv", "out"})
    expect_refused(2, "not written; written are .mtx", {"convert", path("missing.graph"), path(bad)});
  expect_refused(2, "vertices without edges, such as 6", {"convert", k5_file, path("k5.txt")});
  expect_refused(3, "expected the banner", {"convert", "--format", "mtx", k5_file, path("none.mtx")});
  expect_refused(4, "cannot write the graph", {"convert", k5_file, path("no/k5.mtx")});
  expect_refused(2, "--weight-seed", {"convert", k5_file, path("none.mtx"), "--weight-seed", "3"});
  expect_refused(2, "--vertex-base", {"convert", k5_file, path("none.mtx"), "--vertex-base", "-1"});
  expect_refused(2, "two numbers, the smaller one first",
                 {"convert", k5_file, path("none.mtx"), "--random-weights", "3", "2"});
  expect_refused(2, "OUT", {"convert", k5_file});
}

TEST_F(program_test, writes_a_report_completely_or_not_at_all) {
  std::string const file = write("k5.graph", k5);
  auto const refused = [&](std::string const& message, std::string const& target) {
    expect_refused(4, "cannot write the report " + target + ": " + message,
                   {"run", file, "--rounds", "0", "--report", target});
  };
  refused("No such file or directory", path("no/report.json"));
  std::filesystem::create_directory(path("taken"));
  refused("Is a directory", path("taken"));

  write("old.json", "old");
  expect_refused(2, "triangles",
                 {"run", file, "--directed", "--algorithms", "triangles", "--report", path("old.json")});
  EXPECT_EQ(read("old.json"), "old") << "a failed run has changed an earlier report";
  (void)output({"run", file, "--rounds", "0", "--report", path("old.json")});
  EXPECT_EQ(report(read("old.json")).count("graph/edges"), 10u);

  write("target.json", "old");
  std::filesystem::create_symlink(path("target.json"), path("link.json"));
  (void)output({"run", file, "--rounds", "0", "--report", path("link.json")});
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
  EXPECT_EQ(report(read("target.json")).count("graph/edges"), 10u);
  EXPECT_EQ(parts(), 0);
}

// The graph file does not exist: the paths are compared before any work.
TEST_F(program_test, refuses_equal_output_files) {
  std::string const x = path("x");
  std::string const missing = path("missing.graph");
  auto const refused = [&](strings const& arguments) { expect_refused(2, "are the same file", arguments); };
  refused({"cluster", missing, "--labels", x, "--report", x});
  refused({"cluster", missing, "--labels", x, "--report", path("./x")});
  std::filesystem::create_directory(path("values"));
  refused({"cluster", missing, "--labels", x, "--report", path("values/../x")});
  write("first", "old");
  std::filesystem::create_hard_link(path("first"), path("second"));
  refused({"cluster", missing, "--labels", path("first"), "--report", path("second")});
  std::filesystem::create_symlink("x", path("link"));
  refused({"cluster", missing, "--labels", path("link"), "--report", x});
  for (std::string const command : {"run", "stream"})
    for (std::string const name : {"pagerank.txt", "triangles.txt"})
      refused({command, missing, "--output", path("values"), "--report", path("values/./" + name)});
  std::filesystem::create_symlink("pagerank.txt", path("values/triangles.txt"));
  refused({"run", missing, "--output", path("values")});
  refused({"run", missing, "--cache", "--report", missing + ".wyrm"});
  std::string const k5_file = write("k5.graph", k5);
  (void)output({"cluster", k5_file, "--labels", "/dev/null", "--report", "/dev/null"});
  EXPECT_EQ(read("first"), "old");
}

TEST_F(program_test, refuses_to_overwrite_its_input) {
  std::string const file = write("k5.graph", k5);
  std::string const text = write("text.txt", "0 1\n");
  auto const refused = [&](strings const& arguments) { expect_refused(2, "are the same file", arguments); };
  refused({"convert", file, file});
  refused({"convert", file, path("./k5.graph")});
  std::filesystem::create_hard_link(file, path("hard.graph"));
  refused({"convert", file, path("hard.graph")});
  refused({"run", file, "--report", file});
  refused({"stream", file, text, "--report", text});
  std::string const from_stdin = std::string(WYRM_PROGRAM_PATH) + " stream " + file + " --report " + text + " <" + text;
  EXPECT_EQ(WEXITSTATUS(std::system((from_stdin + " 2>" + path("err")).c_str())), 2);
  EXPECT_EQ(read("text.txt"), "0 1\n");
  refused({"walk", file, "--walks", file});
  refused({"cluster", file, "--labels", file});
  refused({"cluster", file, "--truth", text, "--labels", text});
  write("g.v", "0\n1\n");
  write("g.e", "0 1\n");
  refused({"run", path("g.v"), "--report", path("g.e")});
  write("u.V", "0\n1\n");
  write("u.E", "0 1\n");
  write("u.properties", "graph.u.directed = false\n");
  refused({"run", path("u.V"), "--report", path("u.E")});
  EXPECT_EQ(row(output({"info", path("u.E")}), "edges"), "1 (undirected)");
  EXPECT_EQ(read("k5.graph"), k5);
}

TEST_F(program_test, writes_to_standard_output_by_name) {
  std::string const file = write("ring.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
  strings const arguments{"walk", file, "--steps", "2", "--starts", "1", "--walks", "/dev/stdout"};
  std::string const redirected = output(arguments);
  EXPECT_EQ(row(redirected, "walks"), "1");
  EXPECT_TRUE(redirected.ends_with("included)\n1 2 1\n")) << redirected;
  std::string command = WYRM_PROGRAM_PATH;
  for (std::string const& argument : arguments) command += " " + argument;
  ASSERT_EQ(std::system((command + " | cat > " + path("piped")).c_str()), 0);
  EXPECT_TRUE(read("piped").ends_with("included)\n1 2 1\n")) << read("piped");
}

}  // namespace

}  // namespace wyrm::tests
