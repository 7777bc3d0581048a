// SPDX-License-Identifier: Apache-2.0
// Tests the values of vertices that the program computes, prints and writes to files, also by weights. Expected values
// are literals, closed forms, and those of the serial verifiers.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../support/verify.hpp"
#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;
using counts = std::vector<std::uint64_t>;

// Vertex 0 distributes three quarters of its rank to 1 and a quarter to 2; these have only vertex 0 as neighbour, also
// in the undirected graph: x0 = b + d (x1 + x2), x1 = b + 3/4 d x0, x2 = b + 1/4 d x0. For a repeated edge the first
// weight counts.
TEST_F(program_test, ranks_by_weight) {
  std::string const file = write("weights.mtx",
                                 "%%MatrixMarket matrix coordinate real general\n"
                                 "3 3 6\n1 2 3\n1 3 1\n2 1 5\n3 1 0.5\n1 2 100\n2 2 9\n");
  double const b = 0.05;
  double const hub = b * 2.7 / (1 - 0.85 * 0.85);
  std::filesystem::create_directory(path("values"));
  for (std::string const as : {"--load-threads=1", "--remove-duplicates", "--undirected"}) {
    SCOPED_TRACE(as);
    report const r = run(
        file, {"--weighted", as, "--batch", "4", "--rounds", "1", "--tolerance", "1e-13", "--output", path("values")});
    EXPECT_TRUE(r.flag("parameters/weighted"));
    EXPECT_NEAR(r.number("algorithms/pagerank/max"), hub, 1e-12);
    EXPECT_EQ(r.number("algorithms/pagerank/after_updates/max"), r.number("algorithms/pagerank/max"));
    std::vector<double> const rank = values<double>("values/pagerank.txt");
    EXPECT_NEAR(rank.at(1), b + 0.85 * 0.75 * hub, 1e-12);
    EXPECT_NEAR(rank.at(2), b + 0.85 * 0.25 * hub, 1e-12);
  }
  EXPECT_NE(row(output({"run", file, "--weighted"}), "PageRank").find("weighted, "), std::string::npos);
  report const unweighted = run(file, {"--undirected", "--output", path("values")});
  EXPECT_FALSE(unweighted.flag("parameters/weighted"));
  EXPECT_EQ(values<double>("values/pagerank.txt").at(1), values<double>("values/pagerank.txt").at(2));

  expect_refused(2, "has no weights; leave out --weighted", {"run", write("k5.graph", k5), "--weighted"});
  expect_refused(3, "the weight -2 of the arc 2 -> 1 is negative: correct it",
                 {"run", write("negative.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 -2\n"),
                  "--weighted"});
}

// Weights of any size. Only ratios count, so all of these give the ranks of the test above.
TEST_F(program_test, uses_weights_of_any_scale) {
  std::string const banner = "%%MatrixMarket matrix coordinate real general\n";
  double const hub = 0.05 * 2.7 / (1 - 0.85 * 0.85);
  std::filesystem::create_directory(path("values"));
  for (std::string const weights :
       {"1 2 3e-60\n1 3 1e-60\n2 1 1e-60\n3 1 2e-60\n", "1 2 1.5e308\n1 3 0.5e308\n2 1 1e308\n3 1 1.7e308\n",
        "1 2 3e-320\n1 3 1e-320\n2 1 1e-315\n3 1 1e-310\n", "1 2 3e-40\n1 3 1e-40\n2 1 5\n3 1 7e34\n",
        "1 2 3e38\n1 3 1e38\n2 1 4e38\n3 1 1e-37\n", "1 2 3e-40\n1 3 1e-40\n2 1 1e40\n3 1 1e-300\n"}) {
    SCOPED_TRACE(weights);
    std::string const file = write("scaled.mtx", banner + "3 3 4\n" + weights);
    (void)run(file, {"--weighted", "--tolerance", "1e-13", "--output", path("values")});
    std::vector<double> const rank = values<double>("values/pagerank.txt");
    EXPECT_NEAR(rank.at(0), hub, 1e-12);
    EXPECT_NEAR(rank.at(1), 0.05 + 0.85 * 0.75 * hub, 2e-6);  // 3e-320 has four digits
    EXPECT_EQ(row(output({"walk", file, "--weighted", "--steps", "4"}), "steps"), "12");
    EXPECT_EQ(output({"cluster", file, "--weighted"}).find("nan"), std::string::npos);
  }
  expect_refused(3, "the weight -1e-60 of the arc 10 -> 30 is negative",
                 {"walk", write("negative.txt", "10 20 1\n10 30 -1e-60\n"), "--weighted"});
}

