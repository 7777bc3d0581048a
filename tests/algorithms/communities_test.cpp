// SPDX-License-Identifier: Apache-2.0
// The quality of clusterings of real graphs, compared with Walktrap and Leiden of igraph (COMMUNITIES.tsv in the folder
// that the environment variable WYRM_DATA names), and with known classes: on the CPU, and on the GPU if there is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../../algorithms/clustering.hpp"
#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../alloc/registry.hpp"
#include "../../graph/any_graph.hpp"
#include "../../loaders/loaders.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "../support/truth.hpp"
#include "../support/verify.hpp"

namespace wyrm::tests {

namespace {

/// The modularity that other methods reach; empty if they were not run.
struct communities_row {
  std::string file;
  std::optional<double> walktrap;
  std::optional<double> leiden;
};

std::vector<communities_row> read_communities(std::filesystem::path const& folder) {
  std::ifstream table(folder / "COMMUNITIES.tsv");
  std::vector<communities_row> rows;
  std::string line;
  std::getline(table, line);
  EXPECT_TRUE(
      line.starts_with("file\tmodularity_walktrap4\tclusters_walktrap4\tmodularity_label_propagation\t"
                       "modularity_leiden\t"))
      << "COMMUNITIES.tsv has unexpected columns: " << line;
  while (std::getline(table, line)) {
    std::istringstream cells(line);
    std::string file, walktrap, skipped, leiden;
    cells >> file >> walktrap >> skipped >> skipped >> leiden;
    auto const value = [](std::string const& cell) {
      return cell == "-" ? std::nullopt : std::optional(std::stod(cell));
    };
    rows.push_back({file, value(walktrap), value(leiden)});
  }
  return rows;
}

class communities_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data_folder() / "COMMUNITIES.tsv"))
      GTEST_SKIP() << "WYRM_DATA does not name a folder with COMMUNITIES.tsv";
    if (GetParam() == "cuda" && std::holds_alternative<exec::host_space>(exec::make_space("auto")))
      GTEST_SKIP() << "this machine has no CUDA device";
  }
  static graph::any_graph load(std::string const& file) {
    loaders::options undirected;
    undirected.directed = false;
    // One thread: these graphs are small, and waiting for another thread would take longer than its work.
    exec::any_space const space = GetParam() == "cpu" ? exec::host_space(1) : exec::make_space(GetParam());
    return graph::build(space, alloc::default_name, loaders::load(data_folder() / file, undirected));
  }
  /// The median of f(result) over five seeds, with default options.
  template <class F>
  static double median(graph::any_graph const& g, F const& f) {
    std::vector<double> values;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) values.push_back(f(algorithms::clustering(g, {.seed = seed})));
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
};

TEST_P(communities_test, modularity_compared_with_other_methods) {
  std::size_t graphs = 0;
  for (communities_row const& row : read_communities(data_folder())) {
    if (!row.walktrap || !std::filesystem::exists(data_folder() / row.file)) continue;
    SCOPED_TRACE(row.file);
    auto const g = load(row.file);
    if (g.arcs() > scaled(2'000'000)) continue;
    ++graphs;
    graph::csr const rows = g.to_csr();
    double const got = median(g, [&](algorithms::clustering_result const& r) {
      EXPECT_NEAR(r.modularity, serial_modularity(rows, {}, r.label), 1e-9);
      EXPECT_TRUE(r.converged);
      return r.modularity;
    });
    EXPECT_GE(got, *row.walktrap);
    EXPECT_GE(got, 0.97 * *row.leiden);
  }
  EXPECT_GT(graphs, 0u) << "no graph of COMMUNITIES.tsv is in " << data_folder();
}

TEST_P(communities_test, classes_are_found) {
  if (!std::filesystem::exists(data_folder() / "email-Eu-core.labels.txt")) GTEST_SKIP() << "the classes are missing";
  auto const g = load("email-Eu-core.txt");
  std::vector<std::uint32_t> classes(g.vertices());
  std::ifstream in(data_folder() / "email-Eu-core.labels.txt");
  for (std::uint32_t v = 0, c = 0; in >> v >> c;) classes.at(v) = c;
  EXPECT_GE(median(g,
                   [&](algorithms::clustering_result const& r) {
                     return algorithms::normalized_mutual_information(r.label, classes);
                   }),
            0.5);
}

TEST_P(communities_test, maintained_through_batches) {
  for (std::string const file : {"power.graph", "email-Eu-core.txt"}) {
    if (!std::filesystem::exists(data_folder() / file)) continue;
    SCOPED_TRACE(file);
    auto g = load(file);
    auto const maintained = algorithms::maintain_clustering(g);
    g.attach(*maintained);
    graph::csr const rows = g.to_csr();
    std::mt19937 random(seeded(1));
    std::size_t const batches = scaled(15, 3);
    for (std::size_t b = 0; b < batches; ++b) {
      // A hundredth of the edges: some drawn at random, some that are, or were, in the graph.
      std::vector<graph::edge> batch;
      for (std::size_t i = 0; i < rows.targets.size() / 200; ++i) {
        auto const u = static_cast<graph::vertex_id>(random() % g.vertices());
        std::uint64_t const degree = rows.offsets[u + 1] - rows.offsets[u];
        if (b % 3 == 0 || degree == 0)
          batch.push_back({u, static_cast<graph::vertex_id>(random() % g.vertices())});
        else
          batch.push_back({u, rows.targets[rows.offsets[u] + random() % degree]});
      }
      if (b % 3 == 1)
        g.erase(batch);
      else
        g.insert(batch);
      EXPECT_GE(maintained->modularity(), 0.99 * algorithms::clustering(g).modularity) << "batch " << b;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(real_graphs, communities_test, testing::Values("cpu", "cuda"),
                         [](auto const& tested) { return tested.param; });

}  // namespace

}  // namespace wyrm::tests
