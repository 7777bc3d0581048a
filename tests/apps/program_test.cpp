// SPDX-License-Identifier: Apache-2.0
// Tests the program `wyrm`: command line, table, JSON report, exit codes and files. Expected values are literals,
// closed forms, a model of the updates (graphs.hpp), and reference values of real graphs.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "../../datasets/updates.hpp"
#include "../../exec/device.hpp"
#include "../support/truth.hpp"
#include "../support/verify.hpp"
#include "graphs.hpp"
#include "program.hpp"
#include "report.hpp"

namespace wyrm::tests {

namespace {

using strings = std::vector<std::string>;
using counts = std::vector<std::uint64_t>;

strings allocators_in(std::string const& info) {
  std::istringstream lines(info);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("allocators:")) continue;
  std::istringstream names(line.substr(line.find(':') + 1));
  return {std::istream_iterator<std::string>(names), {}};
}

void expect_pagerank(report const& r, double max, std::uint64_t argmax, double l2, double error) {
  for (std::string const when : {"algorithms/pagerank/", "algorithms/pagerank/after_updates/"}) {
    SCOPED_TRACE(when);
    EXPECT_NEAR(r.number(when + "max"), max, error);
    EXPECT_EQ(r.count(when + "argmax"), argmax);
    EXPECT_NEAR(r.number(when + "l2"), l2, error);
    EXPECT_NEAR(r.number(when + "sum"), 1.0, 1e-12);
    EXPECT_TRUE(r.flag(when + "converged"));
    EXPECT_EQ(r.number(when + "max"), r.number("algorithms/pagerank/max"));
  }
}

void expect_triangles(report const& r, std::uint64_t total) {
  EXPECT_EQ(r.count("algorithms/triangles/total"), total);
  EXPECT_EQ(r.count("algorithms/triangles/after_updates/total"), total);
}

void expect_graph(report const& r, bool directed, std::uint64_t vertices, std::uint64_t edges, std::uint64_t arcs) {
  EXPECT_EQ(r.flag("graph/directed"), directed);
  EXPECT_EQ(r.count("graph/vertices"), vertices);
  EXPECT_EQ(r.count("graph/edges"), edges);
  EXPECT_EQ(r.count("graph/arcs"), arcs);
}

void expect_degrees(report const& r, counts const& min_median_p99_max_zero, double mean, counts const& histogram) {
  counts got;
  for (std::string const name : {"min", "median", "p99", "max", "zero"})
    got.push_back(r.count("graph/degrees/" + name));
  EXPECT_EQ(got, min_median_p99_max_zero);
  EXPECT_DOUBLE_EQ(r.number("graph/degrees/mean"), mean);
  EXPECT_EQ(r.counts("graph/degrees/histogram"), histogram);
}

TEST_F(program_test, reports_a_small_undirected_graph) {
  report const r =
      run(write("k5.graph", k5), {"--batch", "100", "--rounds", "3", "--tolerance", "1e-13", "--top", "2"});
  std::map<std::string, std::string> fields;
  add_fields(r.all(), "", fields);
  EXPECT_EQ(fields, documented_fields("run"));
  EXPECT_EQ(r.count("schema_version"), 2u);
  EXPECT_EQ(r.text("command"), "run");
  EXPECT_EQ(r.text("parameters/file"), path("k5.graph"));
  EXPECT_EQ(r.number("parameters/tolerance"), 1e-13);

  expect_graph(r, false, 6, 10, 20);
  EXPECT_EQ(r.count("graph/duplicates_dropped"), 0u);
  EXPECT_EQ(r.count("graph/self_loops_dropped"), 0u);
  expect_degrees(r, {0, 4, 4, 4, 1}, 20 / 6.0, {1, 0, 0, 5});
  EXPECT_EQ(r.count("memory/built/neighbours"), 20u * 4);
  EXPECT_EQ(r.count("memory/after_updates/neighbours"), 20u * 4);

  // Only the five edges of vertex 5 are new; 300 random edges of this seed contain all of them.
  EXPECT_EQ(r.counts("updates/insert/batch_edges"), (counts{100, 100, 100}));
  EXPECT_EQ(r.count("updates/insert/batches"), 3u);
  EXPECT_EQ(r.count("updates/insert/edges"), 300u);
  EXPECT_EQ(r.count("updates/insert/inserted"), 5u);
  EXPECT_EQ(r.count("updates/insert/duplicates"), 295u);
  EXPECT_EQ(r.count("updates/erase/batches"), 3u);
  EXPECT_EQ(r.count("updates/erase/erased"), 5u);
  EXPECT_TRUE(r.flag("updates/restored"));
  expect_triangles(r, 10);
  expect_pagerank(r, k5_rank, 0, k5_l2, 1e-12);
}

TEST_F(program_test, uses_the_direction_of_the_file) {
  report const r = run(write("arcs.mtx", arcs4), {"--batch", "100", "--rounds", "1"});
  expect_graph(r, true, 4, 4, 4);
  expect_degrees(r, {0, 1, 2, 2, 1}, 1.0, {1, 2, 1});
  double const b = 1 / 6.91125;
  expect_pagerank(r, 3.48625 * b, 2, b * std::sqrt(2 + 1.425 * 1.425 + 3.48625 * 3.48625), 1e-8);
  EXPECT_EQ(r.count("updates/insert/inserted"), 8u) << "there are twelve possible arcs, and the graph has four of them";
  EXPECT_EQ(r.count("updates/erase/erased"), 8u);
  EXPECT_TRUE(r.at("algorithms/triangles").IsNull());
}

TEST_F(program_test, changes_the_direction_on_request) {
  std::string const arcs = write("arcs.mtx", arcs4);
  report const undirected = run(arcs, {"--undirected", "--batch", "100", "--rounds", "1"});
  expect_graph(undirected, false, 4, 4, 8);
  expect_triangles(undirected, 1);
  EXPECT_EQ(undirected.text("parameters/direction"), "undirected");

  report const directed = run(write("k5.graph", k5), {"--directed", "--batch", "100", "--rounds", "1"});
  expect_graph(directed, true, 6, 20, 20);
  EXPECT_TRUE(directed.at("algorithms/triangles").IsNull());
  expect_pagerank(directed, k5_rank, 0, k5_l2, 1e-8);

  expect_refused(2, "--undirected", {"run", arcs, "--algorithms", "triangles", "--report", path("none.json")});
  expect_refused(2, "excludes", {"run", arcs, "--directed", "--undirected", "--report", path("none.json")});
}

TEST_F(program_test, drops_repeats_and_self_loops) {
  std::string const file = write("repeats.mtx",
                                 "%%MatrixMarket matrix coordinate integer general\n"
                                 "1200 1200 6\n1 2 5\n1 2 5\n3 3 1\n2 3 4\n4 1 2\n1 4 2\n");
  report const r = run(file, {"--undirected", "--rounds", "0"});
  expect_graph(r, false, 1200, 3, 6);
  EXPECT_EQ(r.count("graph/duplicates_dropped"), 2u);
  EXPECT_EQ(r.count("graph/self_loops_dropped"), 1u);

  std::string const table = output({"info", file});
  EXPECT_EQ(row(table, "vertices"), "1200");
  EXPECT_EQ(row(table, "edges"), "4 (directed)");
  EXPECT_EQ(row(table, "weights"), "yes");
  EXPECT_EQ(row(table, "duplicates"), "1");
  EXPECT_EQ(row(table, "self-loops"), "1");
  EXPECT_EQ(row(table, "degrees"), "min 0, median 0, mean 0.00, 99 % 0, max 2; 1,197 of degree 0");
}

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
  expect_refused(2, "--weighted", {"stream", file, "--weighted"});
}

