// SPDX-License-Identifier: Apache-2.0
// Tests `wyrm run`: its JSON report of the graph, the updates and the algorithms. Expected values are literals, closed
// forms, a model of the updates (graphs.hpp), and reference values of real graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../../datasets/updates.hpp"
#include "../support/truth.hpp"
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
