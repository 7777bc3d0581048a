// SPDX-License-Identifier: Apache-2.0
// Hubs and authorities, Katz and eigenvector centrality on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "power_iterations_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, power_iterations_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, power_iterations_test, testing::Types<simt_space>);
#endif

TEST(power_iterations, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 3, {.directed = true});
  g.insert({{0, 1}});
  EXPECT_EQ(algorithms::hits(g).hubs, (std::vector<double>{1, 0, 0}));
  algorithms::katz_options o;
  o.normalised = false;
  EXPECT_EQ(algorithms::katz(g, o).value, (std::vector<double>{1, 1.1, 1}));
  graph::any_graph edge(exec::make_space("cpu"), alloc::default_name, 2);
  edge.insert({{0, 1}});
  auto const vector = algorithms::eigenvector_centrality(edge);
  EXPECT_DOUBLE_EQ(vector.value[0] * vector.value[1], 0.5);
}

}  // namespace wyrm::tests
