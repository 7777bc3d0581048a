// SPDX-License-Identifier: Apache-2.0
// Clustering coefficients and similarities on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "neighbourhoods_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, neighbourhoods_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, neighbourhoods_test, testing::Types<simt_space>);
#endif

TEST(neighbourhoods, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 4);
  g.insert({{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  EXPECT_EQ(algorithms::clustering_coefficients(g).local, (std::vector<double>{1, 1, 1.0 / 3, 0}));
  EXPECT_EQ(algorithms::similarity(g, std::vector<graph::edge>{{0, 1}}), std::vector<double>{1.0 / 3});
  EXPECT_EQ(algorithms::similar_pairs(g).pairs, (std::vector<graph::edge>{{0, 3}, {1, 3}}));
}

}  // namespace wyrm::tests
