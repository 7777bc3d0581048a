// SPDX-License-Identifier: Apache-2.0
// Communities that are maintained by label propagation on the CPU, and with tiles of fibers; and those of a graph whose
// space is chosen at run time.
#include "../support/simt_space.hpp"
#include "incremental_label_propagation_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, incremental_labels_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, incremental_labels_test, testing::Types<simt_space>);
#endif

TEST(incremental_labels, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 8, {.directed = false});
  g.insert({{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {2, 3}, {5, 6}});
  auto const labels = algorithms::maintain_label_propagation(g);
  auto const few = algorithms::maintain_label_propagation(g, {.max_rounds = 1});
  g.attach(*labels);
  EXPECT_EQ(fault_of_labels(g.to_csr(), false, labels->label()), "");
  EXPECT_TRUE(labels->converged());
  EXPECT_EQ(few->rounds(), 1u);
  EXPECT_FALSE(few->converged());
  g.erase({{2, 3}});
  EXPECT_EQ(fault_of_labels(g.to_csr(), false, labels->label()), "");
}

}  // namespace wyrm::tests
