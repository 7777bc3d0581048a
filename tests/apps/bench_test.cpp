// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm bench`: its output, its reports and its errors; validations that fail.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;

std::size_t occurrences(std::string const& text, std::string const& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST_F(program_test, runs_the_kernels_of_gap) {
  for (std::string const& file : {write("arcs.mtx", arcs4), write("k5.graph", k5)}) {
    std::string const out = output({"bench", "gap", file, "--trials", "2", "--report", path("r.json")});
    EXPECT_EQ(occurrences(out, "Trial Time:  "), 12u) << out;
    EXPECT_EQ(occurrences(out, "Verification:           PASS\n"), 12u) << out;
    EXPECT_EQ(occurrences(out, "Average Time:  "), 6u);
    report const r(read("r.json"));
    EXPECT_EQ(r.text("command"), "bench gap");
    EXPECT_TRUE(r.flag("graph/drawn_weights"));
    std::map<std::string, std::size_t> const sources{{"bfs", 1}, {"sssp", 1}, {"pr", 0},
                                                     {"cc", 0},  {"bc", 4},   {"tc", 0}};
    ASSERT_EQ(r.at("kernels").Size(), sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      std::string const kernel = "kernels/" + std::to_string(i) + '/';
      EXPECT_EQ(r.at(kernel + "trials").Size(), 2u);
      EXPECT_EQ(r.at(kernel + "trials/1/sources").Size(), sources.at(r.text(kernel + "name")));
      EXPECT_TRUE(r.flag(kernel + "trials/1/passed"));
      double const first = r.number(kernel + "trials/0/seconds");
      EXPECT_DOUBLE_EQ(r.number(kernel + "average_seconds"), (first + r.number(kernel + "trials/1/seconds")) / 2);
    }
  }
}

TEST_F(program_test, follows_the_rules_of_gap) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  std::string const out = output({"bench", "gap", file, "--kernels", "pr,tc,bfs", "--no-verify"});
  EXPECT_NE(out.find("Graph has 3000 nodes and 5998 undirected edges for degree: 3\n"), std::string::npos) << out;
  EXPECT_EQ(occurrences(out, "Trial Time:"), 64u + 16 + 3);
  EXPECT_EQ(occurrences(out, "Verification"), 0u);
  // The same seed draws the same sources, and weights of the file are used.
  auto const sources = [&](strings options) {
    options.insert(options.begin(),
                   {"bench", "gap", file, "--kernels", "sssp", "--trials", "5", "--report", path("r")});
    (void)output(options);
    report const r(read("r"));
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 5; ++i) all.push_back(r.count("kernels/0/trials/" + std::to_string(i) + "/sources/0/vertex"));
    EXPECT_EQ(r.flag("graph/drawn_weights"), options.back() != "9");
    return all;
  };
  EXPECT_EQ(sources({}), sources({}));
  EXPECT_NE(sources({}), sources({"--seed", "2"}));
  EXPECT_EQ(sources({}), sources({"--random-weights", "1", "9"}));
}

TEST_F(program_test, runs_the_kernels_of_gap_on_a_churned_graph) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  for (strings weights : {strings{}, strings{"--random-weights", "1", "9"}}) {
    strings command{"bench", "gap", file, "--churned", "--trials", "1", "--report", path("r")};
    command.insert(command.end(), weights.begin(), weights.end());
    std::string const out = output(command);
    EXPECT_NE(out.find("Graph has 3000 nodes and 5998 undirected edges for degree: 3\n"), std::string::npos) << out;
    EXPECT_EQ(occurrences(out, "Verification:           PASS\n"), 6u) << out;
    report const r(read("r"));
    EXPECT_TRUE(r.flag("parameters/churned"));
    for (char const* const count : {"graph/churn_erased", "graph/churn_inserted"})
      EXPECT_EQ(r.count(count), 2 * 5998u) << count;  // of two graphs
  }
}

TEST_F(program_test, refuses_graphs_and_kernels_that_gap_does_not_have) {
  expect_refused(2, "has no edges; the kernels need a vertex with neighbours",
                 {"bench", "gap", write("one.graph", "1 0\n\n"), "--report", path("r")});
  expect_refused(2, "--kernels", {"bench", "gap", write("k5.graph", k5), "--kernels", "bfs,some"});
  expect_refused(2, "are the same file", {"bench", "gap", path("k5.graph"), "--report", path("k5.graph")});
  expect_refused(2, "A subcommand is required", {"bench"});
}

