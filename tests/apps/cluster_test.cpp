// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm cluster` as a program: its output, its files, and its errors.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

/// Two triangles with an edge between them, and an isolated vertex.
constexpr char const* triangles = "7 7\n2 3\n1 3\n1 2 4\n3 5 6\n4 6\n4 5\n\n";

TEST_F(program_test, clusters) {
  std::string const file = write("two.graph", triangles);
  std::string const truth = write("truth", "\xef\xbb\xbf# by hand\n7 7\n\n3 5\n2 5\n  # and\n1 5\n4 0\n6 0\n5 0\n\n");
  std::string const table =
      output({"cluster", file, "--labels", path("labels"), "--truth", truth, "--report", path("report.json")});
  EXPECT_EQ(row(table, "clusters"), "3");
  EXPECT_EQ(row(table, "modularity"), "0.357143");  // 6/7 - 1/2
  EXPECT_EQ(row(table, "sizes"), "min 1, median 3, mean 2.33, 99 % 3, max 3");
  EXPECT_EQ(row(table, "classes"), "3");
  EXPECT_EQ(row(table, "NMI"), "1.000000");
  EXPECT_EQ(row(table, "ARI"), "1.000000");
  EXPECT_EQ(read("labels"), "# id of the vertex, cluster\n1 0\n2 0\n3 0\n4 1\n5 1\n6 1\n7 2\n");
  // The labels of one run are valid classes for another run.
  EXPECT_EQ(row(output({"cluster", file, "--truth", path("labels"), "--seed", "9"}), "NMI"), "1.000000");

  report const r(read("report.json"));
  EXPECT_EQ(r.text("command"), "cluster");
  EXPECT_EQ(r.count("graph/vertices"), 7u);
  EXPECT_EQ(r.count("clusters/count"), 3u);
  EXPECT_DOUBLE_EQ(r.number("clusters/modularity"), 6.0 / 7 - 0.5);
  EXPECT_TRUE(r.flag("clusters/converged"));
  EXPECT_EQ(r.counts("clusters/sizes/histogram"), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(r.number("truth/normalized_mutual_information"), 1.0);
  std::map<std::string, std::string> fields;
  add_fields(r.all(), "", fields);
  EXPECT_EQ(fields, documented_cluster_fields());
  (void)output({"cluster", file, "--report", path("report.json")});
  EXPECT_TRUE(report(read("report.json")).at("truth").IsNull());
}

TEST_F(program_test, clusters_by_an_objective) {
  std::string const file = write("two.graph", triangles);
  std::string const table = output({"cluster", file, "--objective", "map-equation", "--report", path("report.json")});
  EXPECT_EQ(row(table, "clusters"), "3");
  EXPECT_EQ(row(table, "codelength"), "2.3207 bits");
  report const r(read("report.json"));
  EXPECT_EQ(r.text("parameters/objective"), "map-equation");
  EXPECT_DOUBLE_EQ(r.number("clusters/quality"), -r.number("clusters/codelength"));
  EXPECT_EQ(row(output({"cluster", file, "--objective", "cpm", "--resolution", "0.5"}), "clusters"), "3");
}

// Two directed rings of three vertices, with an arc in each direction between them: directions count under the map
// equation only.
TEST_F(program_test, clusters_by_directions) {
  std::string const file = write("rings.txt", "0 1\n1 2\n2 0\n3 4\n4 5\n5 3\n2 3\n5 0\n");
  std::string const table = output({"cluster", file, "--objective", "map-equation", "--labels", path("l")});
  EXPECT_EQ(row(table, "edges"), "8 (directed)");
  EXPECT_EQ(row(table, "codelength"), "2.4673 bits");  // of Infomap
  EXPECT_EQ(read("l"), "# id of the vertex, cluster\n0 0\n1 0\n2 0\n3 1\n4 1\n5 1\n");
  EXPECT_EQ(row(output({"cluster", file}), "edges"), "8 (directed; directions do not matter)");
}

// Eight sets of four cliques: there are more edges between cliques of a set than between sets.
TEST_F(program_test, clusters_in_levels) {
  std::string edges;
  auto const join = [&](unsigned u, unsigned v) { edges += std::to_string(u) + " " + std::to_string(v) + "\n"; };
  for (unsigned c = 0; c < 32; ++c) {
    for (unsigned u = 0; u < 5; ++u)
      for (unsigned v = 0; v < u; ++v) join(5 * c + u, 5 * c + v);
    for (unsigned d = c / 4 * 4; d < c; ++d) join(5 * c + d % 5, 5 * d + c % 5);
    if (c % 4 == 0) join(5 * c + 4, (5 * c + 20) % 160);
  }
  std::string const file = write("nested.txt", edges);
  std::string const table = output({"cluster", file, "--undirected", "--objective", "map-equation", "--levels", "5",
                                    "--labels", path("l"), "--report", path("report.json")});
  EXPECT_EQ(row(table, "clusters"), "32");
  EXPECT_EQ(row(table, "clusters of clusters"), "8");
  EXPECT_EQ(read("l").substr(0, 48), "# id of the vertex, cluster at each level\n0 0 0\n");
  EXPECT_NE(read("l").find("\n159 31 7\n"), std::string::npos);
  report const r(read("report.json"));
  EXPECT_EQ(r.counts("clusters/levels"), (std::vector<std::uint64_t>{32, 8}));
  EXPECT_EQ(r.count("parameters/levels"), 5u);
  (void)output({"cluster", file, "--undirected", "--objective", "map-equation", "--report", path("flat.json")});
  EXPECT_GT(report(read("flat.json")).number("clusters/codelength"), r.number("clusters/codelength"));
}

// A ring of four vertices with two heavy edges, one of which consists of arcs in both directions.
TEST_F(program_test, clusters_by_weight) {
  std::string const file =
      write("ring.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 2 9\n2 3 1\n3 4 5\n4 3 5\n4 1 1\n");
  EXPECT_EQ(row(output({"cluster", file, "--weighted", "--labels", path("l")}), "clusters"), "2");
  EXPECT_EQ(read("l").substr(read("l").find('\n') + 1), "1 0\n2 0\n3 1\n4 1\n");
}

TEST_F(program_test, clusters_by_their_options) {
  std::string const file = write("two.graph", triangles);
  std::string const table = output({"cluster", file, "--seed", "5", "--length", "3", "--walks", "7", "--iterations",
                                    "0", "--report", path("report.json")});
  EXPECT_EQ(row(table, "rounds of voting"), "0 (not converged)");
  report const r(read("report.json"));
  EXPECT_EQ(r.count("parameters/seed"), 5u);
  EXPECT_EQ(r.count("parameters/length"), 3u);
  EXPECT_EQ(r.count("parameters/walks"), 7u);
  EXPECT_EQ(r.count("parameters/iterations"), 0u);
  EXPECT_EQ(r.count("clusters/iterations"), 0u);
  EXPECT_FALSE(r.flag("clusters/converged"));
  // Lines of labels may end with CR, and comments may stand anywhere. The index of Hubert and Arabie: 6 pairs of 21 in
  // the clusters, 9 in the classes, 6 in both; by chance 6 * 9 / 21.
  std::string const crlf = write("crlf", "1 1\r\n2\t1\r\n#\r\n 3 1\r\n4 2\r\n# more\n5 2\n6 2\r\n7 2");
  std::string const compared = output({"cluster", file, "--truth", crlf});
  EXPECT_EQ(row(compared, "classes"), "2");
  EXPECT_NEAR(std::stod(row(compared, "ARI")), (6 - 54 / 21.0) / (7.5 - 54 / 21.0), 1e-6);
}

TEST_F(program_test, clusters_of_graphs_without_edges) {
  EXPECT_EQ(row(output({"cluster", write("none.graph", "0 0\n")}), "clusters"), "0");
  EXPECT_EQ(row(output({"cluster", write("isolated.graph", "2 0\n\n\n")}), "modularity"), "0.000000");
}

TEST_F(program_test, cluster_errors) {
  std::string const file = write("two.graph", triangles);
  auto const refused = [&](int status, std::string const& message, std::string const& labels) {
    expect_refused(status, message, {"cluster", file, "--truth", write("truth", labels), "--labels", path("out")});
  };
  refused(
      3,
      "truth:4: the file ends without a label of vertex 3; write a line 'id label' for each of the graph's 7 vertices",
      "1 1\n2 1\n# no more\n4 1\n");
  refused(3, "truth:3: vertex 2 has two labels", "1 1\n2 1\n2 1\n");
  refused(3, "truth:2: expected a vertex (1 to 7), found \"8\"", "1 1\n8 1\n");
  refused(3, "truth:1: expected a vertex (1 to 7), found \"0\"", "0 1\n");
  refused(3, "truth:2: the file ends without a label of vertex 2", "1 1\n\n");
  refused(3, "truth:1: the file ends without a label of vertex 1", "");
  refused(3, "truth:2: expected a line of at most 16 MiB", "1 1\n" + std::string((std::size_t{1} << 24) + 1, '#'));
  refused(3, "truth:1: expected the end of the line, found \"3\"", "1 2 3\n");
  refused(3, "truth:1: \"\" is not a label", "1\n");
  refused(3, "truth:1: \"-1\" is not a label", "1 -1\n");
  refused(3, "truth:1: \"4294967296\" is not a label", "1 4294967296\n");
  expect_refused(4, "nowhere: cannot be read: No such file", {"cluster", file, "--truth", path("nowhere")});
  expect_refused(4, "cannot be read: Is a directory", {"cluster", file, "--truth", path("")});
  expect_refused(4, "cannot write the labels", {"cluster", file, "--labels", path("none/l")});
  expect_refused(2, "has no weights", {"cluster", file, "--weighted"});
  expect_refused(2, "--length", {"cluster", file, "--length", "0"});
}

}  // namespace

}  // namespace wyrm::tests