// Weights that single precision cannot hold. Only ratios count, so all of these give the ranks of the test above.
TEST_F(program_test, uses_weights_of_any_scale) {
  std::string const banner = "%%MatrixMarket matrix coordinate real general\n";
  double const hub = 0.05 * 2.7 / (1 - 0.85 * 0.85);
  std::filesystem::create_directory(path("values"));
  for (std::string const weights :
       {"1 2 3e-60\n1 3 1e-60\n2 1 1e-60\n3 1 2e-60\n", "1 2 1.5e308\n1 3 0.5e308\n2 1 1e308\n3 1 1.7e308\n",
        "1 2 3e-320\n1 3 1e-320\n2 1 1e-315\n3 1 1e-310\n", "1 2 3e-40\n1 3 1e-40\n2 1 5\n3 1 7e34\n",
        "1 2 3e38\n1 3 1e38\n2 1 4e38\n3 1 1e-37\n"}) {
    SCOPED_TRACE(weights);
    std::string const file = write("scaled.mtx", banner + "3 3 4\n" + weights);
    (void)run(file, {"--weighted", "--tolerance", "1e-13", "--output", path("values")});
    std::vector<double> const rank = values<double>("values/pagerank.txt");
    EXPECT_NEAR(rank.at(0), hub, 1e-12);
    EXPECT_NEAR(rank.at(1), 0.05 + 0.85 * 0.75 * hub, 2e-6);  // 3e-320 has four digits
    EXPECT_EQ(row(output({"walk", file, "--weighted", "--steps", "4"}), "steps"), "12");
    EXPECT_EQ(output({"cluster", file, "--weighted"}).find("nan"), std::string::npos);
  }
  expect_refused(3, "the weight 1e-40 of the arc 1 -> 3 is less than the largest, 1e+40, divided by 7e75",
                 {"run", write("wide.mtx", banner + "3 3 3\n1 2 3\n1 3 1e-40\n2 1 1e40\n"), "--weighted"});
  expect_refused(3, "the weight -1e-60 of the arc 10 -> 30 is negative",
                 {"walk", write("negative.txt", "10 20 1\n10 30 -1e-60\n"), "--weighted"});
}