// A wheel with an additional edge between rim vertices 1 and 3, which adds the triangles 1 2 3 and 0 1 3. Ranks and
// triangles are compared with the serial verifiers.
TEST_F(program_test, reports_values_of_each_vertex) {
  edge_set edges = wheel();
  edges.insert({1, 3});
  graph::csr const rows = rows_of(wheel_size, false, edges);
  std::vector<double> const rank = serial_pagerank(rows, 0.85);
  counts const triangles = serial_triangles(rows);
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, edges));
  std::filesystem::create_directory(path("values"));
  for (std::string const rounds : {"0", "2"}) {
    report const r = run(
        file, {"--batch", "100", "--rounds", rounds, "--tolerance", "1e-12", "--top", "4", "--output", path("values")});
    EXPECT_EQ(r.count("parameters/top"), 4u);
    expect_vertex_triangles(values<vertex_triangles>("values/triangles.txt"), rows, triangles);
    std::vector<double> const got = values<double>("values/pagerank.txt");
    ASSERT_EQ(got.size(), wheel_size);
    for (std::size_t v = 0; v < got.size(); ++v) ASSERT_NEAR(got[v], rank[v], 1e-12) << v;

    for (std::string const when : {"", "/after_updates"}) {
      if (rounds == "0" && !when.empty()) continue;
      SCOPED_TRACE(rounds + when);
      auto const top = [&](std::string const& algorithm, std::string const& place) {
        return "algorithms/" + algorithm + when + "/top/" + place;
      };
      // 1 and 3 are in four triangles, 2 in three: 0 1 2, 0 2 3, 1 2 3; all others on the rim in two.
      counts const most{wheel_size, 4, 4, 3};
      for (std::size_t i = 0; i < 4; ++i) {
        std::string const at = std::to_string(i);
        EXPECT_EQ(r.count(top("triangles", at + "/triangles")), most[i]);
        EXPECT_EQ(r.number(top("pagerank", at + "/rank")), got[r.count(top("pagerank", at + "/vertex"))])
            << "numbers in files must read back as the same value";
      }
      for (auto const& [place, vertex] : std::map<std::string, std::uint64_t>{{"0", 0}, {"1", 1}, {"2", 3}, {"3", 2}})
        EXPECT_EQ(r.count(top("triangles", place + "/vertex")), vertex);
      EXPECT_EQ(r.count(top("pagerank", "0/vertex")), 0u);
      std::set<std::uint64_t> const next{r.count(top("pagerank", "1/vertex")), r.count(top("pagerank", "2/vertex"))};
      EXPECT_EQ(next, (std::set<std::uint64_t>{1, 3}));
      EXPECT_EQ(r.at("algorithms/pagerank" + when + "/top").Size(), 4u);
      // The hub has m (m - 1) / 2 pairs, the rim 3 each, but 6 at 1 and 3.
      double const pairs = wheel_m * (wheel_m - 1) / 2 + 3 * (wheel_m - 2) + 12;
      EXPECT_NEAR(r.number("algorithms/triangles" + when + "/global_clustering"), 3 * 3001 / pairs, 1e-12);
      double const local = wheel_size / (wheel_m * (wheel_m - 1) / 2) + 4 / 6.0 * 2 + 1 + (wheel_m - 3) * 2 / 3;
      EXPECT_NEAR(r.number("algorithms/triangles" + when + "/average_clustering"), local / wheel_size, 1e-12);
    }
  }
}

TEST_F(program_test, writes_files_of_values) {
  std::string const file = write("k5.graph", k5);
  write("triangles.txt", "old");
  write("pagerank.txt", "old");
  std::string const table = output({"run", file, "--rounds", "0", "--top", "9", "--output", path("")});
  EXPECT_EQ(read("triangles.txt"),
            "# id of the vertex, triangles, local clustering coefficient\n1 6 1\n2 6 1\n3 6 1\n4 6 1\n5 6 1\n6 0 0\n");
  EXPECT_TRUE(row(table, "clustering").starts_with("average 0.83333333")) << table;
  EXPECT_NE(row(table, "clustering").find(", global 1"), std::string::npos);
  EXPECT_TRUE(row(table, "largest ranks").ends_with(" at vertex 1")) << table;
  EXPECT_EQ(row(table, "most triangles"), "6 at vertex 1");
  EXPECT_NE(table.find("\n                         0 at vertex 6\n"), std::string::npos)
      << "there are 6 vertices, not 9";

  std::filesystem::create_directory(path("ranks"));
  (void)output({"run", file, "--rounds", "0", "--algorithms", "pagerank", "--output", path("ranks")});
  EXPECT_EQ(values<double>("ranks/pagerank.txt").size(), 6u);
  EXPECT_FALSE(std::filesystem::exists(path("ranks/triangles.txt")));
  std::filesystem::create_directory(path("arcs"));
  (void)output({"run", write("arcs.mtx", arcs4), "--output", path("arcs")});
  EXPECT_EQ(values<double>("arcs/pagerank.txt").size(), 4u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("arcs")), {}), 1);

  (void)output({"run", write("none.graph", "0 0\n"), "--top", "3", "--output", path("arcs")});
  EXPECT_EQ(values<double>("arcs/pagerank.txt").size(), 0u);
  EXPECT_EQ(values<vertex_triangles>("arcs/triangles.txt").size(), 0u);
}

TEST_F(program_test, writes_files_of_values_completely_or_not_at_all) {
  std::string const file = write("k5.graph", k5);
  for (std::string const command : {"run", "stream"}) {
    auto const refused = [&](int status, std::string const& message, strings arguments) {
      arguments.insert(arguments.begin(), command);
      expect_refused(status, message, arguments);
    };
    // Errors appear before any work, even if the graph file does not exist.
    refused(4, "there is no such folder; create it first", {path("missing.graph"), "--output", path("none")});
    refused(4, "there is no such folder; create it first", {path("missing.graph"), "--output", file});
    std::filesystem::create_directories(path("taken/triangles.txt"));
    refused(4, "cannot write the triangles " + path("taken/triangles.txt") + ": Is a directory",
            {path("missing.graph"), "--output", path("taken")});
    write("pagerank.txt", "old");
    refused(2, "triangles", {file, "--directed", "--algorithms", "pagerank,triangles", "--output", path("")});
    EXPECT_EQ(read("pagerank.txt"), "old");
    for (std::string const bad : {"-1", "some", "1000000001"}) refused(2, "--top", {file, "--top", bad});
  }
}

}  // namespace

}  // namespace wyrm::tests
