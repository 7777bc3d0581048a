// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm run --algorithms`: figures and files of values of each algorithm on small graphs, sources, and the
// algorithms that a direction leaves out. Expected values are literals.
#include <gtest/gtest.h>

#include <cmath>
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
  report const r =
      run(file, {"--algorithms", "bfs,sssp,components,core-numbers,scc,spanning-forest,lcc,betweenness,truss",
                 "--rounds", "0", "--source", "1", "--output", path("v")});
  std::string const far = "9223372036854775807";
  EXPECT_EQ(read("v/bfs.txt"), "1 0\n2 1\n3 1\n4 2\n5 3\n6 3\n7 " + far + "\n");
  EXPECT_EQ(read("v/sssp.txt"), "1 0\n2 1\n3 1\n4 2\n5 3\n6 3\n7 Infinity\n");
  EXPECT_EQ(read("v/components.txt"), "1 1\n2 1\n3 1\n4 1\n5 1\n6 1\n7 7\n");
  EXPECT_EQ(read("v/scc.txt"), read("v/components.txt"));
  EXPECT_EQ(read("v/core-numbers.txt"), "1 2\n2 2\n3 2\n4 2\n5 2\n6 2\n7 0\n");
  // Ties are broken by the ends of edges.
  EXPECT_EQ(read("v/spanning-forest.txt"), "1 2 1\n1 3 1\n3 4 1\n4 5 1\n4 6 1\n");
  EXPECT_EQ(read("v/truss.txt"), "1 2 3\n1 3 3\n2 3 3\n3 4 2\n4 5 3\n4 6 3\n5 6 3\n");
  EXPECT_EQ(r.count("algorithms/truss/largest"), 3u);
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