/// A graph of Graphalytics: 1 - 2 - 3, and 5, which is isolated; its reference output is by hand.
class graphalytics_test : public program_test {
 protected:
  graphalytics_test() {
    write("p.v", "1\n2\n3\n5\n");
    write("p.e", "1 2 0.5\n2 3 0.25\n");
    write("p.properties", properties);
    write("p-BFS", "1 0\n2 1\n3 2\n5 9223372036854775807\n");
    write("p-CDLP", "1 1\n2 2\n3 1\n5 5\n");
    write("p-LCC", "1 0.0\n2 0.0\n3 0.0\n5 0.0\n");
    // One iteration from 1/4 each: 0.15 / 4, the share of vertex 5, and 0.85 times what neighbours send.
    write("p-PR", "1 1.96875e-01\n2 5.15625e-01\n3 1.96875e-01\n5 9.0625e-02\n");
    write("p-SSSP", "1 0.0\n2 5.0e-01\n3 7.5e-01\n5 Infinity\n");
    write("p-WCC", "1 2\n2 2\n3 2\n5 77\n");
  }
  static constexpr char const* properties =
      "# a path\n\ngraph.p.vertex-file = p.v\ngraph.p.meta.vertices = 4\ngraph.p.meta.edges: 2\n"
      "graph.p.directed = false\ngraph.p.algorithms = bfs, CDLP,lcc, pr, sssp, wcc\n"
      "graph.p.bfs.source-vertex = 1\ngraph.p.cdlp.max-iterations = 2\ngraph.p.pr.damping-factor = 0.85\n"
      "graph.p.pr.num-iterations = 1\ngraph.p.sssp.weight-property = weight\ngraph.p.sssp.source-vertex = 1\n";
  void expect_invalid(std::string const& name, std::string const& reference, std::string const& message) const {
    std::string const right = read(name);
    write(name, reference);
    outcome const ran = run_program({"bench", "graphalytics", path(""), "--report", path("r.json")});
    EXPECT_EQ(ran.status, 7) << ran.err;
    EXPECT_NE(ran.out.find("INVALID: " + path(name) + message), std::string::npos) << ran.out;
    EXPECT_EQ(occurrences(ran.out, "EVPS  valid\n"), 5u);
    EXPECT_EQ(occurrences(read("r.json"), "\"valid\": false"), 1u);
    write(name, right);
  }
};

TEST_F(graphalytics_test, validates_all_algorithms) {
  std::string const out = output({"bench", "graphalytics", path(""), "--trials", "3", "--report", path("r.json")});
  EXPECT_NE(out.find("p: 4 vertices, 2 edges (undirected)\n"), std::string::npos) << out;
  EXPECT_EQ(occurrences(out, "EVPS  valid\n"), 6u) << out;
  report const r(read("r.json"));
  EXPECT_EQ(r.at("graphs/0/algorithms").Size(), 6u);
  EXPECT_EQ(r.at("graphs/0/algorithms/1/seconds").Size(), 3u);
  EXPECT_EQ(r.text("graphs/0/algorithms/1/name"), "cdlp");
  EXPECT_NEAR(r.number("graphs/0/algorithms/1/evps") * r.number("graphs/0/algorithms/1/average_seconds"), 6, 1e-9);
  std::filesystem::remove(path("p-LCC"));
  EXPECT_EQ(occurrences(output({"bench", "graphalytics", path("")}), "EVPS  no reference output\n"), 1u);
}

