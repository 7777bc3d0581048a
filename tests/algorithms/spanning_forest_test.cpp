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

TEST(spanning_forest, of_real_graphs) {
  for_each_undirected_graph([](graph::any_graph const& g, truth_row const& row) {
    auto const got = algorithms::spanning_forest(g);
    EXPECT_EQ(got.trees, row.weak_components);
    EXPECT_EQ(got.edges, serial_spanning_forest(g.to_csr(), std::vector<double>()));
  });
}

}  // namespace wyrm::tests