TEST_F(program_test, a_number_that_is_not_finite_is_null_in_reports) {
  std::string const file =
      write("w.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1e308\n3 1 1e308\n");
  report const r = run(file, {"--algorithms", "spanning-forest", "--rounds", "0", "--weighted"});
  EXPECT_TRUE(r.at("algorithms/spanning-forest/weight").IsNull());
  EXPECT_EQ(r.count("algorithms/spanning-forest/trees"), 1u);
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
  EXPECT_EQ(run(write("none.graph", "0 0\n"), {"--algorithms", "all"}).count("algorithms/bfs/reached"), 0u);
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

/// A star of vertex 1 and four others, with edges of weight 2.
constexpr char const* star = "%%MatrixMarket matrix coordinate real symmetric\n5 5 4\n2 1 2\n3 1 2\n4 1 2\n5 1 2\n";

TEST_F(program_test, finds_hubs_and_authorities) {
  std::string const file = write("in.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 2\n1 3\n2 3\n");
  strings const options{"--algorithms", "hits", "--rounds", "0", "--top", "1", "--output", path("")};
  report const r = run(file, options);
  EXPECT_EQ(read("hits.txt"), "# id of the vertex, hub, authority\n1 0.5 0\n2 0.5 0\n3 0 1\n4 0 0\n");
  EXPECT_EQ(r.count("algorithms/hits/hub_id"), 1u);
  EXPECT_EQ(r.count("algorithms/hits/authority"), 2u);
  EXPECT_EQ(r.count("algorithms/hits/authority_id"), 3u);
  EXPECT_TRUE(r.at("algorithms/hits/converged").GetBool());
  EXPECT_EQ(r.at("algorithms/hits/top").Size(), 1u);
  std::string const table = output({"run", file, "--algorithms", "hits", "--rounds", "0", "--top", "1"});
  EXPECT_TRUE(row(table, "HITS").starts_with("largest hub 1, largest authority 3, ")) << table;
  EXPECT_EQ(row(table, "largest authorities"), "1 at vertex 3");
}

TEST_F(program_test, computes_eigenvector_and_katz_centralities) {
  std::string const file = write("star.mtx", star);
  strings options{"--algorithms", "eigenvector,katz", "--rounds", "0"};
  // The eigenvalue is 2, and the centre has twice the value of the others.
  report const plain = run(file, options);
  EXPECT_NEAR(plain.number("algorithms/eigenvector/max"), std::sqrt(0.5), 1e-8);
  EXPECT_EQ(plain.count("algorithms/eigenvector/argmax_id"), 1u);
  // Katz: centre = 1 + 4 alpha other, other = 1 + alpha centre, with alpha = 0.9 / 4.
  double const centre = 1.9 / 0.7975;
  double const other = 1 + 0.225 * centre;
  double const greatest = centre / std::sqrt(centre * centre + 4 * other * other);
  EXPECT_NEAR(plain.number("algorithms/katz/max"), greatest, 1e-8);
  EXPECT_EQ(plain.count("algorithms/katz/argmax_id"), 1u);
  EXPECT_DOUBLE_EQ(plain.number("algorithms/katz/alpha"), 0.225);
  options.push_back("--weighted");
  report const weighted = run(file, options);
  EXPECT_DOUBLE_EQ(weighted.number("algorithms/katz/alpha"), 0.1125);
  EXPECT_NEAR(weighted.number("algorithms/katz/max"), greatest, 1e-8);
  // Without edges, all terms but the first are 0.
  report const alone = run(write("alone.graph", "4 0\n\n\n\n\n"), {"--algorithms", "katz", "--rounds", "0"});
  EXPECT_EQ(alone.number("algorithms/katz/max"), 0.5);
}

TEST_F(program_test, ranks_vertices_as_seen_from_the_source) {
  // The rank of 2, which has no out-neighbours, returns to the source 1: r1 = 1 - d + d r2, and r2 = d r1.
  std::string const file = write("in.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 2\n");
  report const r = run(
      file, {"--algorithms", "pagerank,personalised-pagerank", "--rounds", "0", "--source", "1", "--output", path("")});
  EXPECT_NEAR(r.number("algorithms/personalised-pagerank/max"), 1 / 1.85, 1e-8);
  EXPECT_EQ(r.count("algorithms/personalised-pagerank/argmax_id"), 1u);
  EXPECT_EQ(r.count("algorithms/personalised-pagerank/source_id"), 1u);
  EXPECT_EQ(r.count("algorithms/pagerank/argmax_id"), 2u);
  std::string const values = read("personalised-pagerank.txt");
  EXPECT_TRUE(values.starts_with("1 0.5405")) << values;
  EXPECT_NE(values.find("\n3 0\n"), std::string::npos) << values;
}

TEST_F(program_test, estimates_betweenness_from_some_sources) {
  std::string const file = write("star.mtx", star);
  auto const run_with = [&](strings const& options) {
    strings all{"--algorithms", "betweenness", "--rounds", "0"};
    all.insert(all.end(), options.begin(), options.end());
    return run(file, all);
  };
  for (strings const& options : {strings{}, {"--sources", "all"}, {"--sources", "5"}, {"--sources", "9"}}) {
    report const r = run_with(options);
    EXPECT_EQ(r.number("algorithms/betweenness/max"), 6.0);
    EXPECT_EQ(r.count("algorithms/betweenness/sources"), 5u);
  }
  // Each of the other vertices has three paths through the centre. Four sources are all of them, or three and the
  // centre; the sum is multiplied by 5 / 4, and a pair counts once.
  std::set<double> found;
  for (char const* const seed : {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"}) {
    report const r = run_with({"--sources", "4", "--seed", seed});
    double const greatest = r.number("algorithms/betweenness/max");
    EXPECT_EQ(r.count("algorithms/betweenness/sources"), 4u);
    found.insert(greatest);
  }
  EXPECT_EQ(found, (std::set{5.625, 7.5}));
  auto const again = [&] { return run_with({"--sources", "4", "--seed", "7"}).number("algorithms/betweenness/max"); };
  EXPECT_EQ(again(), again());
}

TEST_F(program_test, chooses_sources_of_betweenness_by_the_size_of_the_graph) {
  auto const text = [&](std::string const& graph, strings const& options) {
    strings all{"run", graph, "--algorithms", "betweenness", "--rounds", "0"};
    all.insert(all.end(), options.begin(), options.end());
    std::string const line = row(output(all), "betweenness");
    return line.substr(0, line.rfind(", "));
  };
  EXPECT_EQ(text("gen:gnm,n=10000,m=1", {}), "max 0, from all 10,000 vertices");
  EXPECT_EQ(text("gen:gnm,n=10001,m=1", {}), "max 0, from 64 sources");
  EXPECT_EQ(text("gen:gnm,n=10001,m=1", {"--sources", "3"}), "max 0, from 3 sources");
  EXPECT_EQ(text("gen:gnm,n=10001,m=1", {"--sources", "all"}), "max 0, from all 10,001 vertices");
  std::string const file = write("star.mtx", star);
  for (char const* const wrong : {"0", "-1", "some", "1.5", "18446744073709551616"})
    expect_refused(2, std::string("'") + wrong + "' is neither a positive number nor all",
                   {"run", file, "--algorithms", "betweenness", "--sources", wrong});
  expect_refused(2, "--sources: betweenness is not selected; leave it out", {"run", file, "--sources", "3"});
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
  expect_refused(2, "--algorithms", {"stream", file, "--algorithms", "betweenness"});
  // On an undirected graph all of them have a result, and the help lists all.
  (void)output({"run", file, "--undirected", "--algorithms", "all", "--rounds", "0", "--report", path("u.json")});
  report const u(read("u.json"));
  std::string const help = output({"run", "--help"});
  for (auto const& member : u.at("algorithms").GetObject()) {
    EXPECT_TRUE(member.value.IsObject()) << member.name.GetString();
    EXPECT_NE(help.find(std::string(member.name.GetString()) + ": "), std::string::npos) << member.name.GetString();
  }
  EXPECT_GE(u.at("algorithms").MemberCount(), 21u);
}

}  // namespace

}  // namespace wyrm::tests
