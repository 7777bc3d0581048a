// SPDX-License-Identifier: Apache-2.0
// Independent sets and colourings on the CPU, and with tiles of fibers; and those of real graphs.
#include "../support/real_graphs.hpp"
#include "../support/simt_space.hpp"
#include "vertex_sets_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, vertex_sets_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, vertex_sets_test, testing::Types<simt_space>);
#endif

TEST(vertex_sets, of_real_graphs) {
  for_each_undirected_graph([](graph::any_graph const& g, truth_row const& row) {
    graph::csr const rows = g.to_csr();
    EXPECT_EQ(fault_of_independent_set(rows, algorithms::independent_set(g).member), "");
    auto const colours = algorithms::colouring(g);
    EXPECT_EQ(fault_of_colouring(rows, colours.colour), "");
    EXPECT_LE(colours.colours, row.max_degree_undirected + 1);
  });
}

}  // namespace wyrm::tests
