// SPDX-License-Identifier: Apache-2.0
// Real graphs, from the file to PageRank, triangles and components, compared with published values, and to BFS and core
// numbers, compared with the serial verifiers: on the CPU, and on the GPU if there is one. See
// support/truth.hpp for the folder of the graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "../../algorithms/bfs.hpp"
#include "../../algorithms/components.hpp"
#include "../../algorithms/core_numbers.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/triangles.hpp"
#include "../../alloc/registry.hpp"
#include "../../datasets/updates.hpp"
#include "../../graph/any_graph.hpp"
#include "../../loaders/loaders.hpp"
#include "../support/truth.hpp"
#include "../support/verify.hpp"

namespace wyrm::tests {

namespace {

void expect_truth(graph::any_graph const& g, truth_row const& want) {
  EXPECT_EQ(g.vertices(), want.vertices);
  EXPECT_EQ(g.arcs(), want.arcs_simple);
  if (!g.settings().directed) {
    EXPECT_EQ(g.edges(), want.undirected_edges);
    EXPECT_EQ(algorithms::triangles(g).total, want.triangles);
  }
  EXPECT_EQ(algorithms::components(g).count, want.weak_components);
  auto const got = algorithms::pagerank(g);
  EXPECT_TRUE(got.converged);
  auto const largest = std::max_element(got.rank.begin(), got.rank.end());
  EXPECT_EQ(static_cast<std::uint64_t>(largest - got.rank.begin()), want.pagerank_argmax);
  EXPECT_NEAR(*largest / want.pagerank_max, 1.0, 1e-6);
  double const squares = std::inner_product(got.rank.begin(), got.rank.end(), got.rank.begin(), 0.0);
  EXPECT_NEAR(std::sqrt(squares) / want.pagerank_l2, 1.0, 1e-6);
}

// Results without published values.
void expect_verified(graph::any_graph const& g) {
  graph::csr const rows = g.to_csr();
  EXPECT_EQ(algorithms::components(g).label, serial_components(rows));
  std::vector<graph::vertex_id> const sources{0, g.vertices() / 2};
  EXPECT_EQ(algorithms::bfs(g, sources).distance, serial_distances(rows, sources));
  if (g.settings().directed) return;
  EXPECT_EQ(algorithms::core_numbers(g).core, serial_core_numbers(rows));
}

class truth_test : public testing::TestWithParam<std::string> {};

TEST_P(truth_test, holds_before_and_after_updates) {
  auto const folder = data_folder();
  if (GetParam() == "cuda" && std::holds_alternative<exec::host_space>(exec::make_space("auto")))
    GTEST_SKIP() << "this machine has no CUDA device";
  exec::any_space const space = exec::make_space(GetParam());
  std::size_t graphs = 0;
  for (truth_row const& row : read_truth(folder)) {
    SCOPED_TRACE(row.file);
    std::filesystem::path const file = folder / row.file;
    if (!std::filesystem::exists(file) || (file.extension() != ".graph" && file.extension() != ".mtx")) continue;
    ++graphs;
    graph::any_graph g = graph::build(space, alloc::default_name, loaders::load(file));
    expect_truth(g, row);
    expect_verified(g);

    graph::csr const before = g.to_csr();
    auto batch = datasets::update_batch(datasets::update_kind::random, g.vertices(), 20000, graphs);
    auto const components = algorithms::maintain_components(g);
    g.attach(*components);
    g.insert(batch);
    EXPECT_NE(g.to_csr(), before);
    EXPECT_EQ(components->label(), algorithms::components(g).label);
    std::erase_if(batch, [&](graph::edge e) {
      auto const begin = before.targets.begin() + static_cast<std::ptrdiff_t>(before.offsets[e.source]);
      auto const end = before.targets.begin() + static_cast<std::ptrdiff_t>(before.offsets[e.source + 1]);
      return std::binary_search(begin, end, e.target);
    });
    g.erase(batch);
    EXPECT_EQ(components->count(), row.weak_components);
    EXPECT_EQ(g.to_csr(), before);
    g.check();
    expect_truth(g, row);
  }
  EXPECT_GT(graphs, 0u) << "no graph of TRUTH.tsv is in " << folder;
}

INSTANTIATE_TEST_SUITE_P(real_graphs, truth_test, testing::Values("cpu", "cuda"),
                         [](auto const& tested) { return tested.param; });

}  // namespace

}  // namespace wyrm::tests