// All allocators that the program lists, with both kinds of updates, have the same graph, counts and results.
TEST_F(program_test, has_equal_results_with_every_allocator) {
  std::string const file = write("wheel.mtx", matrix_market(wheel_size, wheel()));
  strings const names = allocators_in(output({"info"}));
  ASSERT_TRUE(std::find(names.begin(), names.end(), "ouroboros-s-p") != names.end());
  ASSERT_GE(names.size(), 2u);
  double l2 = 0;
  for (auto const kind : {datasets::update_kind::random, datasets::update_kind::pressure}) {
    std::string const kind_name = kind == datasets::update_kind::random ? "random" : "pressure";
    std::vector<std::vector<graph::edge>> batches;
    for (std::uint64_t const seed : {11u, 12u, 13u})
      batches.push_back(datasets::update_batch(kind, wheel_size, 10000, seed));
    update_model const want(wheel(), batches);
    ASSERT_GT(std::min({want.insert_duplicates, want.missing, want.erase_duplicates}), 0u);
    ASSERT_EQ(want.inserted, want.erased);
    for (std::string const& name : names) {
      SCOPED_TRACE(name + ", " + kind_name);
      report const r = run(file, {"--allocator", name, "--updates", kind_name, "--batch", "10000", "--rounds", "3",
                                  "--seed", "11", "--check"});
      EXPECT_EQ(r.text("parameters/allocator"), name);
      EXPECT_EQ(r.text("parameters/updates"), kind_name);
      expect_graph(r, false, wheel_size, 5998, 11996);
      expect_degrees(r, {3, 3, 3, 2999, 0}, 11996 / 3000.0, {0, 0, 2999, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
      EXPECT_EQ(r.count("updates/insert/edges"), 30000u);
      EXPECT_EQ(r.count("updates/insert/inserted"), want.inserted);
      EXPECT_EQ(r.count("updates/insert/duplicates"), want.insert_duplicates);
      EXPECT_EQ(r.count("updates/erase/edges"), want.erase_requested);
      EXPECT_EQ(r.count("updates/erase/erased"), want.erased);
      EXPECT_EQ(r.count("updates/erase/missing"), want.missing);
      EXPECT_EQ(r.count("updates/erase/duplicates"), want.erase_duplicates);
      expect_triangles(r, 2999);
      expect_pagerank(r, wheel_hub, 0, std::sqrt(wheel_hub * wheel_hub + wheel_m * wheel_rim * wheel_rim), 1e-8);
      if (l2 == 0) l2 = r.number("algorithms/pagerank/l2");
      EXPECT_EQ(r.number("algorithms/pagerank/l2"), l2);
    }
  }
}

TEST_F(program_test, omits_results_that_were_not_requested) {
  std::string const file = write("k5.graph", k5);
  report const still = run(file, {"--rounds", "0"});
  EXPECT_EQ(still.count("updates/insert/batches"), 0u);
  EXPECT_EQ(still.count("updates/erase/batches"), 0u);
  EXPECT_TRUE(still.flag("updates/restored"));
  EXPECT_TRUE(still.at("algorithms/pagerank/after_updates").IsNull());
  EXPECT_TRUE(still.at("algorithms/triangles/after_updates").IsNull());
  EXPECT_EQ(still.count("algorithms/triangles/total"), 10u);
  EXPECT_TRUE(still.at("algorithms/triangles/average_clustering").IsNull());
  EXPECT_TRUE(still.at("algorithms/triangles/global_clustering").IsNull());
  EXPECT_EQ(still.at("algorithms/triangles/top").Size(), 0u);
  EXPECT_EQ(still.at("algorithms/pagerank/top").Size(), 0u);

  report const one = run(file, {"--batch", "10", "--rounds", "1", "--algorithms", "triangles"});
  EXPECT_TRUE(one.at("algorithms/pagerank").IsNull());
  expect_triangles(one, 10);
  EXPECT_EQ(one.text("parameters/algorithms/0"), "triangles");

  // The file name may follow the list.
  (void)output({"run", "--algorithms", "pagerank,triangles", file, "--rounds", "0"});
  report const both = run(file, {"--batch", "10", "--rounds", "1", "--algorithms", "pagerank,triangles"});
  expect_triangles(both, 10);
  expect_pagerank(both, k5_rank, 0, k5_l2, 1e-8);
}

TEST_F(program_test, accepts_graphs_too_small_for_updates) {
  report const none = run(write("none.graph", "0 0\n"), {"--check"});
  expect_graph(none, false, 0, 0, 0);
  expect_degrees(none, {0, 0, 0, 0, 0}, 0.0, {});
  EXPECT_EQ(none.number("algorithms/pagerank/sum"), 0.0);
  EXPECT_TRUE(none.flag("algorithms/pagerank/converged"));
  EXPECT_EQ(none.count("algorithms/triangles/total"), 0u);

  report const one = run(write("one.graph", "1 0\n\n"), {"--check"});
  expect_graph(one, false, 1, 0, 0);
  expect_degrees(one, {0, 0, 0, 0, 1}, 0.0, {1});
  EXPECT_DOUBLE_EQ(one.number("algorithms/pagerank/max"), 1.0);
  for (report const* const r : {&none, &one}) {
    EXPECT_EQ(r->count("updates/insert/batches"), 0u);
    EXPECT_TRUE(r->at("algorithms/pagerank/after_updates").IsNull());
  }
  EXPECT_EQ(row(output({"run", path("one.graph")}), "updates"), "none: they need two vertices");
}

// With weights, walks only go around the ring, because the other arc has weight 0. Without weights they use that arc,
// too.
TEST_F(program_test, walks) {
  std::string const file =
      write("ring.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 2.5\n2 3 1\n3 1 1\n1 3 0\n");
  std::string const table =
      output({"walk", file, "--weighted", "--steps", "4", "--starts", "1,3", "--walks", path("w")});
  EXPECT_EQ(row(table, "walks"), "2");
  EXPECT_EQ(row(table, "steps"), "8");
  EXPECT_EQ(read("w"), "1 2 3 1 2\n3 1 2 3 1\n");
  EXPECT_EQ(row(output({"walk", file, "--steps", "50", "--per-vertex", "20", "--walks", path("w")}), "steps"), "3000");
  EXPECT_NE(read("w").find("1 3"), std::string::npos);
  EXPECT_EQ(row(output({"walk", file, "--steps", "0"}), "steps"), "0");

  expect_refused(2, "--starts: expected a vertex (1 to 3), found \"4\"", {"walk", file, "--starts", "4"});
  expect_refused(2, "p and q must be", {"walk", file, "-p", "0"});
  expect_refused(2, "has no weights", {"walk", write("plain.graph", "2 1\n2\n1\n"), "--weighted"});
  expect_refused(4, "cannot write the walks", {"walk", file, "--walks", path("none/w")});
}

// Each option changes the walks: on a ring a walk goes on, or returns at once, depending on p and q.
TEST_F(program_test, walks_by_their_options) {
  std::string const file = write("ring.graph", "6 6\n2 6\n1 3\n2 4\n3 5\n4 6\n1 5\n");
  auto const walks = [&](strings options) {
    options.insert(options.begin(), {"walk", file, "--walks", path("w")});
    (void)output(options);
    std::istringstream lines(read("w"));
    std::vector<std::vector<int>> all;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      all.emplace_back(std::istream_iterator<int>(words), std::istream_iterator<int>());
    }
    return all;
  };
  for (bool const returns : {false, true}) {
    auto const all =
        walks({"-p", returns ? "0.01" : "100", "-q", returns ? "100" : "0.01", "--steps", "8", "--per-vertex", "2"});
    ASSERT_EQ(all.size(), 12u);
    std::size_t same = 0;
    for (auto const& walk : all) {
      ASSERT_EQ(walk.size(), 9u);
      for (std::size_t i = 2; i < 9; ++i) same += walk[i] == walk[i - 2] ? 1u : 0u;
    }
    EXPECT_EQ(same, returns ? 84u : 0u) << "an exception has a probability of 0.01 % each";
  }
  EXPECT_EQ(walks({"--restart", "1", "--steps", "3", "--starts", "4"}), (std::vector<std::vector<int>>{{4, 4, 4, 4}}));
  EXPECT_NE(walks({"--seed", "2"}), walks({"--seed", "3"}));
  EXPECT_EQ(walks({"--seed", "3"}), walks({"--seed", "3"}));
  EXPECT_EQ(walks({}).front().size(), 81u);
  std::size_t vertices = 0;
  for (auto const& walk : walks({"--stop", "0.5", "--steps", "4294967295", "--per-vertex", "500"}))
    vertices += walk.size();
  EXPECT_NEAR(static_cast<double>(vertices), 6000, 6 * std::sqrt(3000 * 2)) << "a walk has two vertices on average";
}

// Two sides of k vertices: u is a neighbour of the first u + 1 vertices of the other side. So each degree from 1 to k
// occurs twice.
TEST_F(program_test, describes_degrees) {
  auto const degrees = [&](graph::vertex_id k, std::size_t isolated) {
    edge_set edges;
    for (graph::vertex_id u = 0; u < k; ++u)
      for (graph::vertex_id v = 0; v <= u; ++v) edges.insert({u, k + v});
    std::string const file = write("half.mtx", matrix_market(2 * std::size_t{k} + isolated, edges));
    return run(file, {"--rounds", "0", "--algorithms", "triangles"});
  };
  // Of 101 sorted degrees 0, 1, 1, 2, 2 ... one is above the 99 % value; of 99, none; of 201, two.
  expect_degrees(degrees(50, 1), {0, 25, 50, 50, 1}, 2550 / 101.0, {1, 2, 4, 8, 16, 32, 38});
  expect_degrees(degrees(49, 1), {0, 25, 49, 49, 1}, 2450 / 99.0, {1, 2, 4, 8, 16, 32, 36});
  expect_degrees(degrees(100, 1), {0, 50, 99, 100, 1}, 10100 / 201.0, {1, 2, 4, 8, 16, 32, 64, 74});
  expect_degrees(degrees(50, 0), {1, 26, 50, 50, 0}, 2550 / 100.0, {0, 2, 4, 8, 16, 32, 38});
  expect_degrees(degrees(1, 1), {0, 1, 1, 1, 1}, 2 / 3.0, {1, 2});
  // A star of n vertices: only the centre has more than one neighbour, and of 100 sorted degrees it is above the 99 %
  // value; of 99 it is that value.
  auto const star = [&](graph::vertex_id n) {
    edge_set edges;
    for (graph::vertex_id v = 1; v < n; ++v) edges.insert({0, v});
    return run(write("star.mtx", matrix_market(n, edges)), {"--rounds", "0", "--algorithms", "triangles"});
  };
  expect_degrees(star(99), {1, 1, 98, 98, 0}, 196 / 99.0, {0, 98, 0, 0, 0, 0, 0, 1});
  expect_degrees(star(100), {1, 1, 1, 99, 0}, 198 / 100.0, {0, 99, 0, 0, 0, 0, 0, 1});
  expect_degrees(star(101), {1, 1, 1, 100, 0}, 200 / 101.0, {0, 100, 0, 0, 0, 0, 0, 1});
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
  for (std::string const part : {"run", "stream", "info", "convert", "Exit codes: 0 done;"})
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

  for (std::string const bad : {"k5.json", "out.graph.gz", "out.csv", "out"})
    expect_refused(2, "not written; written are .mtx", {"convert", path("missing.graph"), path(bad)});
  expect_refused(2, "vertices without edges, such as 6", {"convert", k5_file, path("k5.txt")});
  expect_refused(3, "expected the banner", {"convert", "--format", "mtx", k5_file, path("none.mtx")});
  expect_refused(4, "cannot write the graph", {"convert", k5_file, path("no/k5.mtx")});
  expect_refused(2, "--weight-seed", {"convert", k5_file, path("none.mtx"), "--weight-seed", "3"});
  expect_refused(2, "--vertex-base", {"convert", k5_file, path("none.mtx"), "--vertex-base", "-1"});
  expect_refused(2, "two finite numbers", {"convert", k5_file, path("none.mtx"), "--random-weights", "3", "2"});
  expect_refused(2, "OUT", {"convert", k5_file});
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
  refused("colouring", {"--algorithms", "pagerank,colouring"});
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

// Compares with reference values from SciPy and igraph.
TEST_F(program_test, agrees_with_reference_values_of_real_graphs) {
  auto const data = data_folder();
  std::size_t graphs = 0;
  for (truth_row const& want : read_truth(data)) {
    SCOPED_TRACE(want.file);
    std::filesystem::path const file = data / want.file;
    if (!std::filesystem::exists(file)) continue;
    ++graphs;
    report const r = run(file.string(), {"--undirected", "--batch", "1000", "--rounds", "2"});
    expect_graph(r, false, want.vertices, want.undirected_edges, 2 * want.undirected_edges);
    EXPECT_EQ(r.count("graph/degrees/max"), want.max_degree_undirected);
    EXPECT_EQ(r.count("updates/insert/batches"), 2u);
    EXPECT_EQ(r.count("updates/insert/inserted"), r.count("updates/erase/erased"));
    expect_triangles(r, want.triangles);
    // The reference value of PageRank is that of the directed graph if the file is directed.
    report const as_the_file =
        run(file.string(), {want.directed ? "--directed" : "--undirected", "--batch", "1000", "--rounds", "2"});
    EXPECT_EQ(as_the_file.count("graph/arcs"), want.arcs_simple);
    expect_pagerank(as_the_file, want.pagerank_max, want.pagerank_argmax, want.pagerank_l2, 1e-6 * want.pagerank_max);
  }
  EXPECT_GT(graphs, 0u) << "no graph of TRUTH.tsv is in " << data;
}

}  // namespace

}  // namespace wyrm::tests
