// SPDX-License-Identifier: Apache-2.0
// Tests the program `wyrm` as a whole: its command line, help, table, and errors with their exit codes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "../../exec/device.hpp"
#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

TEST_F(program_test, prints_a_table) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  std::string const table = output({"run", file, "--batch", "1000", "--rounds", "2"});
  EXPECT_TRUE(table.starts_with(file + " on ")) << table;
  EXPECT_EQ(row(table, "vertices"), "3,000");
  EXPECT_EQ(row(table, "edges"), "5,998 (undirected)");
  EXPECT_EQ(row(table, "arcs"), "11,996");
  EXPECT_EQ(row(table, "degrees"), "min 3, median 3, mean 4.00, 99 % 3, max 2999; 0 of degree 0");
  EXPECT_NE(row(table, "insert").find("2 batches; 2,000 edges in "), std::string::npos);
  EXPECT_EQ(row(table, "graph restored"), "yes, bit for bit");
  EXPECT_TRUE(row(table, "triangles").starts_with("2,999, ")) << table;
  EXPECT_TRUE(row(table, "PageRank").starts_with("max 0.22")) << table;
  EXPECT_NE(row(table, "PageRank").find(" at vertex 1, "), std::string::npos);

  std::string const sparse = output(
      {"run", write("sparse.mtx", matrix_market(1234567, {{0, 99}})), "--rounds", "0", "--algorithms", "triangles"});
  EXPECT_EQ(row(sparse, "vertices"), "1,234,567");
  EXPECT_EQ(row(sparse, "edges"), "1 (undirected)");
  EXPECT_NE(row(sparse, "degrees").find("; 1,234,565 of degree 0"), std::string::npos);
  EXPECT_EQ(sparse.find("PageRank"), std::string::npos);
}

TEST_F(program_test, describes_itself) {
  EXPECT_TRUE(output({"--version"}).starts_with("wyrm "));
  std::string const help = output({"--help"});
  for (std::string const part : {"run", "stream", "generate", "info", "convert", "Exit codes: 0 done;"})
    EXPECT_NE(help.find(part), std::string::npos) << part;
  strings const both{"FILE",
                     "--device",
                     "--allocator",
                     "--directed",
                     "--undirected",
                     "--batch",
                     "--algorithms",
                     "--tolerance",
                     "--check",
                     "--top",
                     "--output",
                     "--report",
                     "--ids",
                     "--format",
                     "--third-column",
                     "--vertex-base",
                     "--unpacked-limit",
                     "--max-vertices",
                     "--map",
                     "--memory",
                     "--pool-limit",
                     "--cache",
                     "--remove-self-loops",
                     "--remove-duplicates",
                     "--random-weights",
                     "--weight-seed",
                     "--load-threads"};
  std::string const run_help = output({"run", "--help"});
  for (std::string const part : {"--updates", "--rounds", "--seed"})
    EXPECT_NE(run_help.find(part), std::string::npos) << part;
  std::string const stream_help = output({"stream", "--help"});
  EXPECT_NE(stream_help.find("UPDATES"), std::string::npos);
  for (std::string const& part : both) {
    EXPECT_NE(run_help.find(part), std::string::npos) << part;
    EXPECT_NE(stream_help.find(part), std::string::npos) << part;
  }
}

TEST_F(program_test, refuses_a_wrong_command_line) {
  std::string const file = write("k5.graph", k5);
  auto const refused = [&](std::string const& message, strings const& options) {
    strings arguments{"run", file, "--report", path("none.json")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_refused(2, message, arguments);
  };
  refused("--batch", {"--batch", "0"});
  refused("--batch", {"--batch", "-5"});
  refused("--batch", {"--batch", "1000000001"});
  refused("--rounds", {"--rounds", "1000001"});
  refused("--rounds", {"--rounds", "some"});
  refused("--batch", {"--batch", "010"});
  refused("--seed", {"--seed", "-1"});
  for (std::string const bad : {"0", "-1", "nan", "inf", "some"}) refused("--tolerance", {"--tolerance", bad});
  refused("--updates", {"--updates", "sorted"});
  refused("painting", {"--algorithms", "pagerank,painting"});
  refused("ouroboros-s-p", {"--allocator", "best"});
  for (std::string const bad : {"tpu", "cpu:0", "cuda:", "cuda:x", "cuda:0x", "cuda:-1", "cuda:99999999999"})
    refused("there is no device '" + bad + "'; there are: auto, cpu, cuda, cuda:N", {"--device", bad});
  refused("--fast", {"--fast"});
  refused("more", {"more"});
  expect_refused(2, "FILE", {"run"});
  expect_refused(2, "There is no subcommand 'wander'", {"wander", file});
  expect_refused(2, "subcommand", {});
}

TEST_F(program_test, refuses_unusable_files) {
  auto const refused = [&](int status, std::string const& message, std::string const& file) {
    expect_refused(status, message, {"run", file, "--report", path("none.json")});
    expect_refused(status, message, {"info", file});
  };
  refused(4, path("missing.graph") + ": cannot be opened: No such file or directory", path("missing.graph"));
  refused(4, "Is a directory", path(""));
  std::string const lines = write("lines.graph", "3 2\n2\n1 3\n");
  refused(3, lines + ":4: expected the line of vertex 3 of 3", lines);
  std::string const ids = write("ids.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n1 4\n");
  refused(3, ids + ":4: expected a column (1 to 3), found \"4\"", ids);
  std::string const words = write("words.dat", "0 1\n1 2\n");
  refused(2, words + ": the format is not known; known are METIS", words);
}

TEST_F(program_test, reports_lost_output) {
  std::string const command = std::string(WYRM_PROGRAM_PATH) + " info >/dev/full 2>" + path("err");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 4);
  EXPECT_NE(read("err").find("cannot write to standard output"), std::string::npos);
}

TEST_F(program_test, reports_any_file_name_as_utf_8) {
  report const r = run(write("k5\xff\xc3\xa9\xc3.graph", k5), {"--rounds", "0"});
  EXPECT_EQ(r.text("parameters/file"), path("k5\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd.graph"));
}

TEST_F(program_test, refuses_a_missing_gpu) {
  if (!std::holds_alternative<exec::host_space>(exec::make_space("auto"))) GTEST_SKIP() << "this machine has a GPU";
  std::string const file = write("k5.graph", k5);
  for (std::string const device : {"cuda", "cuda:0", "cuda:1"})
    expect_refused(6, "CUDA", {"run", file, "--device", device, "--report", path("none.json")});
  EXPECT_TRUE(run(file, {"--rounds", "0"}).text("device").starts_with("cpu"));
}

}  // namespace

}  // namespace wyrm::tests
