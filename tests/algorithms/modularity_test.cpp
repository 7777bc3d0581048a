// SPDX-License-Identifier: Apache-2.0
// The modularity of Louvain and Leiden on real graphs (WYRM_DATA), compared with Louvain of NetworkX, and on generated
// graphs with known communities.
#include <gtest/gtest.h>

#include <filesystem>

#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/leiden.hpp"
#include "../../algorithms/louvain.hpp"
#include "../../alloc/registry.hpp"
#include "../../datasets/communities.hpp"
#include "../../graph/any_graph.hpp"
#include "../../loaders/loaders.hpp"
#include "../support/truth.hpp"

namespace wyrm::tests {

// The values are the largest of three seeds of louvain_communities() of NetworkX 3.6.1.
TEST(modularity, of_real_graphs) {
  struct {
    char const* file;
    double networkx;
  } const graphs[] = {{"karate.graph", 0.4188},
                      {"jazz.graph", 0.4412},
                      {"celegans_metabolic.graph", 0.4359},
                      {"PGPgiantcompo.graph", 0.8830}};
  for (auto const& [file, networkx] : graphs) {
    if (!std::filesystem::exists(data_folder() / file))
      GTEST_SKIP() << "WYRM_DATA does not name a folder with " << file;
    SCOPED_TRACE(file);
    loaders::options undirected;
    undirected.directed = false;
    auto const g =
        graph::build(exec::host_space(1), alloc::default_name, loaders::load(data_folder() / file, undirected));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      double const louvain = algorithms::louvain(g, {.seed = seed}).modularity;
      EXPECT_GE(louvain, networkx - 0.005) << seed;
      EXPECT_GE(algorithms::leiden(g, {.seed = seed}).modularity, louvain - 0.002) << seed;
    }
  }
}

TEST(modularity, of_planted_communities) {
  for (auto const& made :
       {datasets::lfr({.vertices = 3000}),
        datasets::planted_partition({.vertices = 2000, .groups = 20, .inside = 0.2, .outside = 0.002})}) {
    auto const g = graph::build(exec::host_space(1), alloc::default_name, made.list);
    double const planted = algorithms::quality(g, made.labels).modularity;
    auto const louvain = algorithms::louvain(g);
    auto const leiden = algorithms::leiden(g);
    EXPECT_GE(louvain.modularity, planted - 0.005);
    EXPECT_GE(leiden.modularity, louvain.modularity - 0.002);
    EXPECT_GE(algorithms::normalized_mutual_information(leiden.label, made.labels), 0.95);
  }
}

}  // namespace wyrm::tests