TEST_F(graphalytics_test, finds_wrong_values) {
  expect_invalid("p-BFS", "1 0\n2 1\n3 1\n5 9223372036854775807\n", ":3: expected 1 at vertex 3, computed 2");
  expect_invalid("p-CDLP", "1 1\n2 2\n3 3\n5 5\n", ":3: expected 3 at vertex 3, computed 1");
  expect_invalid("p-SSSP", "1 0\n2 0.5\n3 0.7501\n5 Infinity\n", ":3: expected 0.7501 at vertex 3, computed 0.75");
  expect_invalid("p-SSSP", "1 0\n2 0.5\n3 0.75\n5 9\n", ":4: expected 9 at vertex 5, computed inf");
  expect_invalid("p-SSSP", "1 0\n2 Infinity\n3 0.75\n5 Infinity\n", ":2: expected Infinity at vertex 2");
  expect_invalid("p-PR", "1 0.1968\n2 0.5\n3 0.1\n5 0.09\n", ":1: expected 0.1968 at vertex 1");
  expect_invalid("p-WCC", "1 2\n2 2\n3 3\n5 77\n", ":3: expected 3 at vertex 3");
  expect_invalid("p-WCC", "1 2\n2 2\n3 2\n5 2\n", ":4: expected 2 at vertex 5");
  expect_invalid("p-LCC", "1 0\n2 0\n", ": has values of 2 of 4 vertices");
  // Within one part in ten thousand.
  write("p-SSSP", "1 0\n2 0.5\n3 0.75007\n5 Infinity\n");
  (void)output({"bench", "graphalytics", path("")});
}

TEST_F(graphalytics_test, refuses_properties_that_contradict) {
  auto const refused = [&](int status, std::string const& message, std::string const& text) {
    write("p.properties", text);
    expect_refused(status, message, {"bench", "graphalytics", path(""), "--report", path("none/../r.json")});
  };
  std::filesystem::create_directory(path("none"));
  std::string const all = properties;
  auto const with = [&](std::string const& from, std::string const& to) {
    std::string text = all;
    return text.replace(text.find(from), from.size(), to);
  };
  refused(3, "p.properties: meta.vertices is 5, and the graph has 4", with("vertices = 4", "vertices = 5"));
  refused(3, "p.properties: meta.edges is 1, and the graph has 2", with("edges: 2", "edges: 1"));
  for (std::string const wrong : {"1", "-0.1", "nan"})
    refused(3, "expected a number from 0 to below 1 in pr.damping-factor, found \"" + wrong + '"',
            with("damping-factor = 0.85", "damping-factor = " + wrong));
  refused(3, "there is no algorithm \"prs\"; known are", with("lcc, pr,", "lcc, prs,"));
  refused(3, "expected a vertex (4 ids from 1 to 5) in bfs.source-vertex, found \"4\"",
          with("bfs.source-vertex = 1", "bfs.source-vertex = 4"));
  refused(3, "there is no property cdlp.max-iterations; add it", with("cdlp.max", "cdlp.some"));
  refused(3, "expected a number in pr.num-iterations, found \"x\"", with("num-iterations = 1", "num-iterations = x"));
  refused(3, "p.properties:1: expected KEY = VALUE, found \"some\"", "some\n");
  expect_refused(4, "has no file NAME.properties", {"bench", "graphalytics", path("none")});
  expect_refused(4, "cannot be read: No such file", {"bench", "graphalytics", path("nowhere")});
  write("p.properties", all);
  write("p-BFS", "1 0\n1 0\n");
  expect_refused(3, "p-BFS:2: expected a vertex that has no value yet", {"bench", "graphalytics", path("")});
}

// The examples of Graphalytics' own validation.
TEST_F(program_test, agrees_with_the_examples_of_graphalytics) {
  auto const* const data = std::getenv("WYRM_DATA");
  if (data == nullptr || !std::filesystem::exists(std::filesystem::path(data) / "graphalytics"))
    GTEST_SKIP() << "WYRM_DATA names no folder with graphalytics";
  for (auto const& entry : std::filesystem::directory_iterator(std::filesystem::path(data) / "graphalytics"))
    std::filesystem::copy(entry, path(entry.path().filename().string()));
  for (std::string const name : {"example-directed", "example-undirected"}) {
    bool const directed = name == "example-directed";
    std::string const source = directed ? "1" : "2";
    std::string const key = "graph." + name + '.';
    write(name + ".properties", key + "directed = " + (directed ? "true\n" : "false\n") + key +
                                    "algorithms = bfs, cdlp, lcc, pr, sssp, wcc\n" + key +
                                    "bfs.source-vertex = " + source + "\n" + key + "cdlp.max-iterations = 2\n" + key +
                                    "pr.damping-factor = 0.85\n" + key + "pr.num-iterations = 2\n" + key +
                                    "sssp.source-vertex = " + source + "\n");
  }
  EXPECT_EQ(occurrences(output({"bench", "graphalytics", path("")}), "EVPS  valid\n"), 12u);
}

}  // namespace

}  // namespace wyrm::tests
