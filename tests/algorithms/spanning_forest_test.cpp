// SPDX-License-Identifier: Apache-2.0
// Minimum spanning forests on the CPU, and with tiles of fibers; and those of real graphs.
#include "../support/real_graphs.hpp"
#include "../support/simt_space.hpp"
#include "spanning_forest_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, spanning_forest_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, spanning_forest_test, testing::Types<simt_space>);
#endif

#if WYRM_TEST_HOST
class spanning_forest_of_threads : public spanning_forest_test<exec::host_space> {};

TEST_F(spanning_forest_of_threads, is_that_of_one) {
  std::mt19937 random(seeded(7));
  for (std::size_t const edges_of_vertex : {1u, 6u, 40u}) {
    std::size_t const n = sized(3000, 300);
    edges const all = random_edges(random, n, edges_of_vertex * n);
    std::vector<float> weights(all.size());
    for (float& w : weights) w = static_cast<float>(random() % 100) / 8 - 5;
    graph::any_graph without = make(n, all);
    graph::any_graph with = weighted(n, all, weights);
    for (graph::any_graph* const g : {&without, &with})
      g->remove_vertices({0, 5, static_cast<graph::vertex_id>(n - 1)});
    for (graph::any_graph const* const g : {&without, &with}) {
      std::vector<float> const of_arcs = g == &with ? with.values<float>() : std::vector<float>();
      edges const want = serial_spanning_forest(g->to_csr(), of_arcs);
      for (unsigned const threads : {1u, 2u, 3u, 7u, 8u, 9u}) {
        SCOPED_TRACE(threads);
        auto const got = algorithms::spanning_forest(exec::host_space(threads), g->view());
        EXPECT_EQ(got.edges, want);
        EXPECT_EQ(got.weights, weights_of(want, g->to_csr(), of_arcs));
        EXPECT_EQ(got.trees, n - 3 - want.size());
      }
    }
  }
}
#endif

TEST(spanning_forest, of_real_graphs) {
  for_each_undirected_graph([](graph::any_graph const& g, truth_row const& row) {
    auto const got = algorithms::spanning_forest(g);
    EXPECT_EQ(got.trees, row.weak_components);
    EXPECT_EQ(got.edges, serial_spanning_forest(g.to_csr(), std::vector<double>()));
  });
}

}  // namespace wyrm::tests
