// SPDX-License-Identifier: Apache-2.0
// Trussness on the CPU, and with tiles of fibers.
#include <filesystem>
#include <string>
#include <variant>

#include "../../loaders/loaders.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "truss_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, truss_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, truss_test, testing::Types<simt_space>);
#endif

TEST(truss, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 4);
  g.insert({{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  EXPECT_EQ(algorithms::trussness(g).trussness, (std::vector<std::uint32_t>{3, 3, 3, 3, 3, 3, 2, 2}));
  EXPECT_EQ(algorithms::k_truss(g, 3), (std::vector<graph::edge>{{0, 1}, {0, 2}, {1, 2}}));
}

// The numbers of edges are those of k_truss of NetworkX, which finds no edges for the next larger k.
TEST(truss, of_real_graphs) {
  struct known {
    std::string file;
    std::uint32_t largest;
    std::size_t edges_of_largest, edges_of_4, edges_of_10;
  };
  std::size_t graphs = 0;
  for (known const& want :
       {known{"facebook_combined.txt", 97, 8987, 87291, 74767}, known{"ca-HepTh.txt", 32, 496, 14811, 1198},
        known{"ca-CondMat.txt", 26, 325, 78055, 18440}}) {
    auto const file = data_folder() / want.file;
    if (!std::filesystem::exists(file)) continue;
    SCOPED_TRACE(want.file);
    ++graphs;
    loaders::options undirected;
    undirected.directed = false;
    undirected.remove_self_loops = true;
    exec::any_space const space = exec::make_space("cpu");
    auto const g = graph::build(space, alloc::default_name, loaders::load(file, undirected));
    algorithms::truss_decomposer<exec::host_space> decomposer(std::get<exec::host_space>(space));
    EXPECT_EQ(decomposer.run(g.view()), want.largest);
    EXPECT_EQ(decomposer.truss(want.largest).size(), want.edges_of_largest);
    EXPECT_EQ(decomposer.truss(4).size(), want.edges_of_4);
    EXPECT_EQ(decomposer.truss(10).size(), want.edges_of_10);
    EXPECT_EQ(decomposer.truss(2).size(), g.edges());
  }
  if (graphs == 0) GTEST_SKIP() << "WYRM_DATA does not name a folder with these graphs";
}

}  // namespace wyrm::tests
