// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm run --algorithms`: figures and files of values of each algorithm on small graphs, sources, and the
// algorithms that a direction leaves out. Expected values are literals.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

/// Two triangles with an edge between them, 3 - 4, and an isolated vertex.
constexpr char const* two_triangles = "7 7\n2 3\n1 3\n1 2 4\n3 5 6\n4 6\n4 5\n\n";

TEST_F(program_test, writes_the_values_of_each_algorithm) {
  std::string const file = write("two.graph", two_triangles);
  std::filesystem::create_directory(path("v"));
  report const r = run(file, {"--algorithms", "bfs,sssp,components,core-numbers,scc,spanning-forest,lcc,betweenness",
                              "--rounds", "0", "--source", "1", "--output", path("v")});
  std::string const far = "9223372036854775807";
  EXPECT_EQ(read("v/bfs.txt"), "1 0\n2 1\n3 1\n4 2\n5 3\n6 3\n7 " + far + "\n");
  EXPECT_EQ(read("v/sssp.txt"), "1 0\n2 1\n3 1\n4 2\n5 3\n6 3\n7 Infinity\n");
  EXPECT_EQ(read("v/components.txt"), "1 1\n2 1\n3 1\n4 1\n5 1\n6 1\n7 7\n");
  EXPECT_EQ(read("v/scc.txt"), read("v/components.txt"));
  EXPECT_EQ(read("v/core-numbers.txt"), "1 2\n2 2\n3 2\n4 2\n5 2\n6 2\n7 0\n");
  // Ties are broken by the ends of edges.
  EXPECT_EQ(read("v/spanning-forest.txt"), "1 2 1\n1 3 1\n3 4 1\n4 5 1\n4 6 1\n");
  EXPECT_EQ(read("v/lcc.txt"), "1 1\n2 1\n3 0.3333333333333333\n4 0.3333333333333333\n5 1\n6 1\n7 0\n");
  // 3 is between 1 or 2 and the other triangle: 6 pairs; so is 4.
  EXPECT_EQ(read("v/betweenness.txt"), "1 0\n2 0\n3 6\n4 6\n5 0\n6 0\n7 0\n");
  EXPECT_FALSE(std::filesystem::exists(path("v/pagerank.txt")));
  EXPECT_EQ(r.count("algorithms/bfs/reached"), 6u);
  EXPECT_EQ(r.count("algorithms/bfs/depth"), 3u);
  EXPECT_EQ(r.count("algorithms/bfs/source"), 0u);
  EXPECT_EQ(r.count("algorithms/bfs/source_id"), 1u);
  EXPECT_EQ(r.number("algorithms/sssp/depth"), 3.0);
  EXPECT_EQ(r.count("algorithms/components/count"), 2u);
  EXPECT_EQ(r.count("algorithms/components/largest"), 6u);
  EXPECT_EQ(r.count("algorithms/core-numbers/degeneracy"), 2u);
  EXPECT_EQ(r.number("algorithms/spanning-forest/weight"), 5.0);
  EXPECT_EQ(r.count("algorithms/spanning-forest/trees"), 2u);
  EXPECT_EQ(r.number("algorithms/betweenness/max"), 6.0);
  EXPECT_TRUE(r.at("algorithms/pagerank").IsNull());
  EXPECT_TRUE(r.at("algorithms/bfs/after_updates").IsNull());
}

TEST_F(program_test, uses_weights_in_the_file_on_request) {
  std::string const file =
      write("w.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 5\n3 1 1\n3 2 1.5\n");
  strings const options{"--algorithms", "sssp,spanning-forest", "--rounds", "0", "--source", "1", "--output", path("")};
  auto const with = [&](char const* flag) {
    strings all = options;
    if (*flag != '\0') all.push_back(flag);
    (void)run(file, all);
  };
  with("--weighted");
  EXPECT_EQ(read("sssp.txt"), "1 0\n2 2.5\n3 1\n");
  EXPECT_EQ(read("spanning-forest.txt"), "1 3 1\n2 3 1.5\n");
  with("");
  EXPECT_EQ(read("sssp.txt"), "1 0\n2 1\n3 1\n");
}

TEST_F(program_test, begins_at_the_first_vertex_of_largest_degree) {
  std::string const file = write("two.graph", two_triangles);
  strings const bfs{"run", file, "--rounds", "0", "--algorithms", "bfs"};
  EXPECT_EQ(row(output(bfs), "source"), "vertex 3");
  EXPECT_EQ(run(write("none.graph", "0 0\n"), {"--algorithms", "bfs,sssp"}).count("algorithms/bfs/reached"), 0u);
  strings wrong = bfs;
  wrong.insert(wrong.end(), {"--source", "8"});
  expect_refused(2, "--source: expected a vertex (1 to 7), found \"8\"", wrong);
  expect_refused(2, "--source: no selected algorithm begins at a vertex", {"run", file, "--source", "1"});
  std::string const names =
      write("names.json", R"({"directed": true, "nodes": [{"id": "ann"}, {"id": "bob"}, {"id": "cid"}],
    "links": [{"source": "ann", "target": "bob"}, {"source": "bob", "target": "cid"}]})");
  EXPECT_EQ(row(output({"run", names, "--algorithms", "bfs", "--rounds", "0", "--source", "bob"}), "BFS").substr(0, 9),
            "2 reached");
}

TEST_F(program_test, leaves_out_what_does_not_fit_the_direction) {
  std::string const file = write("arcs.mtx", arcs4);
  strings const all{"run", file, "--algorithms", "all", "--rounds", "1", "--batch", "5", "--report", path("r.json")};
  std::string const table = output(all);
  EXPECT_EQ(row(table, "core numbers"), "not computed: the graph is directed (see --undirected)");
  EXPECT_EQ(row(table, "triangles"), "not computed: the graph is directed (see --undirected)");
  report const r(read("r.json"));
  EXPECT_TRUE(r.at("algorithms/core-numbers").IsNull());
  EXPECT_EQ(r.count("algorithms/components/count"), 1u);
  EXPECT_EQ(r.count("algorithms/scc/count"), 4u);
  EXPECT_EQ(r.count("algorithms/components/after_updates/count"), 1u);
  expect_refused(2, "the algorithm core-numbers is for undirected graphs, and this one is directed; add --undirected",
                 {"run", file, "--algorithms", "bfs,core-numbers"});
  expect_refused(2, "--algorithms", {"run", file, "--algorithms", "bfs,some"});
  expect_refused(2, "--algorithms", {"stream", file, "--algorithms", "bfs"});
  // On an undirected graph all of them have a result, and the help lists all.
  (void)output({"run", file, "--undirected", "--algorithms", "all", "--rounds", "0", "--report", path("u.json")});
  report const u(read("u.json"));
  std::string const help = output({"run", "--help"});
  for (auto const& member : u.at("algorithms").GetObject()) {
    EXPECT_TRUE(member.value.IsObject()) << member.name.GetString();
    EXPECT_NE(help.find(std::string(member.name.GetString()) + ": "), std::string::npos) << member.name.GetString();
  }
  EXPECT_GE(u.at("algorithms").MemberCount(), 15u);
}

}  // namespace

}  // namespace wyrm::tests
