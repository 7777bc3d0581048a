// SPDX-License-Identifier: Apache-2.0
// Label propagation on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "label_propagation_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, label_propagation_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, label_propagation_test, testing::Types<simt_space>);
#endif

TEST(label_propagation, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 4);
  g.insert({{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  EXPECT_EQ(algorithms::label_propagation(g, {.iterations = 1}), (std::vector<graph::vertex_id>{1, 0, 0, 2}));
}

}  // namespace wyrm::tests
